"""A syntax file of SPSS that computes the published estimates from a file of reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deniable.access.words import ONE_REPORT
from deniable.survey.document import Survey
from deniable_statistics.archive.script_figures import Scored, Share, left_out, number, scored_of, shares_of

EXACT = """\
  LOOP #i = 0 TO 1001.
    COMPUTE #share = MIN(MAX(estimate, 0), 1).
    IF (#i LE 1000) #share = #i / 1000.
    COMPUTE #at = MIN(MAX(b + (a - b) * #share, 1E-300), 1 - 1E-16).
    COMPUTE #top = MIN(MAX(count / n, MIN(a, b)), MAX(a, b)).
    COMPUTE #top = MIN(MAX(#top, 1E-300), 1 - 1E-16).
    COMPUTE #fall = count * LN(#at / #top) + (n - count) * LN((1 - #at) / (1 - #top)).
    COMPUTE #p = 0.
    DO IF (n GT 10000).
      IF (-2 * #fall LE 3.841458820694124) #p = 1.
    ELSE.
      LOOP #k = 0 TO n.
        COMPUTE #best = MIN(MAX(#k / n, MIN(a, b)), MAX(a, b)).
        COMPUTE #best = MIN(MAX(#best, 1E-300), 1 - 1E-16).
        COMPUTE #other = #k * LN(#at / #best) + (n - #k) * LN((1 - #at) / (1 - #best)).
        IF (#other LE #fall + 1E-9) #p = #p + EXP(MAX(-700, LNGAMMA(n + 1) - LNGAMMA(#k + 1)
          - LNGAMMA(n - #k + 1) + #k * LN(#at) + (n - #k) * LN(1 - #at))).
      END LOOP.
    END IF.
    DO IF (#p GT 0.05).
      COMPUTE low = MIN(low, #share).
      COMPUTE high = MAX(high, #share).
    END IF.
  END LOOP."""
"""The interval of `deniable_statistics.archive.r_script` on a grid of shares: its ends are right to the third digit.

An exponential below the smallest number is a missing value in GNU PSPP, and so would be the sum: from some 1,000
replies on no interval came out.
"""

HEAD = f"""\
SET MXLOOPS=20000.
DEFINE !interval ()
{EXACT}
!ENDDEFINE."""
"""SPSS ends longer loops by itself, unless it is told."""


def spss_script(survey: Survey, file: str) -> str:
    """A syntax file for SPSS, and for GNU PSPP; the formulas are those of `deniable_statistics.archive.r_script`.

    Parameters
    ----------
    survey : Survey
    file : str
        The CSV of its reports, in the folder where the program runs.
    """
    shares, scored = list(shares_of(survey)), list(scored_of(survey))
    lines = [
        f"* Estimates of the survey {survey.id} from its noisy reports, with standard errors and intervals.",
        "* a, b: probability that a report supports an option if it is true, and if another one is.",
        f"* n counts reports; {ONE_REPORT[survey.access]}.",
        *(f"* {each}." for each in left_out(survey)),
        HEAD,
        *_reading(survey, file),
    ]
    for place, share in enumerate(shares, start=1):
        lines += _supports(place, share)
    for place, each in enumerate(scored, start=len(shares) + 1):
        lines += _scores(place, each)
    every = range(1, len(shares) + len(scored) + 1)
    lines += [
        "COMPUTE everybody = 1.",
        "AGGREGATE OUTFILE=* /BREAK=everybody",
        *(f"  /n{place}=N(s{place}) /m{place}=MEAN(s{place}) /d{place}=SD(s{place})" for place in every),
        "  .",
    ]
    for place, share in enumerate(shares, start=1):
        lines += _share(place, share)
    for place, each in enumerate(scored, start=len(shares) + 1):
        lines += _mean(place, each)
    lines.append("EXECUTE.")
    return "\n".join(lines) + "\n"


def _reading(survey: Survey, file: str) -> Iterator[str]:
    quoted = file.replace("'", "''")
    yield f"GET DATA /TYPE=TXT /FILE='{quoted}' /ENCODING='UTF8' /ARRANGEMENT=DELIMITED /DELIMITERS=','"
    columns = ["v1 A32", "v2 A200", *(f"v{place} A{_width(survey, place - 3)}" for place in _columns(survey))]
    columns.append(f"v{len(survey.questions) + 3} A40")
    yield f"  /QUALIFIER='\"' /FIRSTCASE=2 /VARIABLES={' '.join(columns)}."


def _columns(survey: Survey) -> Sequence[int]:
    return range(3, len(survey.questions) + 3)  # after id and cohort


def _width(survey: Survey, place: int) -> int:
    return survey.questions[place].mechanism.reports.longest + 2  # with a b before bits


def _supports(place: int, share: Share) -> Iterator[str]:
    name = f"v{share.column}"
    supports = f"{name} EQ '{share.report}'" if share.at is None else f"SUBSTR({name}, {share.at}, 1) EQ '1'"
    asked = f"{name} NE ''" + ("" if share.drawn is None else f" AND SUBSTR({name}, {share.drawn}, 2) NE '00'")
    yield f"IF ({asked}) s{place} = ({supports})."


def _scores(place: int, each: Scored) -> Iterator[str]:
    for report, score in enumerate(each.scores, start=each.first):
        yield f"IF (v{each.column} EQ '{report}') s{place} = {score!r}."


def _share(place: int, share: Share) -> Iterator[str]:
    a, b = (number(chance) for chance in share.support)
    yield f"COMPUTE a = {a}.\nCOMPUTE b = {b}.\nCOMPUTE n = n{place}.\nCOMPUTE count = RND(n * m{place})."
    yield "COMPUTE estimate = (count / n - b) / (a - b)."
    yield "COMPUTE error = SQRT(count / n * (1 - count / n) / n) / ABS(a - b).\nCOMPUTE low = 1.\nCOMPUTE high = 0."
    yield "DO IF (n GT 0).\n!interval.\nEND IF."
    about = f"'{share.question.id}, {_text(share.option)}: '"
    yield f"PRINT /{about} n (F9.0) count (F9.0) estimate (F13.8) error (F13.8) low (F9.5) high (F9.5)."


def _mean(place: int, each: Scored) -> Iterator[str]:
    yield f"COMPUTE n = n{place}.\nCOMPUTE estimate = m{place}."
    yield f"COMPUTE error = d{place} * SQRT((n - 1) / n) / SQRT(n)."
    about = f"'{each.question.id}, {_text(each.option or 'mean')}: '"
    yield f"PRINT /{about} n (F9.0) estimate (F13.8) error (F13.8)."


def _text(text: str) -> str:
    """A text without the characters that have a meaning in SPSS."""
    return re.sub(r"[^\w .,:;!?()/+&-]", " ", text)
