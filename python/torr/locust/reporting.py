"""How sheets travel: with each of a worker's reports, and at once when its test has ended.

Under Locust's own master they are one key more in a report, which nobody reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from locust.env import Environment
    from locust.runners import MasterRunner, WorkerRunner

    from torr.locust.bookkeeper import Bookkeeper

KEY = "torr"


def send_sheets(environment: Environment, runner: WorkerRunner, books: Bookkeeper) -> None:
    """Have a worker's sheets sent to its master."""

    def add_sheet(data: dict[str, Any], **_more: object) -> None:
        data[KEY] = {"sheet": books.ledger.sheet(), "is_over": False}

    def send_last(**_more: object) -> None:
        sheet = books.ledger.sheet()
        if sheet is not None:
            runner.send_message(KEY, {"sheet": sheet, "is_over": True})

    environment.events.report_to_master.add_listener(add_sheet)
    # After the books were closed: listeners are called in the order in which they came.
    environment.events.test_stop.add_listener(send_last)


def take_sheets(
    environment: Environment,
    runner: MasterRunner,
    take: Callable[[str, bytes | None, bool], None],
) -> None:
    """Have `take` called with the sheets of each worker, and whether it was the last one."""

    def take_report(client_id: str, data: dict[str, Any], **_more: object) -> None:
        part = data.pop(KEY, None)
        if part:
            take(client_id, part["sheet"], part["is_over"])

    def take_last(msg: Any, **_more: object) -> None:
        take(msg.node_id, msg.data["sheet"], msg.data["is_over"])

    environment.events.worker_report.add_listener(take_report)
    runner.register_message(KEY, take_last)
