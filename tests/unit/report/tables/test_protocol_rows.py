"""Tables of settings say the version of HTTP and the methods of gRPC."""

import compared
import results
import typed
from page import titles
from torr.report.tables import comparison_facts, level_table, protocol_rows

SOCKETS = {"closed": 0}


def with_http(result, *versions, **level):
    """Return a result whose levels have these versions of HTTP."""
    changes = {at: {"http": version, **level} for at, version in enumerate(versions)}
    return typed.patched(result, levels=changes)


def test_a_run_of_calls_says_its_version_of_http_and_its_method(called):
    rows = dict(level_table.throughput(called.levels[0], protocol_rows.protocol(called)).rows)
    assert rows["version of HTTP"] == "2 without TLS"
    assert rows["method of gRPC"] == "torr.Echo/Bidirectional"


def test_other_loads_have_a_version_of_http_alone(run):
    (row,) = protocol_rows.protocol(with_http(run, "1.1"))
    assert row == ("version of HTTP", "1.1")
    (row,) = protocol_rows.protocol(with_http(run, "1.1", websocket=SOCKETS))
    assert row == ("version of HTTP", "1.1, then WebSocket")


def test_what_is_not_known_has_no_row(run, ladder):
    assert protocol_rows.protocol(run) == []
    assert protocol_rows.configuration(ladder) is None
    assert "Configuration" not in titles(ladder)


def test_a_ladder_says_it_in_a_table_of_its_own(called_ladder):
    assert protocol_rows.configuration(called_ladder).rows == (
        ("version of HTTP", "2 without TLS"),
        ("method of gRPC", "torr.Echo/Bidirectional"),
    )
    assert "Configuration" in titles(called_ladder, is_folded=True)


def test_a_comparison_says_it_of_all_candidates():
    call = {**results.CALL, "url": "http://127.0.0.1:1/shop.Cart/Add"}
    plans = [
        {"groups": [{"source": {"kind": "in_turn", "requests": [request, {"name": "other"}]}}]}
        for request in (results.CALL, call)
    ]
    made = with_http(compared.pair(0.88), "2", "2c")
    candidates = {name: {"plan": plan} for name, plan in zip(("a", "b"), plans, strict=True)}
    rows = dict(
        comparison_facts.configuration(
            typed.patched(made, experiment={"candidates": candidates})
        ).rows
    )
    assert rows["version of HTTP"] == "2, 2 without TLS"
    assert rows["method of gRPC"] == "torr.Echo/Bidirectional, shop.Cart/Add"
