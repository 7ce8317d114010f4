"""The report of every kind of run, opened from disk with the network off."""

import pytest

import compared
import results
import timed
import typed
from documents import ROOT
from installed import wait_until
from tiers import full

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
HOSTILE = "</script><script>owned = true</script><img src=x onerror='owned = true'>"
KINDS = (
    *("run", "ladder", "limited", "collapsing", "streams", "streams-ladder", "served-ladder"),
    *("diff", "compare", "locust", "functions", "functions-without-budgets"),
)
DISTINCT = ("run", "compare")


def mostly_full(kinds, quick):
    return [*quick, *full(*(kind for kind in kinds if kind not in quick))]


@pytest.mark.parametrize("look", ["wide", *full("dark", "narrow", "chinese")])
@pytest.mark.parametrize("kind", [*KINDS, *full("served", "calls", "calls-ladder", "streams-diff")])
def test_every_kind_opens_whole_and_asks_nobody(read, kinds, kind, look):
    opened = read(kinds[kind](), look)
    page = opened.page
    page.locator("figure.main canvas, figure.main svg").first.wait_for()
    opened.shot(f"{kind}-{look}")
    opened.unfold()
    assert opened.complaints == []
    assert [url for url in opened.asked if not url.startswith("file://")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("h1").count() == 1
    assert page.locator("table").count() >= 1


@pytest.mark.parametrize("look", ["wide", *full("dark")])
@pytest.mark.parametrize("kind", mostly_full(KINDS, ("ladder", "compare")))
def test_axe_finds_no_serious_violation(read, kinds, kind, look):
    opened = read(kinds[kind](), look)
    opened.unfold()
    opened.page.evaluate(AXE.read_text())
    found = opened.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    serious = [v for v in found["violations"] if v["impact"] in {"serious", "critical"}]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in serious] == []


@pytest.mark.parametrize("kind", mostly_full(KINDS, DISTINCT))
def test_verdict_trust_and_chart_are_on_the_first_screen(read, kinds, kind):
    page = read(kinds[kind]()).page
    chart = page.locator("figure.main .chart").first
    chart.locator("canvas, svg").first.wait_for()
    tops = [page.locator(part).bounding_box()["y"] for part in ("h1", ".trust", "figure.main")]
    assert tops == sorted(tops)
    box = chart.bounding_box()
    assert box["y"] + box["height"] <= 800


def test_what_others_sent_is_shown_and_never_run(read):
    level = {
        "samples": {0: {"head": HOSTILE, "body": HOSTILE, "detail": HOSTILE}},
        "reasons": {f"status.{HOSTILE}": 10},
        "counts": {"errors": {HOSTILE: 3}},
    }
    command = ["torr", "run", f"http://127.0.0.1/{HOSTILE}", "-H", f"x: {HOSTILE}"]
    named = {"name": HOSTILE, "note": HOSTILE, "command": command}
    opened = read(typed.patched(results.run(), **named, levels={0: level}))
    opened.unfold()
    page = opened.page
    assert page.evaluate("typeof owned") == "undefined"
    assert page.locator("img").count() == 0
    assert page.locator("strong").first.text_content() == HOSTILE
    samples = page.locator("details[data-id=samples]").text_content()
    assert samples.count(HOSTILE) == 3
    command = page.locator("details[data-id=command] pre").text_content()
    assert "</script><script>owned = true</script>" in command
    assert opened.complaints == []


def test_what_operations_raised_first_is_shown_with_its_traceback(read):
    text = 'Traceback (most recent call last):\n  File "cache.py", line 7, in get\nKeyError: 1\n'
    raised = {"class": "check", "reason": "raised.KeyError", "detail": text}
    opened = read(typed.patched(timed.result(), levels={0: {"samples": [raised]}}))
    opened.unfold()
    part = opened.page.locator("details[data-id=samples]")
    assert part.locator("summary").text_content() == "First exceptions of operations"
    assert "raised.KeyError" in part.locator("h3").text_content()
    assert part.locator("pre").text_content() == text
    assert opened.complaints == []


def test_names_of_candidates_are_shown_and_never_run(read):
    levels = compared.rounds({HOSTILE: 100, "b": 50}, {"connections": 500})
    failures = [compared.failure(HOSTILE, {"connections": 500}, text=HOSTILE)]
    opened = read(compared.compared(levels, baseline=HOSTILE, failures=failures))
    opened.unfold()
    assert opened.page.evaluate("typeof owned") == "undefined"
    assert opened.page.locator("img").count() == 0


def test_a_table_sorts_by_a_click_on_a_column_and_comes_back(read):
    page = read(results.ladder()).page
    table = page.locator("section.data-table").first
    head = table.get_by_role("button", name="ok/s", exact=True)
    firsts = []
    for _ in range(3):
        head.click()
        firsts.append(table.locator("tbody td").first.text_content())
    assert firsts == ["100", "10", "10"]
    assert table.locator("th[aria-sort]").count() == 0


# A word that stands for a moment stands until the test has seen it.
STAND_STILL = "window.later = []; void (window.setTimeout = (todo) => void later.push(todo))"
GO_ON = "later.splice(0).forEach((todo) => todo())"


def test_a_table_is_copied_as_csv_and_as_markdown(read):
    page = read(results.ladder(), permissions=["clipboard-read", "clipboard-write"]).page
    page.evaluate(STAND_STILL)
    table = page.locator("section.data-table").first
    copied = []
    for what in ("CSV", "Markdown"):
        table.get_by_text(f"Copy as {what}").click()
        table.get_by_text("Copied").wait_for()
        copied.append(page.evaluate("navigator.clipboard.readText()"))
        page.evaluate(GO_ON)
        table.get_by_text(f"Copy as {what}").wait_for()
    assert copied[0].startswith("connections,ok/s,spread,mean TTLB,p50,p95,p99,success,health")
    assert '\n100,"18,959",2.8 %,' in copied[0].replace("\r", "")
    assert copied[1].splitlines()[1].startswith("| ---: | ---: |")


def test_what_could_not_be_copied_is_said_and_the_focus_stays(read):
    page = read(results.ladder()).page
    page.evaluate(STAND_STILL)
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('no')))")
    button = page.get_by_text("Copy as CSV").first
    for is_copied, said in (("true", "Copied"), ("false", "Copy failed")):
        page.evaluate(f"void (document.execCommand = () => {is_copied})")
        button.click()
        page.get_by_text(said, exact=True).wait_for()
        focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert focused.startswith("Copy as CSV")
        page.evaluate(GO_ON)
        button.wait_for()


def test_a_drag_over_a_chart_chooses_nothing_since_nothing_would_come_of_it(read):
    page = read(results.run()).page
    box = page.locator("figure.main .u-over").first.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 50)
    page.locator("figure.main .tooltip").first.wait_for()
    assert page.locator("figure.main .u-select").first.evaluate("it => it.offsetWidth") == 0
    page.mouse.up()


def test_the_memory_of_the_target_stands_below_its_cpu(read, kinds):
    opened = read(kinds["run"]())
    opened.unfold()
    titles = opened.page.locator("details[data-id=cpu] h3").all_text_contents()
    assert titles == [
        "CPU, percent of one core",
        "Memory of the target (resident)",
        "Cores: the darker, the busier",
    ]


def test_values_are_reached_by_keyboard_and_said(read):
    page = read(results.ladder()).page
    plot = page.locator("figure.main .plot").first
    plot.focus()
    for key in ("End", "Home", "ArrowRight"):
        plot.press(key)
    spoken = page.locator("figure.main [role=status]").first
    assert spoken.text_content() == "20 connections · rounds: 1, ok/s 3,880"


def test_the_tooltip_shows_exact_values_and_their_number(read):
    page = read(results.run()).page
    box = page.locator("figure.main .u-over").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    tip = page.locator("figure.main .tooltip").first
    tip.wait_for()
    assert "n = 2" in tip.text_content()
    assert "p99" in tip.text_content()


def test_the_scale_of_times_is_switched(read):
    page = read(results.run()).page
    switch = page.locator("figure.main").get_by_role("button", name="log scale").first
    before = drawn(page)
    assert switch.get_attribute("aria-pressed") == "false"
    switch.press("Enter")
    assert switch.get_attribute("aria-pressed") == "true"
    wait_until(lambda: drawn(page) != before)


def drawn(page):
    """The picture of the first chart, as text."""
    return page.evaluate("document.querySelector('figure.main canvas').toDataURL()")


def test_the_language_is_switched_and_what_was_open_stays_open(read):
    page = read(results.run()).page
    page.locator("details[data-id=environment] summary").click()
    page.get_by_role("button", name="中文").click()
    assert page.locator("html").get_attribute("lang") == "zh"
    assert page.get_by_text("吞吐量").first.is_visible()
    assert page.locator("details[data-id=environment]").get_attribute("open") is not None
    page.get_by_role("button", name="English").click()
    assert page.get_by_text("Throughput").first.is_visible()


def test_times_are_those_of_utc_and_of_the_reader(read):
    said = read(results.run()).page.locator("time").text_content()
    assert said == "2026-01-31 12:00:00 – 12:02:00 UTC · local 2026-01-31 20:00:00 +08:00"


def test_paper_is_white_whatever_the_screen_is(read):
    page = read(results.run(), "dark").page
    background = "getComputedStyle(document.documentElement).getPropertyValue('--background')"
    assert page.evaluate(background) == "#14171b"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(background) == "#ffffff"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(background) == "#14171b"


def test_the_parts_of_a_distribution_are_chosen(read):
    page = read(results.ladder()).page
    page.locator("details[data-id=distributions] summary").click()
    pictures = page.locator("details[data-id=distributions] canvas")
    pictures.first.wait_for()
    before = pictures.first.evaluate("canvas => canvas.toDataURL()")
    page.locator("#group").select_option("50")
    wait_until(lambda: pictures.first.evaluate("canvas => canvas.toDataURL()") != before)
    assert pictures.count() == 1


@pytest.mark.full
def test_the_report_of_a_ladder_of_ten_minutes_opens(read):
    opened = read(results.ladder_of_ten_minutes())
    opened.unfold()
    assert opened.complaints == []


def test_a_flame_graph_is_opened_searched_and_walked(read):
    opened = read(results.profiled())
    page = opened.page
    assert page.get_by_text("pprof at 50 connections: in a separate trial, with 7 %").is_visible()
    assert page.get_by_text("no profile: perf: no").is_visible()
    page.locator("details[data-id='flame 0'] summary").click()
    flame = page.locator(".flame")
    said = flame.locator(".flame-status")
    flame.locator("rect").first.wait_for()
    assert flame.locator("rect").count() == 5
    flame.locator("rect").nth(3).hover()
    assert said.text_content() == "log.Print · 450 ns · 75 %"
    flame.locator("input").fill("gc")
    assert "“gc”: 8.33 %" in said.text_content()
    assert flame.locator("rect.match").count() == 1
    flame.locator("rect").nth(2).click()
    assert flame.locator("rect").count() == 2
    flame.get_by_role("button", name="Show all").click()
    flame.locator(".flame-box").press("ArrowDown")
    assert said.text_content().startswith("main · ")
    opened.shot("flame-wide")
    assert opened.complaints == []


def test_a_diff_of_streams_has_a_chart_of_each_of_their_times(read):
    page = read(results.streamed_diff()).page
    page.locator("figure.main .chart canvas").nth(4).wait_for()
    titles = page.locator("figure.main .chart h3").all_text_contents()
    assert titles[-2:] == ["ttft p50, ms", "tpot p50, ms"]


def set_beside():
    """A diff whose sides were profiled: the second logs, and calls no poll."""
    found = results.diffed()
    (taken, _) = results.profiled().profiles
    texts = "main;serve 500\nmain;poll 100\n", taken.folded
    profiles = [
        typed.changed(taken, candidate=side.name, folded=text)
        for side, text in zip(found.series, texts, strict=True)
    ]
    return typed.changed(found, profiles=profiles)


@pytest.mark.parametrize("look", ["wide", *full("dark", "narrow", "chinese")])
def test_a_flame_graph_says_what_takes_more_and_what_takes_less(read, look):
    opened = read(set_beside(), look)
    opened.unfold()
    first, second = opened.page.locator(".flame").all()
    assert first.locator(".legend").count() == 0
    assert second.locator(".legend li").count() == 3
    names = second.locator(".flame-names span").all_text_contents()
    assert names == ["all", "main", "+ serve", "+ log.Print", "+ gc"]
    kinds = [rect.get_attribute("class") for rect in second.locator(".flame-box rect").all()]
    assert ["more" in kind for kind in kinds] == [False, False, True, True, True]
    second.locator(".flame-box rect").nth(3).hover()
    said = second.locator(".flame-status").text_content()
    assert "bare" in said
    assert "+75" in said
    opened.shot(f"flame-diff-{look}")
    assert opened.complaints == []
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.full
@pytest.mark.parametrize("make", [results.profiled, set_beside])
def test_a_flame_graph_has_no_serious_violation(read, make):
    opened = read(make(), "dark")
    opened.unfold()
    opened.page.evaluate(AXE.read_text())
    found = opened.page.evaluate("axe.run('.flame', { resultTypes: ['violations'] })")
    serious = [v for v in found["violations"] if v["impact"] in {"serious", "critical"}]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in serious] == []
