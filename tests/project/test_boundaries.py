"""The folder tree is the threat model: imports point towards ``shared/``, and the server never randomises."""

from __future__ import annotations

import ast
import functools
import graphlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import deniable
import deniable.api
from tools import needed

ROOT = Path(__file__).parents[2]
SOURCES = (
    *("shared/deniable", "shared/deniable_transport", "shared/deniable_commands"),
    *("shared/deniable_statistics", "shared/deniable_research"),
    *("client/deniable_client", "server/deniable_server"),
)

ABOVE = {"deniable_client", "deniable_research", "deniable_server", "deniable_web"}
"""What stands on the packages that both sides share."""


def modules(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found
    return found


@functools.cache
def imports_in(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Every import of a file, wherever it stands in it; each file is read once for all tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def imported_by(path: Path) -> Iterator[str]:
    return imported(imports_in(path))


def imported(nodes: Iterable[ast.Import | ast.ImportFrom]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, "imports are absolute, so that this test can read them"
            yield node.module or ""


def called_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value  # getattr(mechanism, "randomize")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("shared/deniable", ABOVE | {"deniable_transport"}),
        ("shared/deniable_transport", ABOVE | {"deniable_commands", "deniable_statistics"}),
        ("shared/deniable_commands", ABOVE | {"deniable_statistics", "deniable_transport"}),
        ("shared/deniable_statistics", ABOVE),
        ("shared/deniable_research", {"deniable_client", "deniable_server", "deniable_web"}),
        ("client/deniable_client", {"deniable_server", "deniable_research"}),
        ("server/deniable_server", {"deniable_client", "deniable_research"}),
    ],
)
def test_imports_point_towards_shared(folder: str, forbidden: set[str]) -> None:
    for path in modules(folder):
        for name in imported_by(path):
            assert name.split(".")[0] not in forbidden, f"{path.relative_to(ROOT)} imports {name}"


def test_the_agreement_hands_on_to_statistics_in_three_places() -> None:
    """Each within a function, so that a device loads nothing of it."""
    handing_on = {
        path.relative_to(ROOT / "shared" / "deniable").as_posix()
        for path in modules("shared/deniable")
        if "deniable_statistics" in path.read_text(encoding="utf-8")
    }
    assert handing_on == {"api.py", "mechanisms/base.py", "mechanisms/piecewise.py"}


def test_the_agreement_knows_no_command_but_for_what_python_runs() -> None:
    """``python -m deniable`` is the command; nothing else of the agreement knows that there is one."""
    knowing = {
        path.relative_to(ROOT / "shared" / "deniable").as_posix()
        for path in modules("shared/deniable")
        if "deniable_commands" in path.read_text(encoding="utf-8")
    }
    assert knowing == {"__main__.py"}


@pytest.mark.slow
@pytest.mark.parametrize("package", ["deniable", "deniable_transport", "deniable_statistics"])
def test_rooms_of_what_is_shared_import_in_no_circle(package: str) -> None:
    shared = ROOT / "shared" / package
    rooms: dict[str, set[str]] = {path.parent.name: set() for path in shared.glob("*/__init__.py")}
    for room, others in rooms.items():
        for path in modules(f"shared/{package}/{room}"):
            names = imported_by(path)
            others |= {name.split(".")[1] for name in names if name.startswith(f"{package}.")} & rooms.keys() - {room}
    assert tuple(graphlib.TopologicalSorter(rooms).static_order())  # or a CycleError that names the rooms


@pytest.mark.slow
def test_files_import_in_no_circle() -> None:
    """Not even for types: who reads one of two files should not need the other one first."""
    known = {_dotted(path, folder): path for folder in SOURCES for path in modules(folder)}
    graph = {}
    for name, path in known.items():
        found = set()
        for node in imports_in(path):
            if isinstance(node, ast.ImportFrom):
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {each if each in known else str(node.module) for each in full}
        graph[name] = (found & known.keys()) - {name}
        if name.startswith("deniable."):  # what is handed on is imported when it is asked for: see above
            graph[name] = {each for each in graph[name] if not each.startswith("deniable_statistics.")}
    assert tuple(graphlib.TopologicalSorter(graph).static_order())  # or a CycleError that names the files


@pytest.mark.slow
def test_nothing_that_a_collector_or_a_device_can_reach_imports_scipy() -> None:
    """Not even within a function: `pip install '.[server]'` brings none, nor what `deniable_research` is for."""
    known = {_dotted(path, folder): path for folder in SOURCES for path in modules(folder)}
    waiting = [name for name in known if name.startswith("deniable_server")]
    waiting += [f"deniable_client.{each}" for each in ("client", "answer.command", "demo.command", "rehearsal.command")]
    reached: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        parents = {name.rpartition(".")[0]} if "." in name else set()
        for node in imports_in(known[name]):
            if isinstance(node, ast.Import):
                parents |= {alias.name for alias in node.names}
            else:
                parents |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
        assert not {each for each in parents if each.split(".")[0] == "scipy"}, f"{name}, by way of {reached.get(name)}"
        for each in parents & known.keys() - reached.keys():
            reached[each] = name
            waiting.append(each)
    assert {"deniable_statistics.intervals.restricted", "deniable_statistics.joint.pairs"} <= reached.keys()


def _dotted(path: Path, folder: str) -> str:
    parts = path.relative_to((ROOT / folder).parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def test_rooms_of_the_server_import_only_those_below() -> None:
    """As `docs/design.md` draws them; files that stand in no room may be imported by all, or import all."""
    floors: tuple[set[str], ...] = (
        {"store"},
        {"access", "writing"},
        {"edge"},
        {"results"},
        {"web"},
        {"place"},
        {"people"},
    )
    floors += ({"authors"}, {"commands"})
    floor_of = {room: number for number, rooms in enumerate(floors) for room in rooms}
    server = ROOT / "server" / "deniable_server"
    assert {path.name for path in server.iterdir() if (path / "__init__.py").exists()} == set(floor_of)
    for path in modules("server/deniable_server"):
        room = path.relative_to(server).parts[0]
        for name in imported_by(path) if room in floor_of else ():
            _, _, other = name.partition("deniable_server.")
            other = other.split(".")[0]
            if other in floor_of and other != room:
                assert floor_of[other] < floor_of[room], f"{path.relative_to(ROOT)} imports {name}"


def test_server_never_randomises() -> None:
    forbidden = {"randomize", "randomize_many", "_randomize_array", "system_word", "system_words", "new_report_id"}
    for path in modules("server/deniable_server"):
        found = forbidden.intersection(called_names(ast.parse(path.read_text(encoding="utf-8"))))
        assert not found, f"{path.relative_to(ROOT)} names {found}"


def test_only_the_rooms_of_databases_know_their_drivers() -> None:
    """Whoever adds a store adds a room; everybody else asks `deniable_server.store`."""
    rooms = {"sqlite": {"sqlite3", "sqlite_utils"}, "postgresql": {"psycopg", "psycopg_pool"}}
    store = ROOT / "server" / "deniable_server" / "store"
    for room, drivers in rooms.items():
        users = {
            path
            for path in modules("server/deniable_server")
            if drivers.intersection(name.split(".")[0] for name in imported_by(path))
        }
        assert users, f"nobody imports {drivers}"
        outside = [path for path in users if store / room not in path.parents]
        assert not outside, f"{outside} import {drivers}"


def test_importing_shared_loads_only_the_standard_library() -> None:
    """`import numpy` within a function is fine: who does not call it does not need it."""
    packages = ("shared/deniable", "shared/deniable_transport", "shared/deniable_commands")
    for path in (path for package in packages for path in modules(package)):
        statements = ast.parse(path.read_text(encoding="utf-8")).body
        at_import = imported(each for each in statements if isinstance(each, ast.Import | ast.ImportFrom))
        allowed = {"click", "deniable_commands"} if path.parent.name == "deniable_commands" else set()
        allowed |= {"deniable_transport"} if "deniable_transport" in path.parts else set()
        if path.name == "__main__.py":
            allowed = {"deniable_commands"}
        if path.relative_to(ROOT).as_posix() == "shared/deniable/mechanisms/arrays.py":  # loaded by `randomize_many`
            allowed = {"numpy"}
        foreign = {name.split(".")[0] for name in at_import} - sys.stdlib_module_names - {"deniable"}
        assert foreign <= allowed, f"{path.relative_to(ROOT)}: {foreign}"


@pytest.mark.slow
def test_numbers_from_numbers_need_numpy_scipy_and_a_solver_alone() -> None:
    """No table, no command line: what reads or prints stands in `authoring`, `data`, `commands` and `published`."""
    shared = ROOT / "shared" / "deniable_statistics"
    for path in modules("shared/deniable_statistics"):
        if path.relative_to(shared).parts[0] not in ("authoring", "data", "commands", "published"):
            names = {name.split(".")[0] for name in imported_by(path)}
            needed = {"deniable", "deniable_statistics", "highspy", "numpy", "scipy"}
            needed |= {"cryptography"} if path == shared / "release" / "signature.py" else set()
            foreign = names - sys.stdlib_module_names - needed
            assert not foreign, f"{path.relative_to(ROOT)}: {foreign}"
            assert "print" not in called_names(ast.parse(path.read_text(encoding="utf-8"))), path.relative_to(ROOT)


@pytest.mark.slow
def test_collector_and_devices_load_nothing_that_is_for_files_or_for_authors_alone() -> None:
    loaded, by_commands = (
        {path.relative_to(ROOT / "shared").as_posix() for path in needed.imported(sides)}
        for sides in ({"collector", "devices"}, {needed.COMMANDS})
    )
    assert {f"deniable/{each}.py" for each in ("survey/document", "report/report", "mechanisms/k_ary")} <= loaded
    assert {"deniable_statistics/data/writing.py", "deniable_statistics/authoring/analyses.py"} <= by_commands
    assert not {
        name for name in loaded if name.startswith(("deniable_statistics/data/", "deniable_statistics/authoring/"))
    }


PACKAGES = ["deniable", "deniable_transport", "deniable_commands", "deniable_statistics", "deniable_research"]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_design_says_what_every_room_holds(package: str) -> None:
    folder = ROOT / "shared" / package
    named = set(re.findall(r"`(\w+/|\w+\.py)`", _table_of(package)))
    rooms = {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    files = {path.name for path in folder.glob("*.py") if not path.name.startswith("__")}
    assert named >= rooms | files
    inside = {path.name for path in folder.rglob("*.py")} | rooms
    assert named <= inside, "a room that is gone"
    assert len(list(folder.glob("*.py"))) <= 10, "a package that is crowded at its top"


def test_rooms_of_the_picture_import_from_the_lines_below_alone() -> None:
    design = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    picture = design.partition("```text\n")[2].partition("```")[0]
    rooms = {path.parent.name for path in (ROOT / "shared" / "deniable_research").glob("*/__init__.py")}
    column = [line.split("|")[4] for line in picture.splitlines() if line.count("|") == 5]
    height = {room: -line for line, text in enumerate(column) for room in text.split() if room in rooms}
    assert height.keys() == rooms
    for path in modules("shared/deniable_research"):
        room = path.relative_to(ROOT / "shared" / "deniable_research").parts[0]
        for name in imported_by(path) if room in rooms else ():
            other = name.split(".")[1] if name.startswith("deniable_research.") else room
            assert other == room or other not in rooms or height[other] < height[room], f"{path} imports {name}"


def _table_of(package: str) -> str:
    """The part of docs/design.md on a package."""
    design = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    return design.partition(f"| room in `shared/{package}` |")[2].partition("\n\n")[0]


@pytest.mark.parametrize(
    ("act", "place"),
    [
        (r"\.Formula\(", "shared/deniable_research/regression/formula.py"),
        (r"erfc\((?!-)", "shared/deniable_statistics/intervals/interval.py"),
        (r"def check_confidence_level", "shared/deniable_statistics/intervals/interval.py"),
        (r"def left_inverse", "shared/deniable_statistics/designs/debiasing.py"),
        (
            r"def kish|\bsum\(\) ?\*\* ?2 ?/ ?\(\w+(\.\w+)*\*\*2\)\.sum",
            "shared/deniable_statistics/sampling/weights.py",
        ),
    ],
)
def test_formulas_levels_p_values_inverses_and_effective_numbers_have_one_place(act: str, place: str) -> None:
    files = [path for folder in SOURCES for path in modules(folder)]
    found = {path.relative_to(ROOT).as_posix() for path in files if re.search(act, path.read_text(encoding="utf-8"))}
    assert found == {place}


def test_all_names_what_the_package_exports() -> None:
    own = {name for name, value in vars(deniable.api).items() if not name.startswith("_") and not _is_module(value)}
    assert own | deniable.api._BROUGHT.keys() == set(deniable.__all__)
    assert all(hasattr(deniable, name) for name in deniable.__all__)


@pytest.mark.slow
def test_the_package_does_not_import_its_own_public_names() -> None:
    for path in modules("shared/deniable"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "deniable" and path.name != "__init__.py":
                names = {alias.name for alias in node.names}
                assert not names & set(deniable.__all__), f"{path.relative_to(ROOT)}: a circle through api.py"


def _is_module(value: object) -> bool:
    return type(value).__name__ == "module"
