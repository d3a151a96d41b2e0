# Somebody else's program: recomputes the shares of estimates.csv from reports.csv, written from docs/verifying.md.
# Rscript outsider.R FOLDER, with both files in it. Base R.
folder <- commandArgs(TRUE)[1]
read <- function(name) read.csv(file.path(folder, name), colClasses = "character", check.names = FALSE)
reports <- read("reports.csv")
estimates <- read("estimates.csv")
shares <- estimates[estimates$statistic == "share" & estimates$a != "" & estimates$cohort == "", ]
number <- function(name) as.numeric(shares[[name]])

p_value <- function(share, count, n, a, b) {  # of the exact test ordered by likelihood ratio
  k <- 0:n
  at <- dbinom(k, n, b + (a - b) * share, log = TRUE)
  best <- dbinom(k, n, pmin(pmax(k / n, min(a, b)), max(a, b)), log = TRUE)
  sum(exp(at[at - best <= at[count + 1] - best[count + 1] + 1e-9]))
}
within <- function(shares) shares[shares >= 0 & shares <= 1]
accepted <- function(shares, ...) any(vapply(within(shares), p_value, 0, ...) > 0.05)

options <- ave(seq_len(nrow(shares)), shares$question, FUN = seq_along)  # the first option is 1
for (i in seq_len(nrow(shares))) {
  values <- reports[[shares$question[i]]]
  values <- values[values != ""]
  option <- options[i]
  is_set <- substr(values[1], 1, 1) == "b"
  # A set has a character for each option behind a b; other reports are the number of an option, counted from 0.
  count <- if (is_set) sum(substr(values, 1 + option, 1 + option) == "1") else sum(as.integer(values) == option - 1)
  n <- length(values)
  a <- number("a")[i]
  b <- number("b")[i]
  p <- count / n
  stopifnot(n == number("n")[i], count == number("count")[i])
  stopifnot(abs((p - b) / (a - b) - number("estimate")[i]) < 1e-9)
  stopifnot(abs(sqrt(p * (1 - p) / n) / abs(a - b) - number("std_error")[i]) < 1e-9)
  for (side in c(-1, 1)) {
    end <- if (side < 0) number("conf_low")[i] else number("conf_high")[i]
    steps <- c(0.2, 0.5, 1, 2) / 1000
    stopifnot(accepted(c(end, end - side * steps), count, n, a, b))
    stopifnot(!accepted(end + side * steps[-1], count, n, a, b))
  }
}
cat(nrow(shares), "estimates recomputed\n")
