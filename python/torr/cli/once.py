"""`torr run --once`: one request, and both sides of it as they went over the wire."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import click

from torr import units
from torr.cli.streams import show_notes
from torr.model.outside import Outside
from torr.planning.once import require_answer, send_once
from torr.planning.plan import plan_of
from torr.planning.secrets import secrets_of_plan

if TYPE_CHECKING:
    from torr.options.measure import MeasureOptions


def once(options: MeasureOptions) -> None:
    """Send one request and print what came of it; no complete answer is an error."""
    planned = plan_of(options)
    show_notes(planned.notes)
    plan = planned.plan
    found = send_once(plan)
    # What was never sent is not shown as if it had been.
    if options.once.verbose and found["class"] not in {"connect", "tls", "dns"}:
        outside = Outside().with_secrets(secrets_of_plan(plan))
        click.echo(_side("> ", found["request"], outside))
        click.echo(_side("< ", found["response"], outside))
    require_answer(plan, found)
    click.echo(_summary(found))


def _side(mark: str, text: str, outside: Outside) -> str:
    """One side of an exchange as others may read it."""
    content = base64.b64decode(text)
    head, blank, body = content.partition(b"\r\n\r\n")
    lines = [mark + line for line in outside.text(head.decode("latin-1")).split("\r\n")]
    if blank:
        lines += [mark.rstrip(), *(_body(body, outside))]
    return "\n".join(lines) + "\n"


def _body(body: bytes, outside: Outside) -> list[str]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return [f"({len(body):,} bytes that are not text)"]
    return [outside.text(text)] if text else []


def _summary(found: dict[str, Any]) -> str:
    times = [
        f"{name} {units.show_ms(found[key])}"
        for name, key in (
            ("connect", "connect_ms"),
            ("TLS", "tls_ms"),
            ("first byte", "ttfb_ms"),
            ("whole answer", "service_ms"),
        )
        if found.get(key) is not None
    ]
    marks = {"check": f" ({found['reason']})", "status": " (not accepted)"}
    failed = marks.get(found["class"], "")
    return f"{found['status']}{failed} from {found['address']}: {', '.join(times)}"
