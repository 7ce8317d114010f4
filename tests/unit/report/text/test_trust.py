"""How far a result can be trusted, in one line."""

import pytest

import typed
from ladders import ROWS, levels
from torr.messages.message import message
from torr.report.text import trust


def test_trust_names_health_rounds_and_spread(ladder):
    assert trust.trust(ladder) == (
        "Healthy: the generator had room · busiest worker 61 % of a core · "
        "1 round: spread of intervals 2.8 %, run-to-run variance not measured."
    )
    assert trust.health(ladder) == "healthy"


def test_trust_is_never_healthy_when_a_level_was_limited(limited_ladder):
    assert trust.health(limited_ladder) == "generator-limited"
    assert trust.trust(limited_ladder).startswith(
        "Generator-limited at 800 and 1,600 connections, which claim nothing "
        "(thread CPU 97 %: give it more cores with --workers) · "
    )


def test_trust_does_not_call_a_level_without_claim_whose_other_rounds_claim(
    make_level, make_result
):
    made = [make_level(20, 9.0, 1.0, round=at) for at in (1, 2, 3)]
    made[0] = make_level(20, 99.0, 1.0, verdict="generator-limited", reasons=["late"])
    said = trust.trust(make_result("ladder", made))
    assert said.startswith("Generator-limited in 1 round at 20 connections, left out (late) · ")


def test_trust_says_contended_and_why(make_level, make_result):
    made = levels(make_level, *ROWS, verdict="contended", reasons=["run-queue wait 14 %"])
    found = make_result("ladder", made, status="interrupted")
    assert trust.trust(found).startswith(
        "Contended: client and target share this machine, rates are ≥ (run-queue wait 14 %) · "
    )
    assert trust.trust(found).endswith("interrupted: everything measured until then is stored.")


def test_trust_calls_the_steal_of_a_level_a_mean(make_level, make_result):
    made = levels(make_level, *ROWS[:2])
    made[0] = typed.patched(made[0], health={"steal_rate": 1.644})
    assert "steal" not in trust.trust(make_result("ladder", made[1:]))
    assert trust.trust(make_result("run", made[:1])).endswith(" · steal 1.64 % on average.")
    said = " · steal 1.64 % on average at the level with the most."
    assert trust.trust(make_result("ladder", made)).endswith(said)


def test_trust_gives_the_spread_of_rounds_and_steal(make_level, make_result):
    rounds = [make_level(5, rate, 1.0, round=n) for n, rate in enumerate((100.0, 110.0), 1)]
    rounds[0] = typed.patched(rounds[0], health={"steal_rate": 7.5})
    assert (
        "2 rounds, spread 6.7 % · steal 7.5 % on average at the level with the most"
        in trust.trust(make_result("ladder", rounds))
    )


def test_trust_names_the_warnings_of_the_levels_once(make_level, make_result):
    made = [make_level(n, 9.0, 1.0, warnings=["the log ends early: disk full"]) for n in (1, 2)]
    assert trust.trust(make_result("ladder", made)).count("the log ends early: disk full") == 1


@pytest.mark.parametrize(
    ("kind", "others"), [("ladder", "2 other levels"), ("compare", "2 other trials")]
)
def test_trust_names_the_first_of_warnings_that_differ_in_their_figures(
    make_level, make_result, kind, others
):
    def warned(number):
        warning = message("warning.few", "{n} of 9 are too short", n=number)
        other = message("warning.other", "the log ends early")
        return make_level(number, 9.0, 1.0, warnings=[warning, other])

    said = trust.trust(make_result(kind, [warned(number) for number in (3, 5, 7)]))
    assert said.endswith(f" · 3 of 9 are too short (similar at {others}) · the log ends early.")


def test_trust_names_the_nodes_that_sent_the_load(make_level, make_result):
    def sent_by(count):
        nodes = [{"name": f"n{number}", "processes": 1} for number in range(count)]
        made = [make_level(n, 9.0, 1.0, generator={"nodes": nodes}) for n in (1, 2)]
        return trust.trust(make_result("ladder", made))

    assert sent_by(3).endswith(" · sent by n0, n1 and n2.")
    assert sent_by(12).endswith(" · sent by 12 nodes.")
    assert "sent by" not in sent_by(0)


def test_trust_names_the_levels_at_which_users_starved_and_the_worst(make_level, make_result):
    made = [make_level(n, 9.0, 1.0, starved=n - 20) for n in (20, 40, 80)]
    assert (
        "users starved at 40 and 80 connections, which claim nothing "
        "(60 of 80 users got no response in the window)"
    ) in trust.trust(make_result("ladder", made))


def test_trust_names_a_few_starved_users_of_a_level_that_claims(make_level, make_result):
    said = trust.trust(make_result("run", [make_level(1000, 9.0, 1.0, starved=2)]))
    assert "users starved at 1,000 connections (2 of 1,000 users got no response" in said


def test_trust_names_starved_levels_that_were_interrupted_before_any_attempt(
    make_level, make_result
):
    counts = {"planned": 0, "attempted": 0, "ok": 0, "dropped": 0, "in_flight": 0, "errors": {}}
    made = [make_level(2, 0.0, 1.0, starved=2, counts=counts, interrupted=True)]
    assert "users starved at 2 connections" in trust.trust(make_result("run", made))


def test_trust_tells_of_failures_where_the_verdict_claims_nothing(make_level, make_result):
    counts = {"planned": 9, "attempted": 9, "ok": 2, "dropped": 0, "in_flight": 1}
    counts |= {"errors": {"status": 6}}
    level = make_level(5, 2.0, 1.0, verdict="generator-limited", counts=counts)
    level = typed.changed(level, reasons={"status.500": 6})
    assert "6 of 8 requests failed, most by status.500" in trust.trust(make_result("run", [level]))
    healthy = make_level(5, 2.0, 1.0, counts=counts)
    assert "requests failed" not in trust.trust(make_result("run", [healthy]))
