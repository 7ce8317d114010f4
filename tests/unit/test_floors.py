"""The floors of the house: imports go down only, in Python and in Rust."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter

import pytest

from documents import ROOT

PYTHON = ROOT / "python" / "torr"
CRATES = ROOT / "crates"

FLOORS = {
    0: {"__init__", "collector", "errors", "units", "messages", "model", "procfs", "results"},
    1: {
        "children",
        "cluster",
        "engine",
        "grpc",
        "self_test",
        "shared_target",
        "targets",
        "http_client",
        "low_priority",
        "stats",
        "monitor",
        "profile",
        "servers",
        "sources",
        "store",
        "_engine",
    },
    2: {"verdicts"},
    3: {"experiments", "locust", "micro", "options", "planning", "tuning"},
    4: {"report", "webserver"},
    5: {"finishing"},
    6: {"cli", "api", "plugin"},
}
CRATE_FLOORS = {
    0: {"wire", "net"},
    1: {"client"},
    2: {"engine", "targets"},
    3: {"locust"},
    4: {"python"},
}


def floors(table):
    return {room: floor for floor, rooms in table.items() for room in rooms}


def room_of(path):
    relative = path.relative_to(PYTHON)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


@cache
def nodes_of(source):
    """The nodes of the syntax tree of a module, a parent before its children."""
    return tuple(ast.walk(ast.parse(source)))


def imported_rooms(source):
    """The rooms of torr that a module imports, anywhere in it."""
    rooms = set()
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        parts = [name.split(".") for name in names]
        rooms |= {words[1] for words in parts if words[0] == "torr" and len(words) > 1}
    return rooms & set(floors(FLOORS))


def imported_modules(source, known):
    """The known modules that a module imports when it runs, anywhere in it."""
    conditions = [node for node in nodes_of(source) if isinstance(node, ast.If)]
    for_types = {
        id(node)
        for condition in conditions
        if isinstance(condition.test, ast.Name) and condition.test.id == "TYPE_CHECKING"
        for node in condition.body
    }
    imports = [node for node in nodes_of(source) if id(node) not in for_types]
    froms = [node for node in imports if isinstance(node, ast.ImportFrom)]
    pairs = [(str(node.module), alias.name) for node in froms for alias in node.names]
    # Of `from torr.report import view` the module is torr.report.view.
    named = {f"{of}.{name}" if f"{of}.{name}" in known else of for of, name in pairs}
    whole = [node for node in imports if isinstance(node, ast.Import)]
    return (named | {alias.name for node in whole for alias in node.names}) & known


def python_files():
    return sorted(PYTHON.rglob("*.py"))


def test_a_module_imports_from_its_own_floor_or_lower_ones():
    known = floors(FLOORS)
    upward = {
        f"{path.relative_to(PYTHON)} imports torr.{room}"
        for path in python_files()
        for room in imported_rooms(path.read_text())
        if known[room] > known[room_of(path)]
    }
    assert upward == set()


def test_every_room_has_a_floor():
    rooms = {room_of(path) for path in python_files()}
    assert rooms <= set(floors(FLOORS))


def test_only_the_doors_import_the_compiled_engine():
    importers = {
        path.stem for path in python_files() if "_engine" in imported_rooms(path.read_text())
    }
    assert importers == {"engine", "examiner", "reactor", "tallies", "targets"}


def kernel_texts(source):
    """The texts of a module, without docstrings, that name what only `procfs` reads."""
    statements = (node.value for node in nodes_of(source) if isinstance(node, ast.Expr))
    docstrings = {id(node) for node in statements if isinstance(node, ast.Constant)}
    texts = {
        node.value
        for node in nodes_of(source)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in docstrings
    }
    sockets = {node.attr for node in nodes_of(source) if isinstance(node, ast.Attribute)}
    paths = {text for text in texts if re.match(r"/?(proc|sys)(/|$)", text)}
    return paths | (sockets & {"AF_NETLINK"})


def test_only_procfs_reads_proc_and_sys_and_asks_over_netlink():
    found = {
        f"{path.relative_to(PYTHON)}: {text}"
        for path in python_files()
        if room_of(path) != "procfs"
        for text in kernel_texts(path.read_text())
    }
    assert found == set()


@pytest.mark.parametrize(
    "source",
    ['open("/proc/self/stat")', 'Path(f"/sys/{x}")', 'root / "proc"', "socket.AF_NETLINK"],
)
def test_every_way_to_name_what_the_kernel_tells_is_seen(source):
    assert kernel_texts(f'"""/proc"""\n{source}')


def test_procfs_imports_nothing_else_of_torr_but_errors_and_units():
    rooms = {
        room
        for path in python_files()
        if room_of(path) == "procfs"
        for room in imported_rooms(path.read_text())
    }
    assert rooms <= {"procfs", "errors", "units"}


def test_only_the_command_line_imports_click():
    importers = {
        room_of(path)
        for path in python_files()
        if re.search(r"import click\b|from click\b", path.read_text())
    }
    assert importers == {"cli"}


def test_the_names_of_public_classes_are_unique():
    classes: dict[str, list[str]] = {}
    for path in python_files():
        for node in nodes_of(path.read_text()):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(str(path.relative_to(PYTHON)))
    assert {name: files for name, files in classes.items() if len(files) > 1} == {}


def module_name(path):
    parts = path.relative_to(PYTHON).with_suffix("").parts
    return ".".join(["torr", *(part for part in parts if part != "__init__")])


def test_no_modules_import_each_other_in_a_circle():
    names = {path: module_name(path) for path in python_files()}
    known = set(names.values())
    graph = {name: imported_modules(path.read_text(), known) for path, name in names.items()}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("import torr.cli.main", "torr.cli.main"),
        ("from torr.cli import main", "torr.cli.main"),
        ("def f():\n from torr import cli", "torr.cli"),
    ],
)
def test_the_reader_sees_every_kind_of_import(source, module):
    assert imported_rooms(source) == {"cli"}
    assert imported_modules(source, {"torr.cli", "torr.cli.main"}) == {module}


# A package of report/ imports from itself and from those before it.
REPORT_PACKAGES = ("data", "text", "tables", "view", "figures", "files")


def test_a_package_of_the_report_imports_from_itself_or_from_those_before_it():
    upward = set()
    for place, package in enumerate(REPORT_PACKAGES):
        later = "|".join(REPORT_PACKAGES[place + 1 :]) or "nothing"
        for path in sorted((PYTHON / "report" / package).glob("*.py")):
            found = re.findall(rf"from torr\.report\.(?:{later})\b.*", path.read_text())
            upward |= {f"{package}/{path.name}: {line}" for line in found}
    assert upward == set()


@pytest.mark.parametrize("crate", sorted(floors(CRATE_FLOORS)))
def test_a_crate_depends_on_its_own_floor_or_lower_ones(crate):
    known = floors(CRATE_FLOORS)
    upward = {name for name in dependencies(crate) if known[name] > known[crate]}
    assert not upward


def test_every_crate_has_a_floor():
    assert {path.parent.name for path in CRATES.glob("*/Cargo.toml")} == set(floors(CRATE_FLOORS))


def dependencies(crate):
    """The crates of this workspace that a manifest names as dependencies, for tests too."""
    manifest = (CRATES / crate / "Cargo.toml").read_text()
    names = re.findall(r"^([\w-]+)(?:\.workspace)?\s*=", manifest, re.MULTILINE)
    return set(names) & set(floors(CRATE_FLOORS)) - {crate}


def rust_files(crate):
    """The product's files of a crate: no tests, no programs."""
    paths = sorted((CRATES / crate / "src").rglob("*.rs"))
    return [path for path in paths if not {"tests", "tests.rs", "bin"} & set(path.parts)]


def rust_room(crate, path):
    """The room of a file: the module of the crate's root that it is, or is below."""
    return path.relative_to(CRATES / crate / "src").with_suffix("").parts[0]


def rust_names(source):
    """The names after `crate::` in a module, without those in comments and tests."""
    source = source.partition("#[cfg(test)]\nmod tests {")[0]
    # What is in braces within braces is below a name of the outer ones.
    flat = re.sub(r"::\{[^{}]*\}", "", re.sub(r"//.*", "", source).replace("crate::{", "crate::<"))
    lists = re.findall(r"\bcrate::<([^}]*)\}", flat)
    names = [name.strip().partition(":")[0] for each in lists for name in each.split(",")]
    return {*re.findall(r"\bcrate::(\w+)", flat), *(name.split()[0] for name in names if name)}


@pytest.mark.parametrize(
    "source",
    ["use crate::{\n    a::{x, y},\n    B as C,\n};", "use crate::a::X;\nfn f(b: crate::B) {}"],
)
def test_the_reader_of_rust_sees_every_kind_of_import(source):
    assert rust_names(source) == {"a", "B"}


def rust_exports(source):
    """The module of each name that the root of a crate exports."""
    uses = re.findall(r"use (\w+)(?:::\w+)*::(?:\{([^}]*)\}|(\w+));", source)
    return {name: of for of, names, one in uses for name in re.findall(r"\w+", names or one)}


def rust_graph(crate):
    exports = rust_exports((CRATES / crate / "src" / "lib.rs").read_text())
    graph: dict[str, set[str]] = {}
    for path in rust_files(crate):
        names = {exports.get(name, name) for name in rust_names(path.read_text())}
        room = rust_room(crate, path)
        graph[room] = graph.get(room, set()) | (names - {room})
    return graph


@pytest.mark.parametrize("crate", sorted(floors(CRATE_FLOORS)))
def test_no_rooms_of_a_crate_import_each_other_in_a_circle(crate):
    TopologicalSorter(rust_graph(crate)).prepare()


def test_the_rooms_of_the_engine_import_each_other():
    graph = rust_graph("engine")
    assert {"messages", "plan", "measure", "worker", "fleet"} <= graph["run"]
    assert graph["messages"] == graph["random"] == set()


def test_no_module_imports_from_its_grandparent():
    paths = [path for crate in floors(CRATE_FLOORS) for path in rust_files(crate)]
    assert [path for path in paths if "super::super" in path.read_text()] == []


def rust_types(source):
    """The names of the types that a module declares, without those of tests."""
    source = source.partition("#[cfg(test)]\nmod tests {")[0]
    return re.findall(
        r"^(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type) (\w+)", source, re.MULTILINE
    )


def test_the_names_of_types_are_unique_over_all_crates():
    types: dict[str, list[str]] = {}
    for path in (path for crate in floors(CRATE_FLOORS) for path in rust_files(crate)):
        for name in rust_types(path.read_text()):
            types.setdefault(name, []).append(str(path.relative_to(CRATES)))
    assert {name: files for name, files in types.items() if len(files) > 1} == {}
