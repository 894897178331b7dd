# What R says of discriminants' classical statistics for every CSV of a folder, as JSON.
#
#     Rscript statistics.R FOLDER
#
# Reads each FOLDER/NAME.csv (columns of numbers, then one named "class") and writes
# FOLDER/statistics.json. Wilks' test is summary.manova's; MASS::lda gives the raw coefficients, of
# which the standardized ones, the structure and the centroids follow in a line each; Box's M and
# Mardia's statistics are written out from their definitions (the latter over all pairs of rows).
# JSON is written by hand, numbers with 17 significant digits.

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

# --- What is asked ------------------------------------------------------------

wilks <- function(x, g) {
  row <- summary(manova(x ~ g), test = "Wilks")$stats[1L, ]
  vector_of(row[c("Wilks", "approx F", "num Df", "den Df", "Pr(>F)")])
}

bartlett <- function(eigenvalues, n, p, g) {
  t(sapply(seq_along(eigenvalues), function(i) {
    statistic <- -(n - 1 - (p + g) / 2) * sum(log(1 / (1 + eigenvalues[i:length(eigenvalues)])))
    df <- (p - i + 1) * (g - i)
    c(prod(1 / (1 + eigenvalues[i:length(eigenvalues)])), statistic, df,
      pchisq(statistic, df, lower.tail = FALSE))
  }))
}

box <- function(parts, p) {
  freedom <- sapply(parts, nrow) - 1
  matrices <- lapply(parts, var)
  pooled <- Reduce(`+`, Map(`*`, freedom, matrices)) / sum(freedom)
  logs <- c(sapply(matrices, function(S) log(det(S))), log(det(pooled)))
  g <- length(parts)
  M <- sum(freedom) * logs[g + 1] - sum(freedom * logs[1:g])
  c1 <- (sum(1 / freedom) - 1 / sum(freedom)) * (2 * p^2 + 3 * p - 1) / (6 * (p + 1) * (g - 1))
  c2 <- (sum(1 / freedom^2) - 1 / sum(freedom)^2) * (p - 1) * (p + 2) / (6 * (g - 1))
  df1 <- p * (p + 1) * (g - 1) / 2
  df2 <- (df1 + 2) / abs(c2 - c1^2)
  if (c2 > c1^2) {
    value <- M * (1 - c1 - df1 / df2) / df1
  } else {
    b <- df2 / (1 - c1 + 2 / df2)
    value <- df2 * M / (df1 * (b - M))
  }
  object_of(list(
    log_determinants = vector_of(logs),
    chi_squared = vector_of(c(M, M * (1 - c1), df1,
                              pchisq(M * (1 - c1), df1, lower.tail = FALSE))),
    f = vector_of(c(value, df1, df2, pf(value, df1, df2, lower.tail = FALSE)))
  ))
}

mardia <- function(x) {
  n <- nrow(x)
  p <- ncol(x)
  z <- scale(x, scale = FALSE)
  D <- z %*% solve(crossprod(z) / n) %*% t(z)
  skewness <- sum(D^3) / n^2
  kurtosis <- sum(diag(D)^2) / n
  statistic <- n * skewness / 6
  df <- p * (p + 1) * (p + 2) / 6
  deviate <- (kurtosis - p * (p + 2)) / sqrt(8 * p * (p + 2) / n)
  c(skewness, statistic, df, pchisq(statistic, df, lower.tail = FALSE),
    kurtosis, deviate, 2 * pnorm(-abs(deviate)))
}

table_of <- function(file) {
  frame <- read.csv(file, stringsAsFactors = FALSE, check.names = FALSE)
  x <- as.matrix(frame[names(frame) != "class"])
  g <- factor(frame$class, levels = sort(unique(frame$class), method = "radix"))
  n <- nrow(x)
  p <- ncol(x)
  K <- nlevels(g)
  parts <- lapply(levels(g), function(k) x[g == k, , drop = FALSE])
  within <- Reduce(`+`, lapply(parts, function(rows) crossprod(scale(rows, scale = FALSE))))
  pooled <- within / (n - K)
  means <- t(sapply(parts, colMeans))
  fit <- lda(x, g)
  eigenvalues <- fit$svd^2 * (K - 1) / (n - K)
  # directions point from the class that sorts last to the first
  turn <- sign(as.vector((means[1L, ] - means[K, ]) %*% fit$scaling))
  raw <- fit$scaling %*% diag(turn, length(turn))
  deviation <- sqrt(diag(pooled))
  object_of(list(
    columns = strings_of(colnames(x)),
    classes = strings_of(levels(g)),
    eigenvalues = vector_of(eigenvalues),
    correlations = vector_of(sqrt(eigenvalues / (1 + eigenvalues))),
    manova = wilks(x, g),
    wilks = matrix_of(bartlett(eigenvalues, n, p, K)),
    box = box(parts, p),
    standardized = matrix_of(deviation * raw),
    structure = matrix_of((pooled %*% raw) / deviation),
    centroids = matrix_of(sweep(means, 2L, colMeans(x)) %*% raw),
    mardia = matrix_of(t(sapply(parts, mardia)))
  ))
}

# --- Run ----------------------------------------------------------------------

arguments <- commandArgs(trailingOnly = TRUE)
stopifnot(length(arguments) == 1L)
folder <- arguments[1L]
files <- sort(list.files(folder, pattern = "[.]csv$", full.names = TRUE), method = "radix")
names(files) <- sub("[.]csv$", "", basename(files))

writeLines(object_of(list(
  versions = object_of(list(
    R = encodeString(as.character(getRversion()), quote = "\""),
    MASS = encodeString(packageDescription("MASS")$Version, quote = "\"")
  )),
  tables = object_of(lapply(files, table_of))
)), file.path(folder, "statistics.json"))
