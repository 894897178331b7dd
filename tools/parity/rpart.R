# The table of complexities of rpart for every CSV of a folder, as JSON.
#
#     Rscript rpart.R FOLDER
#
# Reads each FOLDER/NAME.csv (columns of numbers, then "fold" and "class") and writes
# FOLDER/rpart.json. A fold is left out at a time; only numbers are split, so that no level of a
# factor is lost. Only rpart is needed: JSON is written by hand, numbers with 17 significant digits.

suppressPackageStartupMessages(library(rpart))

joined <- function(parts) paste0("[", paste(parts, collapse = ", "), "]")
number <- function(x) {
  stopifnot(all(is.finite(x)))
  sprintf("%.17g", x)
}
vector_of <- function(x) joined(number(as.vector(x)))
object_of <- function(fields) {
  keys <- encodeString(names(fields), quote = "\"")
  paste0("{", paste(keys, fields, sep = ": ", collapse = ",\n"), "}")
}

fit_of <- function(frame, folds, split, minbucket) {
  control <- rpart.control(
    cp = 0, minsplit = 2 * minbucket, minbucket = minbucket, maxcompete = 0, maxsurrogate = 0,
    usesurrogate = 0, maxdepth = 30, xval = folds
  )
  rpart(class ~ ., frame, method = "class", parms = list(split = split), control = control)
}

table_of <- function(file) {
  frame <- read.csv(file, stringsAsFactors = FALSE, check.names = FALSE)
  folds <- frame$fold + 1L
  frame$fold <- NULL
  frame$class <- factor(frame$class, levels = sort(unique(frame$class), method = "radix"))
  fits <- list()
  for (split in c("gini", "information")) {
    for (minbucket in c(1L, 5L)) {
      table <- fit_of(frame, folds, split, minbucket)$cptable
      fits[[paste(split, minbucket)]] <- object_of(list(
        cp = vector_of(table[, "CP"]),
        n_leaves = vector_of(table[, "nsplit"] + 1),
        error = vector_of(table[, "rel error"]),
        cv_error = vector_of(table[, "xerror"]),
        cv_deviation = vector_of(table[, "xstd"])
      ))
    }
  }
  object_of(fits)
}

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
)), file.path(folder, "rpart.json"))
