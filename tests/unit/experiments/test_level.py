"""What is kept of a level is fit to be written to disk."""

from __future__ import annotations

from torr.experiments.level import _redacted, secrets_of
from torr.model.pace import Closed
from torr.model.plan import Count, Group, Plan
from torr.model.request import Request
from torr.model.source import Source


def plan_with(*headers):
    request = Request("http://127.0.0.1:9/", headers=headers)
    return Plan((Group(Closed(1), Source.of(request)),), Count(1))


def test_secrets_are_the_values_of_secret_headers_with_and_without_their_scheme():
    plan = plan_with(("authorization", "Bearer sk-LEAKED-123"), ("x-user", "ann"), ("cookie", "a"))
    assert secrets_of(plan) == ["Bearer sk-LEAKED-123", "sk-LEAKED-123"]


def test_a_secret_that_comes_back_in_an_answer_is_not_kept():
    sample = {
        "class": "stream",
        "detail": "",
        "head": "x-echo: sk-LEAKED-123",
        "body": '{"error":{"message":"bad key Bearer sk-LEAKED-123"}}',
    }
    kept = _redacted(sample, ["Bearer sk-LEAKED-123", "sk-LEAKED-123"])
    assert "LEAKED" not in str(kept)
    assert kept["body"] == '{"error":{"message":"bad key ***"}}'
    assert kept["class"] == "stream"
