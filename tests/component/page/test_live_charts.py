"""What the live page draws of a run while it goes on."""

import pytest
from playwright.sync_api import expect

import results
import typed
from live_events import interval_of, measured, progress
from tiers import full
from torr.report.view import view
from torr.webserver.live.page import generator_of


def test_intervals_are_drawn_as_they_come_and_the_report_stays_at_the_end(visit, events, address):
    result = results.run()
    level = result.levels[0]
    opened = visit(address)
    page = opened.page
    events.send("progress", progress(0.5, 11.5, is_warmup=True))
    page.get_by_text("12 s left · warm-up").wait_for()
    events.send("interval", interval_of(level, 2))
    page.get_by_text("ok/s 2,150").wait_for()
    page.locator(".live-charts canvas").nth(2).wait_for()
    top = page.locator(".live-charts").bounding_box()["y"]
    for at in range(3, 8):
        events.send("interval", interval_of(level, at))
    events.send("progress", progress(6.0, 6.0))
    page.get_by_text("6 s left").wait_for()
    opened.shot("live")
    assert page.locator(".live-charts").bounding_box()["y"] == top
    events.send("end", view.run(result))
    page.locator("h1").wait_for()
    assert page.locator("h1").text_content().startswith("Answers 2,150 requests/s")
    assert page.locator(".live").count() == 0
    assert opened.complaints == []


def test_finished_levels_are_a_report_below_the_level_being_measured(visit, events, address):
    ladder = results.ladder()
    page = visit(address).page
    levels = ladder.levels
    so_far = results.result("ladder", levels[:3], ended=None, status="running")
    events.send("run", view.run(so_far))
    page.locator("h1").wait_for()
    events.send("progress", progress(30.0, 50.0, level=3, levels=8))
    events.send("interval", interval_of(levels[3], 4, 3))
    page.get_by_text("50 s left · level 4 of 8").wait_for()
    page.locator(".live-charts canvas").first.wait_for()
    assert page.locator("h1").count() == 1
    # What is known so far stands above what is measured now.
    charts = page.locator(".live-charts").bounding_box()["y"]
    assert page.locator("h1").bounding_box()["y"] < charts
    assert page.locator(".live-verdict .trust").bounding_box()["y"] < charts
    assert page.locator(".report tbody").first.locator("tr").count() == 3


def test_the_axis_of_every_level_is_as_long_as_the_level(visit, events, address, written):
    level = results.run().levels[0]
    opened = visit(address, script=written.script)
    page = opened.page
    for index, end in enumerate((40, 60)):
        window = {"from_s": -2.0, "to_s": float(end)}
        events.send("progress", progress(1.0, 90.0, level=index, levels=2, **window))
        for second in (-2, -1, 0, 1, 2, 3, 4):
            phase = "warmup" if second < 0 else "measure"
            more = {"phase": phase, "ok_per_s": 100.0 * index + second + 10}
            events.send("interval", measured(level, float(second), index, **more))
            page.get_by_text(f"ok/s {100 * index + second + 10}").first.wait_for()
            for chart in range(3):
                ticks = written.ticks(page, chart)
                assert float(ticks[0]) <= 0, (index, second, chart)
                assert ticks[-1] == str(end), (index, second, chart)
    opened.shot("live-ladder-axis")


def test_the_axis_of_a_level_of_unknown_end_grows_in_steps(visit, events, address, written):
    level = results.run().levels[0]
    page = visit(address, script=written.script).page
    events.send("progress", progress(1.0, None, to_s=None))
    for second, last in ((0, "10"), (4, "10"), (11, "20"), (19, "20"), (30, "50")):
        events.send("interval", measured(level, float(second), ok_per_s=second + 10.0))
        page.get_by_text(f"ok/s {second + 10}").first.wait_for()
        assert written.ticks(page, 0)[-1] == last


def test_an_axis_of_numbers_never_shrinks_and_lines_that_come_are_named(
    visit, events, address, written
):
    level = results.run().levels[0]
    page = visit(address, script=written.script).page
    for second, rate, counts in (
        (0, 5000.0, {"ok": 5000, "errors": {}}),
        (1, 50.0, {"ok": 50, "errors": {"timeout": 7}}),
    ):
        events.send(
            "interval", measured(level, float(second), second, ok_per_s=rate, counts=counts)
        )
        page.get_by_text(f"ok/s {rate:,.0f}").first.wait_for()
    assert {"4,000", "5,000"} & set(written.all(page, 1))
    errors = page.locator(".live-charts .chart-head").nth(2)
    assert errors.locator("h3").text_content() == "errors/s, by class"
    assert errors.locator("li").all_text_contents() == ["timeout"]


def test_what_was_chosen_and_the_focus_outlive_a_level(visit, events, address):
    levels = results.ladder().levels
    opened = visit(address)
    page = opened.page

    def finish(count):
        so_far = results.result("ladder", levels[:count], ended=None, status="running")
        events.send("run", view.run(so_far))
        expect(page.locator(".report tbody").first.locator("tr")).to_have_count(
            count, timeout=60_000
        )

    finish(3)
    rate = page.locator(".report th", has_text="ok/s").first
    rate.locator("button").click()
    page.locator("details[data-id=distributions] summary").click()
    page.locator("#group").select_option(index=0)
    chosen = page.locator("#group").input_value()
    scale = page.locator("figure.main").get_by_role("button", name="log scale").first
    scale.click()
    rate.locator("button").focus()
    finish(5)
    assert rate.get_attribute("aria-sort") == "descending"
    cells = page.locator(".report tbody").first.locator("tr td:nth-child(2)").all_text_contents()
    assert cells == sorted(cells, key=lambda text: -float(text.replace(",", "")))
    assert page.locator("#group").input_value() == chosen
    assert scale.get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.textContent") == "ok/s"
    events.send("end", view.run(results.ladder()))
    page.locator(".live").wait_for(state="detached")
    assert rate.get_attribute("aria-sort") == "descending"
    assert page.locator("details[data-id=distributions]").get_attribute("open") is not None
    assert opened.complaints == []


@pytest.mark.parametrize("look", ["wide", *full("narrow")])
def test_a_comparison_shows_its_candidates_below_the_trial_that_goes_on(
    visit, events, address, kinds, look
):
    level = results.run().levels[0]
    opened = visit(address, look)
    page = opened.page
    events.send("run", view.run(typed.changed(kinds["compare"](), status="running", ended=None)))
    events.send("progress", progress(100.0, 50.0, level=9, levels=12, from_s=-2.0))
    for second in range(5):
        more = {"ok_per_s": 900.0 + second, "connections_open": 50}
        events.send("interval", measured(level, float(second), 9, **more))
    page.get_by_text("ok/s 904").wait_for()
    charts = page.locator(".live-charts").bounding_box()
    assert page.locator("h1").bounding_box()["y"] < charts["y"]
    assert page.locator(".report figure.main").bounding_box()["y"] >= charts["y"] + charts["height"]
    opened.shot(f"live-compare-{look}")
    assert opened.complaints == []


def test_limits_connections_and_the_generator_are_shown_from_the_first_interval(
    visit, events, address, written
):
    level = results.run().levels[0]
    page = visit(address, script=written.script).page
    begun = results.result("run", [], experiment={"slos": ["p95 < 60ms"]})
    events.send("run", view.run(begun))
    events.send("progress", progress(1.0, 9.0))
    events.send("interval", measured(level, 0.0, connections_open=50))
    page.locator(".live-charts canvas").nth(3).wait_for()
    assert "SLO p95 < 60ms" in written.all(page, 0)
    assert page.locator(".live-charts h3").nth(3).text_content() == "Connections over time"
    said = page.locator(".generator .trust")
    assert "busiest worker 61" in said.text_content()
    assert "healthy" not in said.get_attribute("class")
    full = generator_of(typed.interval(health={"worker_cpu_rate": [98.0]}))
    events.send("progress", progress(2.0, 8.0, generator=full))
    page.locator(".generator .trust.contended").wait_for()
    events.send("progress", progress(9.0, 0.0))
    page.locator(".generator .trust.unknown").wait_for()


def test_before_the_first_level_has_ended_nothing_is_claimed(visit, events, address):
    page = visit(address).page
    events.send("run", view.run(results.result("ladder", [])))
    events.send("progress", progress(1.0, 90.0, levels=8))
    page.get_by_text("No level is finished yet.").wait_for()
    assert page.locator("h1").count() == 0
