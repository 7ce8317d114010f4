"""Every chart of a page is saved as SVG, in vectors and words, and as PNG."""

import base64
import io
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

import results
from installed import wait_until
from tiers import full
from torr.report.files import notebook

KINDS = (
    "compare",
    *full("ladder", "run", "functions", "functions-without-budgets", "diff", "streams"),
    *full("streams-ladder", "collapsing", "locust"),
)
SVG = "{http://www.w3.org/2000/svg}"
# A browser takes some downloads after each other only: what pages hand over is kept instead.
KEEP = """
window.kept = [];
const makeAddress = URL.createObjectURL;
URL.createObjectURL = (blob) => {
  window.kept.push({ blob });
  return makeAddress(blob);
};
HTMLAnchorElement.prototype.click = function () {
  window.kept.at(-1).name = this.download;
};
"""
TAKE = """async () => {
  const { blob, name } = window.kept.shift();
  const reader = new FileReader();
  const read = new Promise((resolve) => reader.addEventListener("load", resolve));
  reader.readAsDataURL(blob);
  await read;
  return { name, base64: reader.result.split(",")[1] };
}"""
SHAPES = ("path", "line", "rect", "circle")


def saved(page, chart, kind):
    """The name of the file that a chart is saved as, and what is in it."""
    chart.get_by_role("button", name=f"Save as {kind}").click()
    wait_until(lambda: page.evaluate("window.kept[0]?.name"))
    taken = page.evaluate(TAKE)
    return taken["name"], base64.b64decode(taken["base64"])


def parsed(text):
    return ET.fromstring(text)  # noqa: S314 - the page's own


def charts(page):
    """Every chart of a page, each of which is drawn."""
    found = page.locator(".chart").all()
    for chart in found:
        chart.locator("canvas, svg").first.wait_for()
    return found


def opened_with(read, made, look="wide"):
    opened = read(made, look, script=KEEP)
    opened.unfold()
    return opened


def colours(root):
    return {each.get(paint) for each in root.iter() for paint in ("fill", "stroke")} - {None}


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_saved_as_it_is_shown(read, kinds, kind):
    opened = opened_with(read, kinds[kind]())
    names = []
    for chart in charts(opened.page):
        name, text = saved(opened.page, chart, "SVG")
        names.append(name)
        check_svg(text, chart)
        name, content = saved(opened.page, chart, "PNG")
        names.append(name)
        check_png(content, parsed(text))
    assert opened.complaints == []
    assert {name.rpartition(".")[2] for name in names} == {"svg", "png"}
    subject = opened.page.title().partition(" · ")[0]
    assert all(name.startswith(f"{subject}-") for name in names)


def check_svg(text, chart):
    """Fail where words of a chart are not words of its SVG, or a line is none of its paths."""
    root = parsed(text)
    assert root.tag == f"{SVG}svg"
    assert not list(root.iter(f"{SVG}image"))
    assert not list(root.iter(f"{SVG}foreignObject"))
    words = " ".join("".join(each.itertext()) for each in root.iter(f"{SVG}text"))
    for shown in chart.locator("h3, h4, .legend li").all_text_contents():
        assert " ".join(shown.split()) in words
    assert "var(" not in text.decode()
    assert "class=" not in text.decode()
    lines = chart.locator(".legend svg [stroke], .legend svg [fill]").evaluate_all(
        "all => all.map((each) => getComputedStyle(each).stroke)"
    )
    drawn = {hexadecimal(colour) for colour in colours(root)}
    assert {hexadecimal(colour) for colour in lines} - {"none"} <= drawn
    # Besides the paper there is what the chart shows.
    assert sum(len(list(root.iter(f"{SVG}{shape}"))) for shape in SHAPES) > 2


def hexadecimal(colour):
    if not colour.startswith("rgb("):
        return colour
    return "#{:02x}{:02x}{:02x}".format(*map(int, colour[4:-1].split(",")))


def check_png(content, root):
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.format == "PNG"
        assert picture.size == tuple(round(2 * float(root.get(x))) for x in ("width", "height"))
        found = picture.convert("RGB").getcolors(10**6)
    assert len(found) > 10


def test_a_line_is_a_path_with_a_place_for_each_value(ladder_svg):
    root, points = ladder_svg
    marks = [each for each in root.iter(f"{SVG}path") if each.get("d").count("a") == 2]
    lines = [each.get("d") for each in root.iter(f"{SVG}path") if each.get("fill") == "none"]
    assert len(marks) == 2 * points
    assert [d for d in lines if d.count("L") == points - 1 and d.count("M") == 1] != []


@pytest.fixture
def ladder_svg(read):
    """The chart of rates of a ladder, and how many levels it has."""
    made = results.ladder()
    page = opened_with(read, made).page
    _, text = saved(page, charts(page)[0], "SVG")
    return parsed(text), len(made.levels)


def test_what_was_chosen_is_what_is_saved(read):
    page = opened_with(read, results.ladder()).page
    times = charts(page)[1]
    before = saved(page, times, "SVG")[1]
    times.get_by_role("button", name="log scale").click()
    after = saved(page, times, "SVG")[1]
    assert ticks(before) != ticks(after)


def ticks(text):
    root = parsed(text)
    return ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]


def test_a_dark_page_saves_dark_charts(read):
    page = opened_with(read, results.ladder(), "dark").page
    root = parsed(saved(page, charts(page)[0], "SVG")[1])
    assert root.find(f"{SVG}rect").get("fill") == "#14171b"
    assert "#56b4e9" in colours(root)


def test_a_flame_graph_is_saved_as_it_was_opened(read):
    opened = opened_with(read, results.profiled())
    page = opened.page
    flame = page.locator(".flame")
    flame.locator("rect").nth(2).click()
    assert flame.locator("rect").count() < 5
    _, text = saved(page, flame, "SVG")
    root = parsed(text)
    check_svg(text, flame)
    # One is the paper.
    assert len(list(root.iter(f"{SVG}rect"))) == 1 + flame.locator("rect").count()
    names = {"".join(each.itertext()) for each in root.iter(f"{SVG}text")}
    assert set(flame.locator(".flame-names span").all_text_contents()) <= names


def test_the_buttons_take_the_keyboard_speak_chinese_and_are_not_printed(read):
    page = opened_with(read, results.ladder()).page
    button = page.get_by_role("button", name="Save as SVG: ok requests/s")
    button.focus()
    page.keyboard.press("Enter")
    wait_until(lambda: page.evaluate("window.kept[0]?.name"))
    page.get_by_role("button", name="中文").click()
    assert page.get_by_role("button", name="保存为 SVG").first.is_visible()
    page.emulate_media(media="print")
    assert not page.get_by_role("button", name="保存为 SVG", include_hidden=True).first.is_visible()


def test_a_browser_downloads_what_is_saved(read):
    page = read(results.ladder()).page
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name="Save as PNG: ok requests/s").click()
    assert download.value.suggested_filename == "apiserver-ok-requests-s.png"
    with Image.open(download.value.path()) as picture:
        assert picture.format == "PNG"


def test_a_notebook_runs_the_page_in_its_frame(visit, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>x</title>{notebook.fragment(results.ladder())}")
    opened = visit(path.as_uri(), offline=True)
    frame = opened.page.frame_locator("iframe")
    frame.locator("figure.main canvas").first.wait_for()
    assert frame.locator("h1").text_content().startswith("Holds 18,167 requests/s")
    opened.shot("notebook-wide")
    with opened.page.expect_download(timeout=120_000) as download:
        frame.get_by_role("button", name="Save as PNG: ok requests/s").click()
    assert download.value.suggested_filename == "apiserver-ok-requests-s.png"
    assert opened.complaints == []
    assert [url for url in opened.asked if not url.startswith(("file://", "about:"))] == []


def test_a_notebook_says_the_verdict_where_no_script_runs(visit, tmp_path):
    path = tmp_path / "notebook.html"
    words = notebook.fragment(results.ladder()).partition("<iframe")[0]
    path.write_text(f"<!doctype html><title>x</title>{words}</div>")
    page = visit(path.as_uri(), offline=True).page
    assert page.get_by_text("Holds 18,167 requests/s").is_visible()
