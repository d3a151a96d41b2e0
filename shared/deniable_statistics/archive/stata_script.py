"""A do-file of Stata that computes the published estimates from a file of reports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deniable.access.words import ONE_REPORT
from deniable.errors import ParameterError
from deniable.survey.document import Survey
from deniable_statistics.archive.script_figures import Scored, Share, left_out, number, scored_of, shares_of

MATA = """\
foreach name in log ends post {
    capture mata: mata drop deniable_`name'()
}
mata:
real colvector deniable_log(real colvector k, real scalar n, real colvector lam)
{
    real colvector least
    least = J(rows(lam), 1, 1e-300)
    return(k :* ln(rowmax((lam, least))) + (n :- k) :* ln(rowmax((1 :- lam, least))))
}
real rowvector deniable_ends(real scalar count, real scalar n, real scalar a, real scalar b)
{
    real colvector k, best, at, grid, ways
    real scalar i, first, last, fits
    k = (0::n)
    best = rowmin((rowmax((k / n, J(n + 1, 1, min((a, b))))), J(n + 1, 1, max((a, b)))))
    best = deniable_log(k, n, best)
    ways = lnfactorial(n) :- lnfactorial(k) :- lnfactorial(n :- k)
    grid = (0::1000) / 1000 \\ min((max(((count / n - b) / (a - b), 0)), 1))
    first = 1
    last = 0
    for (i = 1; i <= rows(grid); i++) {
        at = deniable_log(k, n, J(n + 1, 1, b + (a - b) * grid[i]))
        if (n > 10000) fits = 2 * (best[count + 1] - at[count + 1]) <= invchi2(1, 0.95)
        else fits = sum(exp(ways + at) :* (at - best :<= at[count + 1] - best[count + 1] + 1e-9)) > 0.05
        if (fits) {
            first = min((first, grid[i]))
            last = max((last, grid[i]))
        }
    }
    return((first, last))
}
void deniable_post(real scalar count, real scalar n, real scalar a, real scalar b)
{
    real rowvector ends
    ends = n > 0 ? deniable_ends(count, n, a, b) : (0, 1)
    st_numscalar("r(low)", ends[1])
    st_numscalar("r(high)", ends[2])
}
end"""
"""The interval of `deniable_statistics.archive.r_script` on a grid of shares: its ends are right to the third digit."""

PROGRAMS = """\
tempname results
tempfile shares
postfile `results' str40 question long option double(n count estimate std_error conf_low conf_high) using "`shares'"
capture program drop deniable_share
program define deniable_share
    args results question option supports a b
    quietly summarize `supports'
    local n = r(N)
    local p = r(mean)
    local count = r(sum)
    mata: deniable_post(`count', `n', `a', `b')
    post `results' ("`question'") (`option') (`n') (`count') ((`p' - `b') / (`a' - `b')) ///
        (sqrt(`p' * (1 - `p') / `n') / abs(`a' - `b')) (r(low)) (r(high))
end
capture program drop deniable_scored
program define deniable_scored
    args results question option scores
    quietly summarize `scores'
    post `results' ("`question'") (`option') (r(N)) (.) (r(mean)) (r(sd) * sqrt((r(N) - 1) / r(N)) / sqrt(r(N))) (.) (.)
end"""


def stata_script(survey: Survey, file: str) -> str:
    """A do-file for Stata 14 or newer; the formulas are those of `deniable_statistics.archive.r_script`.

    Raises
    ------
    ParameterError
        If the name of the file means something to Stata.
    """
    if re.search(r"[\"`$']", file):
        raise ParameterError("scripts: name of the file must hold no quotes and no $, which Stata would read")
    shares, scored = list(shares_of(survey)), list(scored_of(survey))
    lines = [
        f"* Estimates of the survey {survey.id} from its noisy reports, with standard errors and intervals.",
        "* a, b: probability that a report supports an option if it is true, and if another one is.",
        f"* n counts reports; {ONE_REPORT[survey.access]}.",
        *(f"* {each}" for each in left_out(survey)),
        # From 14 on Stata reads UTF-8.
        "version 14",
        MATA,
        f'import delimited using "{file}", varnames(nonames) rowrange(2) stringcols(_all) encoding("utf-8") clear',
        PROGRAMS,
    ]
    for place, share in enumerate(shares, start=1):
        lines += _share(place, share)
    for place, each in enumerate(scored, start=len(shares) + 1):
        lines += _scored(place, each)
    labels = [*(each.option for each in shares), *(each.option or "mean" for each in scored)]
    lines += ["postclose `results'", 'use "`shares\'", clear']
    lines += [f'label define option {place} "{_text(each)}", add' for place, each in enumerate(labels, start=1)]
    lines += [
        "label values option option",
        "format estimate std_error conf_low conf_high %12.0g",
        "list, sepby(question) noobs",
    ]
    return "\n".join(lines) + "\n"


def _share(place: int, share: Share) -> Iterator[str]:
    name = f"v{share.column}"
    asked = f'{name} != ""' if share.drawn is None else f'{name} != "" & substr({name}, {share.drawn}, 2) != "00"'
    supports = f'{name} == "{share.report}"' if share.at is None else f'substr({name}, {share.at}, 1) == "1"'
    a, b = (f"({number(chance)})".replace(" ", "") for chance in share.support)  # a space would end an argument
    yield f"quietly generate byte supports{place} = {supports} if {asked}"
    yield f"deniable_share `results' {share.question.id} {place} supports{place} {a} {b}"


def _scored(place: int, each: Scored) -> Iterator[str]:
    yield f"quietly generate double score{place} = ."
    for report, score in enumerate(each.scores, start=each.first):
        yield f'quietly replace score{place} = {score!r} if v{each.column} == "{report}"'
    yield f"deniable_scored `results' {each.question.id} {place} score{place}"


def _text(text: str) -> str:
    """A text without the characters that have a meaning in Stata."""
    return re.sub(r"[^\w .,:;!?()/+&-]", " ", text)
