"""What goes through torr's clients is in the run as Locust counts it, row by row."""

from __future__ import annotations

import json

REASONS = {
    "GET refused": "connect.refused",
    "GET unknown": "connect.other",
    "GET judged": "check.locustfile",
    "GET fast refused": "connect.refused",
}


def counted(out):
    """What Locust's own statistics say: requests and failures by name."""
    rows = json.loads(out[out.index("[\n    {") :])
    return {
        f"{row['method']} {row['name']}": (row["num_requests"], row["num_failures"]) for row in rows
    }


def test_the_run_counts_every_request_that_locust_counts(locust, target):
    asked = ("-H", target.url, "-u", "8", "-r", "8", "-t", "2s", "--json")
    ended = locust("locustfile_requests", *asked)
    level = ended.level
    steps = {step["name"]: step for step in level["steps"]}
    kept = {
        name: (step["counts"]["attempted"], sum(step["counts"]["errors"].values()))
        for name, step in steps.items()
    }
    assert kept == counted(ended.out)
    assert [name for name, step in steps.items() if step.get("event")] == ["OWN told"]
    own, _ = kept.pop("OWN told")
    assert own == kept["GET told"][0]
    assert level["counts"]["attempted"] == sum(requests for requests, _ in kept.values())
    for name, reason in REASONS.items():
        assert steps[name]["reasons"] == {reason: kept[name][1]}
    # What was sent has times of its sockets.
    assert steps["GET /ok"]["latency"]["service_ms"]["n"] == kept["GET /ok"][0]
    assert steps["GET fast"]["latency"]["ttfb_ms"]["n"] == kept["GET fast"][0]
