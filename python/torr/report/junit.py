"""What passed and what failed, as JUnit XML, for the page of a CI server.

Only what ends torr with an exit code fails here: a limit of `--fail-if` that was surely passed, an
SLO that is broken. What is not shown is skipped, with the reason. A comparison's word judges
nothing by itself: it is a test that passes, and its output says what was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from torr.errors import OutputError
from torr.report.verdict_table import (
    is_comparison,
    metric_of,
    printed,
    show_change,
    show_interval,
)
from torr.store.atomic import replace_bytes

Result = Mapping[str, Any]

_CONTROL = {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n\r"}


def write(result: Result, path: Path) -> None:
    """Write the file; raises OutputError where it cannot be written."""
    try:
        replace_bytes(path, text(result).encode())
    except OSError as error:
        message = f"--junit {path}: cannot be written: {error.strerror or error}"
        raise OutputError(message, "choose another file") from error


def text(result: Result) -> str:
    """Return one suite: a test for each limit, SLO and verdict."""
    cases = [*_limits(result), *_slos(result), *_verdicts(result)]
    suite = Element(
        "testsuite",
        name=_clean(f"torr {result['kind']} {result['name']}"),
        tests=f"{len(cases)}",
        failures=f"{sum(case.find('failure') is not None for case in cases)}",
        errors="0",
        skipped=f"{sum(case.find('skipped') is not None for case in cases)}",
    )
    suite.extend(cases)
    indent(suite)
    return tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _limits(result: Result) -> Iterator[Element]:
    for entry in result.get("fail_if") or ():
        case = _case(f"{entry['baseline']} → {entry['candidate']}", entry["condition"], entry)
        _end(case, entry, failing="failed")
        yield case


def _slos(result: Result) -> Iterator[Element]:
    for verdict in result.get("verdicts") or ():
        if verdict.get("condition"):
            whose = f"SLO {verdict['candidate']}" if verdict.get("candidate") else "SLO"
            case = _case(whose, verdict["condition"], verdict)
            _end(case, verdict, failing="broken")
            yield case


def _verdicts(result: Result) -> Iterator[Element]:
    for verdict in result.get("verdicts") or ():
        if is_comparison(verdict):
            sides = f"{verdict['baseline']} → {verdict['candidate']}"
            case = _case(sides, metric_of(verdict).label, verdict)
            said = f"{printed(verdict)}: {show_change(verdict)} ({show_interval(verdict)})"
            why = f"; {verdict['reason']}" if verdict["reason"] else ""
            SubElement(case, "system-out").text = _clean(f"{said}, n = {verdict['n']}{why}")
            yield case


def _case(sides: str, what: str, entry: Mapping[str, Any]) -> Element:
    setting = "".join(f" {key}={value}" for key, value in (entry.get("factors") or {}).items())
    name = f"{what} at {entry['concurrency']:,}{setting}"
    return Element("testcase", classname=_clean(sides), name=_clean(name))


def _end(case: Element, entry: Mapping[str, Any], failing: str) -> None:
    """Whether it failed, was skipped, or says nothing more."""
    ends = {failing: "failure", "not shown": "skipped"}
    if entry["word"] in ends:
        message = entry["reason"] or entry["word"]
        SubElement(case, ends[entry["word"]], message=_clean(message))


def _clean(text: str) -> str:
    """Text without the characters that XML cannot have."""
    return text.translate(_CONTROL)
