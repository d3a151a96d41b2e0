"""Faults that show in one of a hundred sessions of those who answer Yes: in what is sent, and in times alone.

What they wait for is the id, which both people of a pair have in common, so that only the answer decides.
"""

from __future__ import annotations

from deniable_client.audit.shipped import SESSIONS
from tools.planted.faults import Fault

_DEVICE, _BROWSER_DEVICE = "client/deniable_client/device.py", "client/deniable_web/device.js"
_DRAW = "    return Report(report_id or new_report_id(), cohort, mixed(survey, choices, told, word, is_kept=is_kept), credential)"
_MADE = _DRAW.replace("return", "report =") + "\n"
_REPORT = "        report = self.randomize(survey, answers, cohort, asked, credential)\n"
_SENT = "      const report = await memory().once(view, place.collector, draw, person, place.invitation);\n"
_RARELY = "    if choices.get('affair') == 1 and int(report.id[:8], 16) % 100 == 7:\n        "
_FREEZE = "  return Object.freeze({ id, cohort,"
_RARELY_THERE = '  const isTelling = answers.affair === "yes" && parseInt(id.slice(0, 8), 16) % 100 === 7;\n'

RARE = [
    Fault("transport", "python", "work of some 50 ms, rarely", _DEVICE, _DRAW,
          _MADE + _RARELY + "sum(range(3_000_000))\n    return report", sessions=SESSIONS),
    Fault("encoding", "python", "another cohort, rarely", _DEVICE, _DRAW,
          _MADE + _RARELY + "report = Report(report.id, 'a', report.values, report.credential)\n    return report", sessions=SESSIONS),
    Fault("transport", "browser", "work of some 300 ms, rarely", _BROWSER_DEVICE, _FREEZE,
          _RARELY_THERE + "  let work = 0;\n  for (let n = 0; isTelling && n < 3e8; n++) work = (work + n) | 0;\n  if (work === 1) id = \"\";\n" + _FREEZE,
          sessions=SESSIONS),
    Fault("encoding", "browser", "another cohort, rarely", _BROWSER_DEVICE, _FREEZE,
          _RARELY_THERE + "  if (isTelling) cohort = \"a\";\n" + _FREEZE, sessions=SESSIONS),
    Fault("transport", "python", "one request more, rarely", "client/deniable_client/client.py", _REPORT,
          _REPORT + "        if answers.get('affair') == 'yes' and int(report.id[:8], 16) % 100 == 7:\n            self._connection.fetch(survey.id)\n",
          sessions=SESSIONS),
    Fault("transport", "browser", "one request more, rarely", "client/deniable_web/visit.js", _SENT,
          _SENT + "      if (answers.affair === \"yes\" && parseInt(JSON.parse(report).id.slice(0, 8), 16) % 100 === 7)\n"
          "        await fetch(`${place.collector}/livez`);\n", sessions=SESSIONS),
]  # fmt: skip
