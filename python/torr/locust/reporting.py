"""Send tallies with each report of a worker, and once more when its test has ended.

They are an additional key in a report, which a master without torr ignores.

"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from locust.env import Environment
    from locust.runners import MasterRunner, WorkerRunner

    from torr.locust.recorder import RequestRecorder

KEY = "torr"


def send_tallies(environment: Environment, runner: WorkerRunner, recorder: RequestRecorder) -> None:
    """Send the tallies of a worker to its master."""
    users = 0

    def add_tally(data: dict[str, Any], **_more: object) -> None:
        data[KEY] = {"tally": recorder.tally.take_report(), "is_over": False}

    def count_users(**_more: object) -> None:
        nonlocal users
        users = runner.user_count

    def send_last(**_more: object) -> None:
        # Also without a tally, if a periodic report just had all counts: the master waits for it.
        tally = recorder.tally.take_report()
        runner.send_message(KEY, {"tally": tally, "is_over": True, "users": users})

    environment.events.report_to_master.add_listener(add_tally)
    # In a short test this is the only report of the users.
    environment.events.test_stopping.add_listener(count_users)
    # Listeners are called in the order in which they were added: the recorder has stopped before.
    environment.events.test_stop.add_listener(send_last)


def receive_tallies(
    environment: Environment,
    runner: MasterRunner,
    add_report: Callable[[str, bytes | None, bool, int], None],
) -> None:
    """Call `add_report` with each report of a worker: tally, whether it was the last, and users.

    Only the last report has users; Locust reports them until then.
    """

    def take_report(client_id: str, data: dict[str, Any], **_more: object) -> None:
        part = data.pop(KEY, None)
        if part:
            add_report(client_id, part["tally"], part["is_over"], 0)

    def take_last(msg: Any, **_more: object) -> None:
        add_report(msg.node_id, msg.data["tally"], msg.data["is_over"], msg.data.get("users", 0))

    environment.events.worker_report.add_listener(take_report)
    runner.register_message(KEY, take_last)
