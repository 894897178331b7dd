# What R says of distances and of nearest neighbors, as JSON.
#
#     Rscript neighbors.R FOLDER
#
# Reads FOLDER/birds.csv (words, numbers and holes) and FOLDER/unequal.csv (columns of numbers, then
# one named "class"), and writes FOLDER/neighbors.json: of each row the distances of its nearest
# other rows by stats::dist, cluster::daisy and stats::mahalanobis, and the votes of class::knn and
# class::knn.cv. JSON is written by hand, numbers with 17 significant digits; -1 stands for a
# neighbor that a row does not have.

suppressPackageStartupMessages({
  library(class)
  library(cluster)
})

# --- JSON ---------------------------------------------------------------------

joined <- function(parts) paste0("[", paste(parts, collapse = ", "), "]")
number <- function(x) {
  stopifnot(all(is.finite(x)))
  sprintf("%.17g", x)
}
vector_of <- function(x) joined(number(as.vector(x)))
matrix_of <- function(x) joined(apply(x, 1L, vector_of))
object_of <- function(fields) {
  keys <- encodeString(names(fields), quote = "\"")
  paste0("{", paste(keys, fields, sep = ": ", collapse = ",\n"), "}")
}

# --- Distances ----------------------------------------------------------------

nearest <- 5L

# Rows have no distance, NA, where they have no column in common.
nearest_of <- function(distances) {
  d <- as.matrix(distances)
  diag(d) <- NA
  matrix_of(t(apply(d, 1L, function(row) {
    found <- sort(row)[seq_len(nearest)]
    ifelse(is.na(found), -1, found)
  })))
}

mahalanobis_of <- function(x) {
  S <- cov(x)
  sqrt(apply(x, 1L, function(center) mahalanobis(x, center, S)))
}

distances_of <- function(birds) {
  x <- as.matrix(birds[sapply(birds, is.numeric)])
  object_of(list(
    euclidean = nearest_of(dist(x)),
    manhattan = nearest_of(dist(x, "manhattan")),
    minkowski = nearest_of(dist(x, "minkowski", p = 3)),
    maximum = nearest_of(dist(x, "maximum")),
    gower = nearest_of(daisy(birds, metric = "gower")),
    mahalanobis = nearest_of(mahalanobis_of(x[complete.cases(x), ]))
  ))
}

# --- Votes --------------------------------------------------------------------

# Of equal votes, knn draws one: only the share of the votes is frozen, and the class where no other
# class has as many, so that no seed changes it; elsewhere -1. Distances that differ by less than
# 1e-4 of the largest are a tie to knn, and all rows in it vote.
votes_of <- function(ask) {
  answers <- lapply(1:20, function(seed) {
    set.seed(seed)
    ask()
  })
  said <- sapply(answers, as.integer)
  sure <- apply(said, 1L, function(row) if (all(row == row[1L])) row[1L] - 1L else -1L)
  object_of(list(class = vector_of(sure), share = vector_of(attr(answers[[1L]], "prob"))))
}

standardized <- function(x) {
  apply(x, 2L, function(v) v / sqrt(mean((v - mean(v))^2)))
}

# Rows of odd number learn, rows of even number are asked.
neighbors_of <- function(x, g) {
  odd <- seq_along(g) %% 2L == 1L
  ks <- c(1L, 3L, 5L, 15L)
  fits <- lapply(ks, function(k) {
    object_of(list(
      asked = votes_of(function() knn(x[odd, ], x[!odd, ], g[odd], k = k, prob = TRUE)),
      left_out = votes_of(function() knn.cv(x, g, k = k, prob = TRUE))
    ))
  })
  object_of(setNames(fits, ks))
}

folder <- commandArgs(trailingOnly = TRUE)[1L]
birds <- read.csv(file.path(folder, "birds.csv"), stringsAsFactors = TRUE)
unequal <- read.csv(file.path(folder, "unequal.csv"), stringsAsFactors = TRUE)
x <- as.matrix(unequal[names(unequal) != "class"])
versions <- object_of(list(
  R = encodeString(as.character(getRversion()), quote = "\""),
  class = encodeString(as.character(packageVersion("class")), quote = "\""),
  cluster = encodeString(as.character(packageVersion("cluster")), quote = "\"")
))
text <- object_of(list(
  versions = versions,
  distances = distances_of(birds),
  votes = object_of(list(
    as_they_are = neighbors_of(x, unequal$class),
    scaled = neighbors_of(standardized(x), unequal$class)
  ))
))
writeLines(text, file.path(folder, "neighbors.json"))
