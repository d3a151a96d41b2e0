"""A script of R that computes the published estimates from a file of reports."""

from __future__ import annotations

from deniable.access.words import ONE_REPORT
from deniable.survey.document import Survey
from deniable_statistics.archive.script_figures import Scored, Share, left_out, number, scored_of, shares_of

INTERVAL = """\
interval <- function(count, n, a, b, level = 0.95) {
  k <- 0:n
  best <- dbinom(k, n, pmin(pmax(k / n, min(a, b)), max(a, b)), log = TRUE)
  fits <- function(share) {
    at <- dbinom(k, n, b + (a - b) * share, log = TRUE)
    if (n > 10000) return(2 * (best[count + 1] - at[count + 1]) <= qchisq(level, 1))
    sum(exp(at[at - best <= at[count + 1] - best[count + 1] + 1e-9])) > 1 - level
  }
  range(Filter(fits, c(seq(0, 1, 0.001), min(max((count / n - b) / (a - b), 0), 1))))
}"""
"""The interval of a share by inverting its test on a grid: that of Feldman and Cousins up to 10,000 reports, of the
restricted likelihood ratio above."""

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
    another one is. Other shares and means are averages of scores. The ends of intervals are right to the third digit.
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
        "results <- rbind(",
        ",\n".join(rows),
        ")",
        "print(results, digits = 8)",
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
