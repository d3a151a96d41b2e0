"""A script of R that computes the published estimates from a file of reports."""

from __future__ import annotations

from deniable.access.words import ONE_REPORT
from deniable.survey.document import Survey
from deniable_statistics.archive.script_figures import Scored, Share, left_out, number, scored_of, shares_of

INTERVAL = """\
# The lower end of the interval of a probability between low and high, of which k of n reports are a count.
limit <- function(k, n, low, high, level) {
  if (k <= n * low) return(low)
  loglik <- function(count, p) ifelse(count > 0, count * log(p), 0) + ifelse(count < n, (n - count) * log1p(-p), 0)
  best <- function(count) loglik(count, pmin(pmax(count / n, low), high))
  likely <- min(k / n, high)
  if (n > 10000) {   # the likelihood ratio has its chi-squared distribution
    fall <- function(p) 2 * (best(k) - loglik(k, p)) - qchisq(level, 1)
    low <- max(low, 1e-15)
    return(if (fall(low) <= 0) low else uniroot(fall, c(low, likely), tol = 1e-12)$root)
  }
  # Feldman and Cousins: from a probability of step[c + 1] on, a count of c is as unlikely as k.
  step <- pmin(plogis((best(k) - best(0:(k - 1))) / (k - 0:(k - 1))), likely)
  extreme <- function(p, c) pbinom(k - 1, n, p, lower.tail = FALSE) + pbinom(c, n, p) - (1 - level)
  first <- which(extreme(step, 0:(k - 1)) > 0)[1]
  start <- if (first > 1) step[first - 1] else low
  if (extreme(step[first], first - 2) <= 0) return(step[first])
  if (extreme(start, first - 2) >= 0) return(start)
  uniroot(extreme, c(start, step[first]), c = first - 2, tol = 1e-12)$root
}
interval <- function(count, n, a, b, level = 0.95) {
  low <- min(a, b)
  high <- max(a, b)
  ends <- c(limit(count, n, low, high, level), 1 - limit(n - count, n, 1 - high, 1 - low, level))
  sort(pmin(pmax((ends - b) / (a - b), 0), 1))
}"""
"""The interval of a share: that of Feldman and Cousins up to 10,000 reports, of the restricted likelihood ratio above.

The steps are those of `deniable_statistics.intervals.restricted.feldman_cousins`, which explains why they find the
ends."""

FUNCTIONS = """\
share <- function(question, option, supports, a, b) {
  supports <- supports[!is.na(supports)]
  n <- length(supports)
  p <- if (n > 0) mean(supports) else NA
  ends <- if (n > 0) interval(sum(supports), n, a, b) else c(0, 1)
  data.frame(question = question, option = option, n = n, count = sum(supports),
    estimate = (p - b) / (a - b), std_error = sqrt(p * (1 - p) / n) / abs(a - b),
    conf_low = ends[1], conf_high = ends[2])
}
scored <- function(question, option, values, first, scores) {
  sent <- scores[as.integer(values[!is.na(values)]) - first + 1]
  n <- length(sent)
  data.frame(question = question, option = option, n = n, count = NA,
    estimate = mean(sent), std_error = sqrt(mean((sent - mean(sent))^2) / n), conf_low = NA, conf_high = NA)
}"""


def r_script(survey: Survey, file: str) -> str:
    """A script for base R.

    Parameters
    ----------
    survey : Survey
    file : str
        The CSV of its reports, in the folder where R runs.

    Notes
    -----
    A share is ``(p - b) / (a - b)`` and its standard error ``sqrt(p (1 - p) / n) / |a - b|``, with ``p`` the share of
    the ``n`` reports that support the option, and ``a`` and ``b`` how likely that is if the option is true and if
    another one is. Other shares and means are averages of scores. Where reports have cohorts, the script prints a
    second table, ``by_cohort``.
    """
    rows = [_share(each) for each in shares_of(survey)] + [_scored(each) for each in scored_of(survey)]
    lines = [
        f"# Estimates of the survey {survey.id} from its noisy reports, with standard errors and intervals. Base R.",
        "# a, b: probability that a report supports an option if it is true, and if another one is.",
        f"# n counts reports; {ONE_REPORT[survey.access]}.",
        *(f"# {each}" for each in left_out(survey)),
        # All columns as texts, because R would read 0101 as a number.
        f'reports <- read.csv({_text(file)}, header = FALSE, skip = 1, colClasses = "character", na.strings = "")',
        INTERVAL,
        FUNCTIONS,
        "estimates <- function(reports) rbind(",
        ",\n".join(rows),
        ")",
        "results <- estimates(reports)",
        "print(results, digits = 8)",
    ]
    if survey.cohorts:
        cohorts = ", ".join(map(_text, survey.cohorts))
        lines += [
            f"cohorts <- intersect(c({cohorts}), reports[[2]])",
            "of_cohort <- function(name) cbind(cohort = name, estimates(reports[reports[[2]] %in% name, ]))",
            "by_cohort <- do.call(rbind, lapply(cohorts, of_cohort))",
            "if (length(cohorts)) print(by_cohort, digits = 8)",
        ]
    return "\n".join(lines) + "\n"


def _share(share: Share) -> str:
    chances = ", ".join(map(number, share.support))
    return f"  share({_text(share.question.id)}, {_text(share.option)}, {_supports(share)}, {chances})"


def _scored(each: Scored) -> str:
    scores = ", ".join(map(repr, each.scores))
    about = f"{_text(each.question.id)}, {_text(each.option)}, reports[[{each.column}]]"
    return f"  scored({about}, {each.first}, c({scores}))"


def _supports(share: Share) -> str:
    column = f"reports[[{share.column}]]"
    if share.at is None:
        return f'{column} == "{share.report}"'
    supports = f'substr({column}, {share.at}, {share.at}) == "1"'
    if share.drawn is None:
        return f"ifelse(is.na({column}), NA, {supports})"
    return f'ifelse(substr({column}, {share.drawn}, {share.at}) %in% c(NA, "00"), NA, {supports})'


def _text(text: str) -> str:
    r"""A text as an R string in ASCII, with all other characters escaped.

    >>> print(_text('a "b" \\ ü'))
    "a \"b\" \\ \u00fc"
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if " " <= each <= "~" else _escape(ord(each)) for each in escaped) + '"'


def _escape(point: int) -> str:
    return f"\\u{point:04x}" if point < 2**16 else f"\\U{point:08x}"
