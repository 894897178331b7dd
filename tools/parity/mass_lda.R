# The numbers of MASS::lda and MASS::qda for every CSV of a folder, as JSON.
#
#     Rscript mass_lda.R FOLDER EVERY
#
# Reads each FOLDER/NAME.csv (columns of numbers, then one named "class") and writes
# FOLDER/mass.json. Per-row numbers are kept for rows 1, 1 + EVERY, 1 + 2 EVERY, ...
# Only MASS is needed: JSON is written by hand, numbers with 17 significant digits.

suppressPackageStartupMessages(library(MASS))

# --- JSON ---------------------------------------------------------------------

joined <- function(parts) paste0("[", paste(parts, collapse = ", "), "]")
number <- function(x) {
  stopifnot(all(is.finite(x)))
  sprintf("%.17g", x)
}
vector_of <- function(x) joined(number(as.vector(x)))
matrix_of <- function(x) joined(apply(x, 1L, vector_of))
strings_of <- function(x) joined(encodeString(x, quote = "\""))
object_of <- function(fields) {
  keys <- encodeString(names(fields), quote = "\"")
  paste0("{", paste(keys, fields, sep = ": ", collapse = ",\n"), "}")
}

# --- What is asked of MASS ----------------------------------------------------

# The sign of a direction is LAPACK's whim: here a column's entry of largest size is positive.
signs <- function(scaling) {
  apply(scaling, 2L, function(a) sign(a[which.max(abs(a))]))
}

# Classes are numbered from 0. max.col, which MASS asks for the class, breaks ties by chance and
# takes posteriors within 1e-5 of each other for a tie: such a row must not be frozen.
outcome <- function(result, g, rows) {
  leading <- apply(result$posterior, 1L, which.max)
  stopifnot(as.integer(result$class) == leading)
  object_of(list(
    posterior = matrix_of(result$posterior[rows, , drop = FALSE]),
    class = vector_of(leading[rows] - 1L),
    errors = number(sum(result$class != g))
  ))
}

linear <- function(x, g, prior, method, rows) {
  fit <- lda(x, g, prior = prior, method = method)
  turn <- diag(signs(fit$scaling), ncol(fit$scaling))
  object_of(list(
    scaling = matrix_of(fit$scaling %*% turn),
    svd = vector_of(fit$svd),
    proportion_of_trace = vector_of(fit$svd^2 / sum(fit$svd^2)),
    predicted = outcome(predict(fit, x), g, rows),
    left_out = outcome(lda(x, g, prior = prior, method = method, CV = TRUE), g, rows)
  ))
}

quadratic <- function(x, g, prior, method, rows) {
  fit <- qda(x, g, prior = prior, method = method)
  object_of(list(
    predicted = outcome(predict(fit, x), g, rows),
    left_out = outcome(qda(x, g, prior = prior, method = method, CV = TRUE), g, rows)
  ))
}

priors_of <- function(g) {
  size <- as.vector(table(g))
  twice <- 2^(seq_along(size) - 1) # every class twice as likely as the one before
  list(
    empirical = size / sum(size),
    equal = rep(1 / length(size), length(size)),
    skewed = twice / sum(twice)
  )
}

table_of <- function(file, every) {
  frame <- read.csv(file, stringsAsFactors = FALSE, check.names = FALSE)
  x <- as.matrix(frame[names(frame) != "class"])
  g <- factor(frame$class, levels = sort(unique(frame$class), method = "radix"))
  rows <- seq(1L, nrow(x), by = every)
  priors <- priors_of(g)
  fits <- function(prior) {
    methods <- c(moment = "moment", mle = "mle")
    object_of(lapply(methods, function(method) {
      object_of(list(
        lda = linear(x, g, prior, method, rows),
        qda = quadratic(x, g, prior, method, rows)
      ))
    }))
  }
  object_of(list(
    columns = strings_of(colnames(x)),
    classes = strings_of(levels(g)),
    counts = vector_of(table(g)),
    means = matrix_of(lda(x, g)$means),
    rows = vector_of(rows - 1L),
    priors = object_of(lapply(priors, vector_of)),
    fits = object_of(lapply(priors, fits))
  ))
}

# --- Run ----------------------------------------------------------------------

arguments <- commandArgs(trailingOnly = TRUE)
stopifnot(length(arguments) == 2L)
folder <- arguments[1L]
every <- as.integer(arguments[2L])
files <- sort(list.files(folder, pattern = "[.]csv$", full.names = TRUE), method = "radix")
names(files) <- sub("[.]csv$", "", basename(files))

writeLines(object_of(list(
  versions = object_of(list(
    R = encodeString(as.character(getRversion()), quote = "\""),
    MASS = encodeString(packageDescription("MASS")$Version, quote = "\"")
  )),
  tables = object_of(lapply(files, table_of, every = every))
)), file.path(folder, "mass.json"))
