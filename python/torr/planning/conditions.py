"""Checks of conditions before a load: those that the load can never decide are refused."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.model.slo_preset import read_slos
from torr.sources.entry import errors_at
from torr.sources.toml_table import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from torr.model.condition import Condition
    from torr.model.request import Request
    from torr.model.transport import HttpVersion
    from torr.options.result import ResultOptions
    from torr.sources.plan_file import PlanFile

_OF_HTTP2 = ("stream_wait", "window_wait")


def check_conditions(conditions: Sequence[Condition], requests: Sequence[Request]) -> None:
    """Refuse a condition on a request that is not sent, that is no stream, or that has no SLO."""
    for condition in conditions:
        matching = _requests_of(condition, requests)
        if condition.is_of_streams:
            _check_streams(condition, matching)
        if condition.metric in ("goodput", "good/s"):
            require(
                any(request.limits for request in matching),
                say(
                    "{condition} needs an SLO of latency, which defines a good response",
                    condition=_text(condition),
                ),
                say("add one, such as --slo 'ttft p95 < 800ms'"),
            )


def check_measured(
    conditions: Sequence[Condition], requests: Sequence[Request], http: HttpVersion
) -> None:
    """Refuse a condition on a time that the protocol of its requests does not have."""
    for condition in conditions:
        said = {"condition": _text(condition), "metric": condition.metric}
        if condition.metric == "tls":
            schemes = {request.parsed_url.scheme for request in _requests_of(condition, requests)}
            require(
                not schemes.isdisjoint(("https", "wss")),
                say("{condition}: only https:// and wss:// URLs have {metric}", **said),
            )
        if condition.metric in _OF_HTTP2:
            require(
                http != "1.1",
                say("{condition}: only HTTP/2 has {metric}", **said),
                say("add --http 2, or --http 2c without TLS"),
            )
        if condition.metric == "window_wait":
            require(
                any(r.body is not None or r.grpc for r in _requests_of(condition, requests)),
                say("{condition}: only requests with a body have {metric}", **said),
                say("add a body, or give stream_wait: the wait for a free stream"),
            )
        if condition.metric == "message":
            calls = [r.grpc for r in _requests_of(condition, requests) if r.grpc]
            require(
                any(call.measures_messages for call in calls),
                say(
                    "{condition}: only gRPC calls whose messages alternate or are paced have"
                    " {metric}",
                    **said,
                ),
                say("choose a bidirectional method, or add --message-interval TIME"),
            )


def check_abort_conditions(conditions: Sequence[Condition], requests: Sequence[Request]) -> None:
    """Refuse the same of conditions that end a load, and those on a named request.

    They are judged by intervals, which have no numbers by name.
    """
    check_conditions(conditions, requests)
    for condition in conditions:
        require(
            condition.name is None,
            say(
                "--abort-on {condition!r}: intervals do not tell requests apart",
                condition=_text(condition),
            ),
            say("leave out the name, or give it as --slo, which is judged at the end"),
        )


def check_at_lines(file: PlanFile, result: ResultOptions, requests: Sequence[Request]) -> None:
    """Refuse SLOs and abort conditions; one of the plan file is refused at its line."""
    for condition in result.slos:
        with _errors_at_condition(file, condition):
            check_conditions([condition], requests)
    for condition in result.abort_on:
        with _errors_at_condition(file, condition):
            check_abort_conditions([condition], requests)


def _requests_of(condition: Condition, requests: Sequence[Request]) -> list[Request]:
    if condition.name is None:
        return list(requests)
    matching = [request for request in requests if request.name == condition.name]
    if matching:
        return matching
    names = sorted({request.name for request in requests})
    raise UsageError(
        say(
            "{condition!r}: no request is named {name!r}",
            condition=_text(condition),
            name=condition.name,
        ),
        did_you_mean(condition.name, names) or say("known names: {names}", names=", ".join(names)),
    )


def _check_streams(condition: Condition, requests: Sequence[Request]) -> None:
    subject = "no response" if condition.name is None else f"no response of {condition.name}"
    hint = say("set stream where the request is written")
    if condition.name is None:
        hint = say("add --stream, or --chat")
    if any(request.grpc for request in requests):
        hint = say("choose a method whose response is a stream")
    require(
        any(request.stream for request in requests),
        say(
            "{condition}: {subject} is a stream, and only streams have {metric}",
            condition=_text(condition),
            subject=subject,
            metric=condition.metric,
        ),
        hint,
    )


def _text(condition: Condition) -> str:
    text = condition.text or str(condition)
    return f"{text} ({condition.preset})" if condition.preset else text


def _errors_at_condition(file: PlanFile, condition: Condition) -> AbstractContextManager[None]:
    for key in ("slo", "abort_on"):
        value = file.flags.get(key, [])
        texts = value if isinstance(value, list) else [value]
        for number, text in enumerate(texts):
            if condition in read_slos(str(text)):
                return errors_at(file.path, line_of(file.lines, f"{key}.{number}"))
    return nullcontext()
