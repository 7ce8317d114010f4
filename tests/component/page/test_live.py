"""The live page against a server that sends the events of a run: its connection, Stop, words."""

import pytest

import results
from installed import wait_until
from live_events import GIVEN, interval_of, measured, progress
from torr.report.view import view


def test_a_lost_connection_is_said_and_taken_up_where_it_was(visit, events, address):
    level = results.run().levels[0]
    page = visit(address).page
    events.send("interval", interval_of(level, 2))
    page.get_by_text("ok/s 2,150").wait_for()
    events.cut()
    events.send("interval", interval_of(level, 4))
    page.get_by_text(f"ok/s {level.intervals[4].ok_per_s:,.0f}").wait_for()
    assert list(events.asked) == [None, "0-0"]
    assert page.locator(".connection-status").text_content() == ""


def test_a_page_that_is_left_open_takes_up_the_next_run_on_its_port(visit, events, address):
    level = results.run().levels[0]
    page = visit(address).page
    events.send("run", view.run(results.result("ladder", [], name="first", id="1")))
    events.send("interval", interval_of(level, 2, 4))
    page.get_by_text("ok/s 2,150").wait_for()
    events.begin_anew()
    events.send("run", view.run(results.result("run", [], name="second", id="2")))
    events.send("interval", measured(level, 0.0, ok_per_s=77.0))
    page.get_by_text("ok/s 77").wait_for()
    assert page.locator(".live strong").text_content() == "second"


def test_a_reload_has_everything_again(visit, events, address):
    level = results.run().levels[0]
    page = visit(address).page
    events.send("interval", interval_of(level, 2))
    page.get_by_text("ok/s 2,150").wait_for()
    page.reload()
    page.get_by_text("ok/s 2,150").wait_for()
    assert list(events.asked) == [None, None]


def test_the_language_that_was_chosen_stays_after_a_reload(visit, events, address):
    page = visit(address).page
    events.send("run", view.run(results.run()))
    page.get_by_role("button", name="中文").first.click()
    page.reload()
    page.locator("h1").wait_for()
    assert page.locator("html").get_attribute("lang") == "zh"


def test_stop_is_asked_for_with_the_token(visit, events, address):
    page = visit(address).page
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Stopping…").wait_for()
    wait_until(lambda: list(events.stopped) == [("/stop", GIVEN)])


def test_a_page_without_the_token_cannot_stop_the_run(visit, address):
    page = visit(f"{address}without-token").page
    page.locator(".live").wait_for()
    assert page.get_by_role("button", name="Stop").count() == 0


def test_a_page_that_was_refused_for_a_while_comes_again(visit, events, address):
    level = results.run().levels[0]
    events.refusals += [503, 503, 503, 503]
    events.send("interval", interval_of(level, 2))
    page = visit(address).page
    page.get_by_text("ok/s 2,150").wait_for()
    assert not events.refusals
    assert page.locator(".connection-status").text_content() == ""


def test_a_page_that_torr_does_not_know_says_what_to_open(visit, events, address):
    events.refusals += [401, 401]
    page = visit(address).page
    page.get_by_text("open the URL that torr printed last").wait_for()
    assert not events.asked


@pytest.mark.full
def test_stop_is_heard_though_as_many_pages_are_open_as_a_browser_has_connections(
    visit, events, address
):
    level = results.run().levels[0]
    events.send("interval", interval_of(level, 2))
    pages = [visit(address).page]
    pages[0].get_by_text("ok/s 2,150").wait_for()
    for _ in range(5):
        pages.append(pages[0].context.new_page())
        pages[-1].goto(address)
        pages[-1].get_by_text("ok/s 2,150").wait_for()
    pages[0].get_by_role("button", name="Stop").click()
    pages[0].get_by_role("button", name="Stopping…").wait_for()
    wait_until(lambda: list(events.stopped) == [("/stop", GIVEN)])
    # It listens again, and has missed nothing and got nothing twice.
    events.send("interval", measured(level, 9.0, ok_per_s=99.0))
    pages[0].get_by_text("ok/s 99").wait_for()


def test_a_page_that_comes_late_draws_what_was_told_together(visit, events, address, written):
    level = results.run().levels[0]
    for second in range(2000):
        events.send("interval", measured(level, float(second), ok_per_s=second + 1.0))
    page = visit(address, script=written.script).page
    page.get_by_text("ok/s 2,000").wait_for()
    assert written.ticks(page, 0)
    assert page.evaluate("document.querySelector('.live-charts canvas').drawings") < 500


def test_the_live_page_speaks_chinese(visit, events, address):
    page = visit(address, "chinese").page
    events.send("progress", progress(1.0, 9.0))
    page.get_by_text("剩余 9 s").wait_for()
    assert page.get_by_role("button", name="停止").is_visible()
