"""`result.json` as a whole: decoding, checking and describing it.

A schema keeps the meaning of every key. Results of schema 1 are read through `upgraded`; keys that
torr does not know are left out of the types, and stay in the file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from torr.collector import paused_collector
from torr.errors import ResultError, UsageError
from torr.messages.message import Message, message
from torr.messages.say import say
from torr.model.json import JsonObject
from torr.model.json_input import JsonInputError, check_depth, parse_json
from torr.model.moment import read_stamp
from torr.model.outside import Outside
from torr.model.outside_file import MOST_RESULT_BYTES, read_bounded
from torr.results.base import Count, Factors, ResultPart, convert, decode_message, encode
from torr.results.capacity import Capacity
from torr.results.experiment import Experiment
from torr.results.functions import LeakTable, MachineSpeed
from torr.results.level import Level
from torr.results.profile import Profile
from torr.results.series import LevelSeries
from torr.results.serving import AfterGivingUp, ServingCause
from torr.results.tuning import TrialPlace, TuningOutcome
from torr.results.upgrade import upgraded, upgraded_plans
from torr.results.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA: Final = 2
Kind = Literal["run", "ladder", "compare", "tune", "diff", "locust", "micro"]
Status = Literal["complete", "interrupted", "failed", "running"]


class TrialFailure(ResultPart, kw_only=True):
    """A trial that could not be measured, or whose server could not be cleaned up."""

    candidate: str
    factors: Factors = {}
    round: Count
    place: Annotated[
        TrialPlace | UnsetType, Meta(description="of a trial of a tuning; absent otherwise")
    ] = UNSET
    measured: Annotated[
        bool,
        Meta(description="its level is stored: the failure came during or after the level"),
    ] = False
    kind: str
    text: Message
    hint: Message | None = None
    log_tail: list[str] = []


class Conclusions(ResultPart, kw_only=True):
    """The conclusions of a result."""

    ended_by: Annotated[
        str | None,
        Meta(description="what ended the load before its end"),
    ] = None
    capacity: Capacity | None = None
    verdicts: list[Verdict] = []
    series: Annotated[
        list[LevelSeries], Meta(description="of a diff: both sides, the baseline first")
    ] = []
    fail_if: Annotated[list[Verdict], Meta(description="of a diff: its limits of change")] = []
    budgets: list[Verdict] = []
    leaks: list[LeakTable] = []
    machine_speed: MachineSpeed | None = None
    serving: Annotated[
        list[ServingCause],
        Meta(description="causes that the numbers of LLM servers and GPUs show"),
    ] = []
    after_giving_up: Annotated[
        list[AfterGivingUp] | UnsetType,
        Meta(description="of each level at which users gave up (--cancel); absent if none did"),
    ] = UNSET
    tuning: Annotated[
        TuningOutcome | UnsetType, Meta(description="of a tuning; absent otherwise")
    ] = UNSET

    @property
    def slo_verdicts(self) -> list[Verdict]:
        """The verdicts of SLOs, without comparisons."""
        return [verdict for verdict in self.verdicts if verdict.condition]


class RunHead(ResultPart, kw_only=True):
    """The part of a result that is known before the load.

    A run has an id, a name and a start from when its directory is created.
    """

    kind: Kind = "run"
    note: str | None = None
    tags: list[str] = []
    environment: JsonObject = {}
    command: list[str] = []
    plan: JsonObject | None = None
    experiment: Experiment = field(default_factory=Experiment)
    id: str | None = None
    name: str = ""
    started: str = ""


class RunResult(Conclusions, kw_only=True):
    """A result: what one run measured and concluded."""

    schema_: Literal[2] = field(name="schema")
    torr: str
    id: Annotated[str | None, Meta(description="what tells it from every other run")] = None
    kind: Kind
    name: str
    started: str
    ended: str | None = None
    status: Status
    command: list[str] = []
    plan: JsonObject | None = None
    note: str | None = None
    tags: list[str] = []
    environment: JsonObject = {}
    experiment: Experiment = field(default_factory=Experiment)
    levels: list[Level] = []
    failures: list[TrialFailure] = []
    profiles: list[Profile] = []

    def __post_init__(self) -> None:
        """Check the time stamps."""
        _check_moment("started", self.started)
        _check_moment("ended", self.ended)


def _check_moment(name: str, moment: str | None) -> None:
    try:
        if moment is not None:
            read_stamp(moment)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


_HINT = say("give a run directory or its result.json")

_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)

AnyResult = TypeVar("AnyResult", bound=RunResult)


class _Version(msgspec.Struct):
    """The key of a result that all versions of torr understand."""

    schema: int = 0


def read(path: Path) -> RunResult:
    """Return the result of a `result.json`; raise UsageError that names the file and the key."""
    return read_as(RunResult, path)


def read_as(kind: type[AnyResult], path: Path) -> AnyResult:
    """Return the result of a `result.json` as a given class; raises as `read` does."""
    try:
        text = read_bounded(path, MOST_RESULT_BYTES)
    except OSError as error:
        raise UsageError(
            say("{path} cannot be read: {strerror}", path=path, strerror=error.strerror)
        ) from error
    return decoded_as(kind, text, str(path))


def decoded(text: bytes, source: str) -> RunResult:
    """Return the result that a text holds; its texts are fit to be printed.

    `source` is what messages call the text. Raises ResultError that names the first wrong key, or
    that says that a newer torr wrote the text.
    """
    return decoded_as(RunResult, text, source)


def decoded_as(kind: type[AnyResult], text: bytes, source: str) -> AnyResult:
    """Return the result that a text holds as a given class; raises as `decoded` does."""
    try:
        with paused_collector():
            result = _of_any_schema(text, kind)
            experiment = result.experiment
            free_form = (experiment.candidates, experiment.answers)
            for part in (result.plan, result.environment, *free_form):
                check_depth(part)
            cleaned: AnyResult = Outside().part(result)
    except msgspec.ValidationError as error:
        if (schema := _schema_of_text(text)) > SCHEMA:
            raise _newer(source, schema) from error
        raise _no_result(source, _explained(error)) from error
    except JsonInputError as error:
        raise _no_result(source, str(error)) from error
    except UnicodeEncodeError as error:
        raise _no_result(source, "a key has half of a character") from error
    return cleaned


def _no_result(source: str, why: str) -> ResultError:
    text = message("result.none", "{source} is not a result of torr: {why}", source=source, why=why)
    return ResultError(text, _HINT)


def _newer(source: str, schema: int) -> ResultError:
    text = message(
        "result.newer",
        "{source} was made by a newer torr (its schema is {schema}, this torr reads {known})",
        source=source,
        schema=schema,
        known=SCHEMA,
    )
    return ResultError(text, say("update torr"))


def _of_any_schema(text: bytes, kind: type[AnyResult]) -> AnyResult:
    try:
        return _decode(text, kind)
    except msgspec.ValidationError:
        if _schema_of_text(text) != 1:
            raise
    members = upgraded_plans(upgraded(parse_json(text), kind))
    return convert({**members, "schema": SCHEMA}, kind)


def _schema_of_text(text: bytes) -> int:
    """Return the schema of a result that cannot be decoded; 0 where it has none."""
    try:
        return msgspec.json.decode(text, type=_Version).schema
    except _UNREADABLE:
        return 0


def encoded(result: RunResult) -> bytes:
    """Return the text of `result.json`."""
    return encode(result)


def _decode(text: bytes, kind: type[AnyResult]) -> AnyResult:
    try:
        return msgspec.json.decode(text, type=kind, dec_hook=decode_message)
    except msgspec.ValidationError:
        raise
    except _UNREADABLE:
        # Python also writes and reads halves of a character (lone surrogates).
        return convert(parse_json(text), kind)


def _explained(error: msgspec.ValidationError) -> str:
    """Return what is wrong, after its path: `levels[0].concurrency: Expected …`."""
    text, _, place = str(error).partition(" - at `")
    return f"{place.rstrip('`').removeprefix('$.')}: {text}" if place else text


def schema_text() -> str:
    """Return the JSON Schema of `result.json` as the text of docs/reference/result.schema.json."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(RunResult, schema_hook=_schema_of),
    }
    schema["$defs"]["Message"] = _message_schema()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _schema_of(kind: type) -> dict[str, Any]:
    """Return the schema of a type that msgspec does not know: only messages are such."""
    if kind is not Message:
        raise NotImplementedError(f"{kind} in a result")
    return {"$ref": "#/$defs/Message"}


def _message_schema() -> dict[str, Any]:
    texts = {"code": {"type": "string"}, "values": {"type": "object"}, "text": {"type": "string"}}
    members = {"type": "object", "properties": texts, "required": list(texts)}
    return {
        "title": "Message",
        "description": "a sentence, with a code and typed values of which any language can be made",
        "anyOf": [{"type": "string"}, members],
    }


def write_schema(path: Path) -> None:
    """Write the JSON Schema of `result.json` to `path`."""
    path.write_text(schema_text(), encoding="utf-8")
