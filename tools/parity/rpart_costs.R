# Trees of rpart with priors and losses for every CSV of a folder, as JSON.
#
#     Rscript rpart_costs.R FOLDER
#
# Reads each FOLDER/NAME.csv (columns of numbers and words, then one named "class") and writes
# FOLDER/rpart_costs.json. Trees are grown by the Gini index, which rpart alters by priors and
# losses, without pruning (cp = -1). Only rpart is needed: JSON is written by hand.

suppressPackageStartupMessages(library(rpart))

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

# --- What is asked of rpart ---------------------------------------------------

# Every class twice as likely as the one before.
skewed <- function(K) 2^(seq_len(K) - 1) / sum(2^(seq_len(K) - 1))

# Rows are true classes, columns are what is said: to miss the last class costs five times as much.
losses <- function(K) {
  L <- 1 - diag(K)
  L[K, ] <- 5 * L[K, ]
  L[1L, 2L] <- 2
  L
}

cases <- function(K) {
  list(
    neither = list(),
    equal = list(prior = rep(1 / K, K)),
    skewed = list(prior = skewed(K)),
    loss = list(loss = losses(K)),
    both = list(prior = skewed(K), loss = losses(K))
  )
}

# `splits`: of each inner node how many rows it has and which column it asks, by rows in order.
# `leaf`: the number of each row's leaf. `class`: what is said of each row, from 0.
fit_of <- function(frame, asked) {
  control <- rpart.control(
    minsplit = 2L, minbucket = 5L, cp = -1, maxdepth = 3L, xval = 0L,
    maxcompete = 0L, maxsurrogate = 0L
  )
  fit <- rpart(class ~ ., frame, method = "class", parms = c(asked, list(split = "gini")),
               control = control)
  inner <- fit$frame$var != "<leaf>"
  order_of <- order(-fit$frame$n[inner], as.character(fit$frame$var[inner]), method = "radix")
  object_of(list(
    n = vector_of(fit$frame$n[inner][order_of]),
    columns = strings_of(as.character(fit$frame$var[inner])[order_of]),
    leaf = vector_of(fit$where),
    class = vector_of(as.integer(predict(fit, type = "class")) - 1L),
    shares = matrix_of(unique(cbind(fit$where, predict(fit, type = "prob")))[, -1L]),
    leaves = vector_of(unique(fit$where))
  ))
}

table_of <- function(file) {
  frame <- read.csv(file, stringsAsFactors = TRUE, check.names = FALSE)
  frame$class <- factor(frame$class, levels = sort(unique(as.character(frame$class)), method = "radix"))
  K <- nlevels(frame$class)
  object_of(list(
    classes = strings_of(levels(frame$class)),
    priors = vector_of(skewed(K)),
    loss = matrix_of(losses(K)),
    fits = object_of(lapply(cases(K), function(asked) fit_of(frame, asked)))
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
    rpart = encodeString(packageDescription("rpart")$Version, quote = "\"")
  )),
  tables = object_of(lapply(files, table_of))
)), file.path(folder, "rpart_costs.json"))
