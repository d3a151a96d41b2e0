# Regressions whose outcome or predictors are answers that went through noise. Base R (4.0 or later), no package:
#
#   source("regression.R")
#   noisy_regression(cheated ~ stressed + cohort, "reports.csv", "codebook.md")
#
# A variable of the formula that is a question of the codebook is noisy; all others are columns without noise. The
# outcome has two labels (logistic), or more (multinomial, against the first one or `reference`), or is a number without
# noise (least squares, corrected for the noise of the predictors; of 0 and 1 with model = "linear" alone). `reports` is
# a file or a data frame, with codes. anova(smaller, larger) is the likelihood-ratio test of two fits.
#
# Let x and y be the true answers to the noisy predictors and the outcome, and z the terms without noise. A row has
#   P(reports | z) = sum over x and y of P(x | z) P(y | x, z) P(reports | x, y).
# P(y | x, z) is the regression on model.matrix(formula) at x. P(reports | x, y) is in the codebook. P(x | z) is a share
# for each x and z if every z has 100 rows and there are at most 60 such shares, and otherwise a multinomial logit on z.
# `deniable analyze regress --interval wald` fits the same models. It also takes weights, sampling designs and other
# mechanisms, and adds a prior where the likelihood has no maximum; this file stops there.

noisy_regression <- function(formula, reports, codebook = "codebook.md", model = NULL, reference = NULL) {
  study <- read_study(formula, reports, codebook, model)
  fit <- if (study$model == "linear") by_moments(study) else by_likelihood(likelihood_rows(study, reference))
  structure(c(study[c("formula", "noisy", "ordinary", "n", "left_out")], fit), class = "noisy_regression")
}

# ---- The likelihood ----

# All that the likelihood knows of the rows. Those that are alike are taken once, with their number.
likelihood_rows <- function(study, reference = NULL) {
  outcome <- study$questions[[study$outcome]]   # NULL without noise
  labels <- if (is.null(outcome)) levels(factor(study$y)) else outcome$options
  if (length(labels) < 2 || length(labels) > 50)
    refuse(study$outcome, ": must have 2 to 50 labels for a logistic model, got ", length(labels))
  if (!is.null(reference) && !reference %in% labels)
    refuse("reference: must be one of ", toString(labels), ", got ", reference)
  labels <- union(reference, labels)
  cells <- study$cells
  group <- do.call(paste, as.data.frame(study$z))
  alike <- paste(group, do.call(paste, as.data.frame(study$codes)), study$y)
  first <- which(!duplicated(alike))
  # P(reports | x, y): a column for each y; rows for the first x come first, then those for the second, and so on.
  chance <- sapply(labels, function(label) unlist(lapply(seq_len(nrow(cells)), function(cell) {
    truths <- lapply(cells[cell, , drop = FALSE], as.character)
    if (!is.null(outcome)) truths[[study$outcome]] <- label
    probability(study$questions, study$codes[first, , drop = FALSE], truths) *
      (if (is.null(outcome)) study$y[first] %in% label else 1)
  })))
  # The columns of a formula, with the same order of rows.
  design <- function(right) full_rank(do.call(rbind, lapply(seq_len(nrow(cells)), function(cell) {
    data <- study$data
    data[names(cells)] <- cells[rep(cell, nrow(data)), , drop = FALSE]
    frame <- model.frame(right, data, na.action = na.pass)
    frame[] <- lapply(frame, function(each) if (is.logical(each)) factor(each, c(FALSE, TRUE)) else each)
    model.matrix(right, frame)[first, , drop = FALSE]
  })))
  rows <- list(x = design(study$right), design = design, chance = chance, times = tabulate(match(alike, alike[first])))
  c(rows, share_model(study$z[first, , drop = FALSE], match(group, unique(group))[first], rows))
}

# P(x | z) as a multinomial logit on columns z; `free` says which coefficients (z, x) are not those of a reference.
share_model <- function(z, group, rows) {
  answers <- matrix(rowSums(rows$chance), nrow(z))   # P(reports | x) but for a factor, if all y are alike
  count <- ncol(answers)
  if (count == 1) group[] <- 1L   # no noisy predictor: nothing depends on z
  people <- rowsum(rows$times, group)
  saturated <- length(people) == 1 || (length(people) * (count - 1) <= 60 && min(people) >= 100)
  if (saturated) {   # columns that say which group it is; the reference is an x that is common there
    z <- outer(group, seq_along(people), "==") + 0
    reference <- max.col(rowsum(rows$times * answers / rowSums(answers), group), "first")
  } else {
    z <- z %*% orthogonal(z, rows$times)
    reference <- rep(1, ncol(z))
  }
  list(z = z, free = outer(reference, seq_len(count), "!="), saturated = saturated)
}

# The maximum, from several starts. Searches are in columns x %*% unit, which are orthogonal and have mean square 1.
by_likelihood <- function(rows) {
  times <- rows$times
  free <- rows$free
  weight <- rep(times / sum(times), ncol(free))
  unit <- orthogonal(rows$x, weight)
  x <- rows$x %*% unit
  logits <- ncol(rows$chance) - 1
  effects <- seq_len(ncol(x) * logits)   # the parameters of P(y | x, z); those of P(x | z) come after
  softmax <- function(eta) {
    odds <- exp(eta - eta[cbind(seq_len(nrow(eta)), max.col(eta, "first"))])   # numbers up to 1 do not overflow
    odds / rowSums(odds)
  }
  at <- function(b) {
    answer <- softmax(cbind(0, x %*% matrix(b[effects], ncol(x))))      # P(y | x, z)
    share <- softmax(rows$z %*% replace(0 * free, free, b[-effects]))   # P(x | z)
    given <- matrix(rowSums(answer * rows$chance), length(times))       # P(reports | x, z)
    list(answer = answer, share = share, given = given, row = pmax(rowSums(share * given), 1e-300))
  }
  value <- function(b) -sum(times * log(at(b)$row))
  slope <- function(b) with(at(b), -c(
    crossprod(x, c(times * share / row) * answer * (rows$chance - c(given)))[, -1],
    crossprod(rows$z, times * share * (given / row - 1))[free]))
  # What is known at the end of a search, and whether it is a maximum that the data bound.
  maximum <- function(b, last = FALSE) {
    # A share of 0 is at the end of its range. It has no error, and the other errors take it as known.
    inside <- rep(TRUE, length(b))
    if (rows$saturated) inside[-effects] <- softmax(replace(0 * free, free, b[-effects]))[free] > 1e-6
    information <- optimHess(b, value, slope, control = list(ndeps = rep(1e-4, length(b))))
    covariance <- 0 * information
    sound <- all(is.finite(information)) && min(spectrum(information[inside, inside])) > 1e-9 * sum(times)
    if (sound) covariance[inside, inside] <- solve(information[inside, inside])
    step <- -c(covariance %*% slope(b))   # by Newton's method
    if (sound && !last) return(maximum(b + step, last = TRUE))
    # With an error of 10 logits in some direction, the data do not tell a share of 0.00005 from one of 1/2.
    of_logits <- if (rows$saturated) effects else seq_along(b)
    sound <- sound && abs(sum(step * slope(b))) < 1e-6 && max(spectrum(covariance[of_logits, of_logits])) < 100
    list(b = b, covariance = covariance, value = -value(b), sound = sound, ended = sum(!inside))
  }
  climb <- function(start)
    nlminb(start, value, slope, control = list(eval.max = 2000, iter.max = 1000, rel.tol = 1e-15))
  level <- rep(crossprod(x, weight), logits)   # moves all logits of the outcome by 1
  ends <- lapply(c(0, -3, 3), function(by) climb(c(by * level, numeric(sum(free)))))
  b <- ends[[which.min(sapply(ends, `[[`, "objective"))]]$par
  ends <- c(ends, lapply(c(-1, 2), function(by) climb(replace(b, effects, by * b[effects]))))   # often another maximum
  reached <- round(sapply(ends, `[[`, "objective"), 6)
  for (end in ends[order(reached)][!duplicated(sort(reached))]) {
    best <- maximum(end$par)
    if (best$sound) break
  }
  if (!best$sound)
    refuse("likelihood: must have a maximum that the data bound, got none; leave out predictors, or use ",
      "deniable analyze regress, which adds a prior")
  back <- diag(logits) %x% unit
  name <- function(x, label) if (logits == 1) x else paste0(label, ": ", x)
  names <- c(outer(colnames(rows$x), colnames(rows$chance)[-1], name))
  covariance <- back %*% best$covariance[effects, effects] %*% t(back)
  list(coefficients = setNames(c(back %*% best$b[effects]), names), covariance = named(covariance, names),
    log_likelihood = best$value, parameters = length(best$b), ended = best$ended, rows = rows)
}

# P(reports of each row | true answers).
probability <- function(questions, codes, truths) {
  found <- rep(1, nrow(codes))
  for (members in split(names(questions), sapply(questions, `[[`, "unit"))) {
    table <- questions[[members[1]]]$table
    asked <- !is.na(codes[, members, drop = FALSE])
    true <- mapply(function(each, truth) match(truth, each$options), questions[members], truths[members])
    if (length(members) == 1) {
      found <- found * ifelse(asked, table[codes[, members], true], 1)
    } else {
      # One response to d questions: of the k^d patterns of answers the true one has the probability p, any other one q.
      # k^(d - s) of them agree with the reports to s of these questions, which therefore have the probability
      # k^(d - s) q + (p - q) [reports = truths]. Alone, a report that is not true has lie = k^(d - 1) q.
      lie <- table[2, 1]
      equal <- rowSums(codes[, members] != rep(true, each = nrow(codes)), na.rm = TRUE) == 0
      found <- found * (lie * ncol(table)^(1 - rowSums(asked)) + (table[1, 1] - lie) * equal)
    }
  }
  found
}

# ---- Least squares for numbers without noise ----

# Products of noisy numbers are replaced by numbers that are right on average (Fuller 1987, Measurement Error Models).
by_moments <- function(study) {
  factors <- attr(study$right, "factors")
  cells <- study$cells
  for (name in names(cells)) {
    if (!name %in% colnames(factors) || sum(factors[name, ] > 0) > 1 || !attr(study$right, "intercept"))
      refuse("formula: must have an intercept and ", name, " as a term without interactions for least squares; ",
        "deniable analyze regress --likelihood takes them")
  }
  # The score of each x in a row: it is 1 on average if x is true, and 0 if not.
  scores <- matrix(1, study$n, nrow(cells))
  for (name in names(cells)) {
    table <- study$questions[[name]]$table
    scores <- scores * solve(t(table))[study$codes[, name], as.integer(cells[[name]])]
  }
  effects <- do.call(cbind, lapply(names(cells), function(name) {   # which x have each option but the first
    options <- levels(cells[[name]])[-1]
    structure(outer(as.character(cells[[name]]), options, "==") + 0, dimnames = list(NULL, paste0(name, options)))
  }))
  noisy <- scores %*% effects
  x <- cbind(study$z, noisy)
  i <- ncol(study$z) + seq_len(ncol(noisy))
  products <- crossprod(x)
  products[i, i] <- crossprod(effects, colSums(scores) * effects)   # an indicator is its own square, its score is not
  size <- sqrt(abs(diag(products)))
  if (min(spectrum(products / outer(size, size))) <= 1e-9)
    refuse("least squares: must have a solution, got none; there is too much noise for so few rows")
  b <- solve(products, crossprod(x, study$y))
  rest <- x * c(study$y - x %*% b)
  rest[, i] <- rest[, i] + noisy * c(noisy %*% b[i]) - (scores * rep(effects %*% b[i], each = study$n)) %*% effects
  inverse <- solve(products)
  covariance <- study$n / (study$n - 1) * inverse %*% crossprod(rest) %*% inverse   # sandwich
  list(coefficients = b[, 1], covariance = covariance)
}

# ---- Reading reports and codebook ----

read_study <- function(formula, reports, codebook, model) {
  data <- if (is.data.frame(reports)) reports else read_table(reports)
  data[] <- lapply(data, function(column) {
    column <- replace(column, column %in% "", NA)
    if (is.character(column)) factor(column, sort(unique(column), method = "radix")) else column
  })
  if (length(formula) != 3) refuse("formula: must be like cheated ~ stressed + cohort, got ", deparse1(formula))
  described <- read_codebook(codebook)
  left <- all.vars(formula[[2]])
  outcome <- deparse1(formula[[2]], backtick = FALSE)
  predictors <- intersect(all.vars(formula[[3]]), names(described))
  noisy <- c(intersect(outcome, names(described)), predictors)
  ordinary <- setdiff(all.vars(formula), noisy)
  for (name in setdiff(all.vars(formula), names(data)))
    refuse(name, ": must be a column of the reports (", toString(names(data)), ")")
  for (name in intersect(left, predictors)) refuse(name, ": must not be on both sides of the formula")
  for (name in setdiff(intersect(left, names(described)), outcome))
    refuse(name, ": must not be within ", outcome, ", because its reports are not answers; write ", name, " ~ ...")
  if (!length(noisy))
    refuse("formula: must have a question of ", codebook, " (", toString(names(described)), "), got none")
  questions <- sapply(noisy, function(name) read_question(name, described[[name]]), simplify = FALSE)
  codes <- do.call(cbind, lapply(questions, function(each) match(data[[each$name]], each$codes)))   # counted from 1
  for (each in questions) if (any(is.na(codes[, each$name]) & !is.na(data[[each$name]])))
    refuse(each$name, ": must have reports with the codes ", toString(each$codes), "; other codes or labels came")
  y <- if (outcome %in% noisy) rep("", nrow(data)) else eval(formula[[2]], data, environment(formula))
  is_number <- is.numeric(y) && !all(y %in% c(0, 1, NA))
  model <- match.arg(model, c(if (is_number) "linear", "logistic", "linear"))
  if (model == "linear" && !is.numeric(y)) refuse(outcome, ": must be a column of numbers for a linear model")
  check_groups(questions, model)
  # A device asks some questions of a group, by chance. Who was not asked one still tells about the others.
  needed <- model == "linear" | !sapply(questions, `[[`, "is_drawn")
  missing <- rowSums(is.na(codes)[, needed, drop = FALSE]) > 0 | rowSums(!is.na(codes)) == 0 |
    !complete.cases(data[ordinary]) | is.na(y)
  if (all(missing)) refuse("reports: must have a row with all variables of the formula, got none")
  data <- droplevels(data[!missing, , drop = FALSE])
  right <- delete.response(terms(formula))
  z <- full_rank(model.matrix(without_noise(right, predictors), data))
  options <- lapply(questions[predictors], `[[`, "options")
  combinations <- prod(lengths(options))
  if (combinations > 128) refuse("formula: must have at most 128 combinations of true answers, got ", combinations)
  cells <- if (length(predictors)) expand.grid(options) else data.frame(row.names = "none")   # all x
  list(formula = formula, outcome = outcome, right = right, noisy = noisy, ordinary = ordinary, model = model,
    questions = questions, data = data, y = y[!missing], codes = codes[!missing, , drop = FALSE], z = z, cells = cells,
    n = nrow(data), left_out = sum(missing))
}

# The columns of a CSV file. A collector's cohort may be called NA; in other columns that is a gap.
read_table <- function(path) {
  data <- read.csv(path, check.names = FALSE, encoding = "UTF-8", colClasses = "character", na.strings = character())
  for (name in names(data)) {
    gaps <- if (name == "cohort") "" else c("", "NA", "NaN")
    column <- replace(data[[name]], data[[name]] %in% gaps, NA)
    data[[name]] <- type.convert(column, na.strings = character(), as.is = TRUE)
  }
  data
}

check_groups <- function(questions, model) {
  for (members in split(questions, sapply(questions, `[[`, "group"))) if (length(members) > 1) {
    names <- toString(sapply(members, `[[`, "name"))
    draw <- members[[1]]$draw
    is_joint <- members[[1]]$unit == members[[1]]$group
    if (draw < if (model == "linear") length(members) else 2)
      refuse(names, ": must be asked of the same people, but each device asks only ", draw, " of these questions")
    if (is_joint && model == "linear")
      refuse(names, ": must not share one chance for least squares; use deniable analyze regress --likelihood")
    if (is_joint && any(sapply(members, `[[`, "mechanism") == "unequal-k-ary"))
      refuse(names, ": must not be in a group where one question filters another; use deniable analyze regress")
  }
}

# The terms of a formula, each without its noisy factors.
without_noise <- function(right, noisy) {
  if (!is.null(attr(right, "offset"))) refuse("formula: must not have an offset")
  variables <- as.list(attr(right, "variables"))[-1]
  of_noise <- sapply(variables, function(each) mean(all.vars(each) %in% noisy))
  for (each in variables[of_noise > 0 & of_noise < 1]) refuse("formula: must not compute ", deparse1(each),
    " from answers with and without noise; an interaction is written with a colon")
  factors <- as.matrix(attr(right, "factors"))
  terms <- lapply(seq_along(attr(right, "term.labels")), function(term)
    paste(rownames(factors)[factors[, term] > 0 & of_noise == 0], collapse = ":"))
  reformulate(c("1", setdiff(unlist(terms), "")), env = environment(right))
}

# The lines of the codebook about each question that went through noise.
read_codebook <- function(path) {
  lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
  heading <- grepl("^## `.*`$", lines)
  sections <- split(lines, cumsum(heading))[-1]
  names(sections) <- gsub("^## `|`$", "", lines[heading])
  Filter(function(section) any(grepl("^- Mechanism ", section)), sections)
}

# What they say of a question: options, codes, and the probability of each report (row) given each true answer (column).
read_question <- function(name, section) {
  facts <- section[-(1:3)]   # without the heading and the words of the question
  part <- function(pattern) sub(pattern, "\\1", grep(pattern, facts, value = TRUE)[1])
  cells <- function(title) {   # the table of Markdown at or below a line, without its line of dashes
    if (!title %in% facts) return(NULL)
    lines <- facts[seq_along(facts) >= match(title, facts)]
    lines <- lines[cumsum(startsWith(lines, "|")) > 0]
    lines <- gsub("^\\| | \\|$", "", lines[cumsum(!startsWith(lines, "|")) == 0])
    gsub("\\\\(.)", "\\1", do.call(rbind, strsplit(lines, " | ", fixed = TRUE))[-2, ])
  }
  number <- function(text) {   # such as 3/4 or 3782994644/2^32 (0.880797)
    parts <- strsplit(sub("2^32", "4294967296", sub(" .*", "", text), fixed = TRUE), "/")
    sapply(parts, function(each) Reduce(`/`, as.numeric(each)))
  }
  labels <- cells("| code | stands for |")
  whole <- cells("P(report \\| answer)")
  brief <- cells("P(report speaks for the option)")
  table <- NULL
  if (!is.null(whole)) {
    options <- whole[-1, 1]
    reports <- whole[1, -1]
    table <- t(matrix(number(whole[-1, -1]), length(options)))
  } else if (!is.null(brief)) {
    options <- reports <- brief[1, -1]
    table <- matrix(number(brief[2, -1]), length(options), length(options))   # of another option, by report
    diag(table) <- number(brief[3, -1])
  }
  # Where a report may speak for several options, columns do not add up to 1. Numbers with a mean alone have no codes.
  mechanism <- part("^- Mechanism (.*), epsilon.*")
  is_one <- !is.null(table) && nrow(table) == ncol(table) && all(abs(colSums(table) - 1) < 1e-6)
  if (!is_one || (is.null(labels) && mechanism != "k-ary"))
    refuse(name, ": must have a mechanism whose reports are one of the options, got ", mechanism,
      "; use deniable analyze regress")
  start <- as.numeric(part("^- Holds .*integer in \\\\\\[([0-9]+),.*"))
  codes <- if (is.null(labels)) start + seq_along(reports) - 1 else labels[match(reports, labels[, 2]), 1]
  group <- part("^- Of group (.*): each device asks .*")
  draw <- as.numeric(part("^- Of group .*: each device asks ([0-9]+) of .*"))
  size <- as.numeric(part("^- Of group .*: each device asks [0-9]+ of ([0-9]+) .*"))
  is_joint <- any(startsWith(facts, "- One chance goes into all questions of the group"))
  list(name = name, mechanism = mechanism, options = options, codes = codes, table = table, draw = draw,
    is_drawn = isTRUE(draw < size), group = if (is.na(group)) name else group, unit = if (is_joint) group else name)
}

# ---- Tools and methods ----

refuse <- function(...) stop(..., call. = FALSE)
named <- function(matrix, names) structure(matrix, dimnames = list(names, names))
spectrum <- function(matrix) eigen(matrix, symmetric = TRUE, only.values = TRUE)$values
orthogonal <- function(x, weight) solve(qr.R(qr(x * sqrt(weight / sum(weight)))))
full_rank <- function(x) {
  if (!all(is.finite(x))) refuse("formula: must give finite numbers, but does not in some rows")
  if (qr(x)$rank < ncol(x))
    refuse("terms: must be linearly independent, but one of these is a combination of others: ", toString(colnames(x)))
  x
}

vcov.noisy_regression <- function(object, ...) object$covariance

summary.noisy_regression <- function(object, ...) object

logLik.noisy_regression <- function(object, ...) {
  if (is.null(object$rows)) refuse("logLik: must have a fit by maximum likelihood, got least squares")
  structure(object$log_likelihood, df = object$parameters, nobs = object$n, class = "logLik")
}

print.noisy_regression <- function(x, digits = 3, ...) {
  error <- sqrt(diag(x$covariance))
  ends <- x$coefficients + outer(error, c(-1, 1)) * qnorm(0.975)
  p <- 2 * pnorm(-abs(x$coefficients / error))
  table <- round(data.frame(estimate = x$coefficients, error, low = ends[, 1], high = ends[, 2]), digits)
  print(cbind(table, p = ifelse(p < 0.0001, "< 0.0001", sprintf("%.4f", p))))
  labels <- colnames(x$rows$chance)
  if (length(labels) == 2) cat("Log odds of ", labels[2], " against ", labels[1], ". ", sep = "")
  if (length(labels) > 2) cat("Log odds against ", labels[1], ". ", sep = "")
  cat("Noisy: ", toString(x$noisy), ". Without noise: ", if (length(x$ordinary)) toString(x$ordinary) else "nothing",
    ".\n", x$n, " rows", if (x$left_out) paste0(" (", x$left_out, " left out because something is missing)"),
    if (!is.null(x$rows)) sprintf(", log-likelihood %.3f, %d parameters", x$log_likelihood, x$parameters),
    ". 95 % Wald intervals.\n", sep = "")
  if (isTRUE(x$ended > 0))
    cat("Shares of true answers that are 0, and that the errors take as known: ", x$ended, ".\n", sep = "")
  invisible(x)
}

# The smaller model is fitted again to the rows of the larger one, with its model of P(x | z): only then are both
# likelihoods of the same reports.
anova.noisy_regression <- function(object, larger, ...) {
  if (is.null(object$rows) || is.null(larger$rows))
    refuse("anova: must have fits by maximum likelihood, got least squares")
  variables <- all.vars(larger$formula)
  if (object$formula[[2]] != larger$formula[[2]] || !all(all.vars(object$formula) %in% variables))
    refuse("anova: must have the smaller model first, then one with the same outcome and further terms")
  rows <- larger$rows
  rows$x <- rows$design(delete.response(terms(object$formula)))
  df <- ncol(larger$rows$x) - ncol(rows$x)
  if (df < 1 || qr(cbind(larger$rows$x, rows$x))$rank > ncol(larger$rows$x))
    refuse("anova: must have the smaller model first, then one that has all of its terms and more")
  smaller <- by_likelihood(rows)
  df <- df * (ncol(rows$chance) - 1)
  chi_squared <- max(0, 2 * (larger$log_likelihood - smaller$log_likelihood))
  data.frame(log_likelihood = c(smaller$log_likelihood, larger$log_likelihood),
    parameters = c(smaller$parameters, larger$parameters), chi_squared = c(NA, chi_squared), df = c(NA, df),
    p = c(NA, pchisq(chi_squared, df, lower.tail = FALSE)),
    row.names = sapply(list(object$formula, larger$formula), deparse1))
}
