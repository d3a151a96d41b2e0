"""What the tutorial for institutions and the pages for administrators say.

These are the blocks of docs/learn/institution.md that are marked ``machine``, and those of sections of
docs/operations.md, docs/monitoring.md and docs/postgresql.md.
"""

from __future__ import annotations

import json
import shlex

from tools.machine.debian import Machine, write
from tools.machine.pages import SETTINGS, Block, expect, follow, marked, page, section
from tools.rig.patience import wait_until

SURVEY = """
title = "Exams"
[[questions]]
id = "cheated"
type = "yes-no"
text = "Did you cheat in an exam this year?"
epsilon = 1.0
"""

PEOPLE = """
import random
import sys
from deniable_client import Client

client = Client("https://collector.example")
survey = client.survey(sys.argv[1])
for student in range(250):
    client.submit(survey, client.randomize(survey, {"cheated": random.choice(["no", "yes"])}))
"""


def reports_of(machine: Machine) -> dict[str, int]:
    """How many reports of each survey there are, released and waiting."""
    printed = machine.run(f"{SETTINGS}\nrunuser -u deniable -- /opt/deniable/bin/deniable survey list")
    rows = [line.split() for line in printed.splitlines()[1:]]
    return {row[0]: int(row[1]) + int(row[2]) for row in rows}


def _healthy(machine: Machine) -> list[str]:
    """The health of each target of ours, as Prometheus sees it."""
    answer = machine.run("curl -s http://127.0.0.1:9090/api/v1/targets || true")
    targets = json.loads(answer)["data"]["activeTargets"] if answer.startswith("{") else []
    return [each["health"] for each in targets if each["labels"]["job"].startswith("deniable")]


def walk(machine: Machine) -> None:
    """Follow the four pages on a machine that has nothing."""
    tutorial = tutorial_until_moved(machine)
    operations, monitoring = page("operations"), page("monitoring")
    machine.run(f"{SETTINGS}\nrunuser -u deniable -- /opt/deniable/bin/deniable token revoke ada")  # made once more
    write(machine, "root/deniable/my-survey.toml", SURVEY)
    follow(machine, section(operations, "Commands beside the service"))
    (survey,) = reports_of(machine)
    write(machine, "root/people.py", PEOPLE)
    machine.run(f"/opt/deniable/bin/python /root/people.py {shlex.quote(survey)}")
    # The only backup before an upgrade has the minute of that upgrade in its name.
    noted = machine.run("cd /root/deniable && git rev-parse HEAD").strip()
    typed = {"TOKEN-NAME": "ada", "SURVEY-ID": survey, "-0930.db": "-*.db", "git diff COMMIT": f"git diff {noted}"}
    for text, heading in ((operations, "Back up and restore"), (operations, "Upgrade"), (monitoring, "Set it up")):
        follow(machine, section(text, heading), SETTINGS, typed)
        expect(reports_of(machine), {survey: 250})
        machine.run("systemctl start deniable")  # what the page says after the way back
    wait_until(lambda: _healthy(machine) == ["up", "up"], "Prometheus has asked both of its targets")
    follow(machine, tutorial, SETTINGS)
    expect(reports_of(machine), {survey: 250})
    # The first dump, while copies of the file that moved lie beside it, is put back.
    expect(machine.run("/etc/cron.daily/deniable"), "")
    follow(machine, section(page("postgresql"), "Restore on the same machine"))
    expect(reports_of(machine), {survey: 250})
    machine.run("systemctl start deniable nginx")  # what the page says after it
    expect(machine.run("curl -sS --fail https://collector.example/readyz").strip(), '{"status":"ok"}')
    print(machine.run("systemd-analyze verify /etc/systemd/system/deniable.service"))
    print(machine.run("systemd-analyze security deniable --no-pager | tail -1"))
    expect(machine.run("find /var/log/nginx -type f -size +0 ! -name error.log"), "")


def tutorial_until_moved(machine: Machine) -> list[Block]:
    """Follow the tutorial until it moves to PostgreSQL; return the blocks that are left."""
    tutorial = marked(page("learn/institution"))
    moves = next(number for number, block in enumerate(tutorial) if "postgresql" in block.name)
    follow(machine, tutorial[:moves])
    return tutorial[moves:]
