"""Passed and failed tests as JUnit XML, for the page of a CI server.

A test fails where torr ends with an exit code: a limit of `--fail-if` that was surely passed, or an
SLO that is broken at the lowest level; above it a ladder looks for the level at which SLOs break.
An SLO that is not shown is skipped, with the reason. Any other reason why a run did not pass is a
test of its own, which names all reasons. The word of a comparison is a test that passes, with the
word in its output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from torr.errors import OutputError
from torr.messages.say import say
from torr.report.files.xml_text import xml_text
from torr.report.text.comparison_words import DIGITS, interval, ratio
from torr.report.text.verdict_words import (
    is_comparison,
    metric_of,
    printed,
)
from torr.stats.series import lowest
from torr.stats.trials import unmeasured
from torr.store.atomic import SHARED, replace_bytes
from torr.verdicts.exit import missed_otherwise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torr.results.base import Factors
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def write(result: RunResult, path: Path, why: str | None = None) -> None:
    """Write the file; `why` it does not pass, if so. Raises OutputError where it cannot be."""
    try:
        replace_bytes(path, text(result, why).encode(), SHARED)
    except OSError as error:
        message = say(
            "--junit {path}: cannot be written: {error}", path=path, error=error.strerror or error
        )
        raise OutputError(message, say("choose another file")) from error


def text(result: RunResult, why: str | None = None) -> str:
    """Return one suite: a test for each limit, SLO and verdict, and `why` it does not pass."""
    cases = [*_limits(result), *_slos(result), *_verdicts(result), *_unmeasured(result)]
    has_failure = any(case.find("failure") is not None for case in cases)
    if why is not None and (missed_otherwise(result) or not has_failure):
        case = Element("testcase", classname=f"torr {result.kind}", name="passes")
        SubElement(case, "failure", message=xml_text(why))
        cases.append(case)
    suite = Element(
        "testsuite",
        name=xml_text(f"torr {result.kind} {result.name}"),
        tests=f"{len(cases)}",
        failures=f"{sum(case.find('failure') is not None for case in cases)}",
        errors=f"{sum(case.find('error') is not None for case in cases)}",
        skipped=f"{sum(case.find('skipped') is not None for case in cases)}",
    )
    suite.extend(cases)
    indent(suite)
    return tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _limits(result: RunResult) -> Iterator[Element]:
    for limit in result.fail_if:
        case = _case(f"{limit.baseline} → {limit.candidate}", limit.condition or "", limit)
        _end(case, limit)
        yield case


def _slos(result: RunResult) -> Iterator[Element]:
    rounds = lowest(result.levels)
    for verdict in result.slo_verdicts:
        whose = f"SLO {verdict.candidate}" if verdict.candidate else "SLO"
        case = _case(whose, verdict.condition or "", verdict)
        is_higher = rounds and verdict.position != rounds[0].position
        if is_higher and result.kind != "compare":
            text = ": ".join(filter(None, (verdict.word, verdict.reason)))
            SubElement(case, "system-out").text = xml_text(text)
        else:
            _end(case, verdict)
        yield case


def _verdicts(result: RunResult) -> Iterator[Element]:
    for verdict in result.verdicts:
        if is_comparison(verdict):
            sides = f"{verdict.baseline} → {verdict.candidate}"
            case = _case(sides, metric_of(verdict).label, verdict)
            text = printed(verdict)
            if not verdict.obstacle:
                text += f": {ratio(verdict, DIGITS)} ({interval(verdict, DIGITS)})"
            why = f"; {verdict.reason}" if verdict.reason else ""
            SubElement(case, "system-out").text = xml_text(f"{text}, n = {verdict.n}{why}")
            yield case


def _unmeasured(result: RunResult) -> Iterator[Element]:
    """Return an error for each candidate that no trial of a cell measured."""
    for failure in unmeasured(result):
        name = xml_text(f"measured{_setting(failure.factors)}")
        case = Element("testcase", classname=xml_text(failure.candidate), name=name)
        error = SubElement(case, "error", message=xml_text(failure.text), type=failure.kind)
        error.text = xml_text("\n".join(failure.log_tail))
        yield case


def _case(sides: str, what: str, verdict: Verdict) -> Element:
    name = f"{what} at {verdict.position:,}{_setting(verdict.factors)}"
    return Element("testcase", classname=xml_text(sides), name=xml_text(name))


def _setting(factors: Factors) -> str:
    return "".join(f" {name}={value}" for name, value in factors.items())


def _end(case: Element, verdict: Verdict) -> None:
    """Mark a case as failed or skipped where its verdict says so."""
    ends = {"broken": "failure", "not shown": "skipped"}
    if verdict.word in ends:
        message = verdict.reason or verdict.word
        SubElement(case, ends[verdict.word], message=xml_text(message))
