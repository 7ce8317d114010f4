import json
import re

import pytest

import torr.report
from page import Page
from torr.errors import OutputError
from torr.report import html

STREAMED = ("streamed", "streamed_ladder")


@pytest.fixture(
    params=[*("run", "ladder", "limited_ladder", "collapsing_ladder", "diffed"), *STREAMED]
)
def any_result(request):
    return request.getfixturevalue(request.param)


def test_the_page_asks_no_host_for_anything(any_result):
    text = html.page(any_result)
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "base", "image", "object"} & set(page.tags)
    for key, value in page.attributes:
        if key in ("src", "href", "xlink:href", "action", "style", "srcset"):
            assert "//" not in value, (key, value)
            assert key == "style" or value.startswith("#")
        assert not key.startswith("on")
    assert "@import" not in text
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", text)
    assert "default-src 'none'" in text


def test_ids_on_a_page_are_unique_and_every_reference_finds_one(any_result):
    text = html.page(any_result)
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    references = [v[1:] for k, v in page.attributes if k in ("href", "xlink:href")]
    references += re.findall(r"url\(#([\w-]+)\)", text)
    assert set(references) <= set(page.ids)


def test_pictures_take_the_colours_of_the_page(any_result):
    for picture in re.findall(r"<svg.*?</svg>", html.page(any_result), re.DOTALL):
        assert "var(--ink)" in picture
        assert not re.findall(r"#[0-9a-f]{6}\b", picture)
        assert 'role="img"' in picture


def test_verdict_and_trust_come_first(ladder):
    text = Page(html.page(ladder)).text.replace("\u00a0", " ")
    verdict = text.index("Holds 18,167 requests/s at 200 connections with p95 under 60 ms")
    assert verdict < text.index("● Healthy") < text.index("Levels: median of rounds")


def test_trust_is_marked_by_a_sign_as_well_as_a_colour(limited_ladder):
    text = html.page(limited_ladder)
    assert '<p class="trust generator-limited"><b>■</b> Generator-limited' in text


def test_what_a_server_sent_is_shown_and_never_run(run):
    text = html.page(run)
    assert "<script>" not in text
    assert "&lt;script&gt;alert(&#x27;owned&#x27;)&lt;/script&gt; &amp; sorry" in text
    assert "server: &lt;b&gt;x&lt;/b&gt;" in text


def test_names_and_reasons_are_escaped_wherever_they_stand(limited_ladder):
    limited_ladder["name"] = '<b>$name & "co"</b>'
    limited_ladder["levels"][0]["health"]["reasons"] = ["<i>slow</i>"]
    limited_ladder["command"] = ["torr", "</pre><b>"]
    page = Page(html.page(limited_ladder))
    assert not {"b", "i"} & (set(page.tags) - {"b"})
    assert page.tags.count("b") == 1
    assert "$name" in page.text


def test_points_tell_their_exact_values(ladder):
    assert "<title>200 connections: 18,167 ok/s</title>" in html.page(ladder)
    assert "<title>200 connections: p95 24.3 ms</title>" in html.page(ladder)


def test_the_whole_result_is_inside_but_for_the_histograms_of_slices(ladder):
    text = Page(html.page(ladder)).text
    start = text.index('{\n "schema": 1')
    inside, _ = json.JSONDecoder().raw_decode(text[start:])
    for level in ladder["levels"]:
        for piece in level["slices"]:
            piece.pop("histograms")
    assert inside == json.loads(json.dumps(ladder))


def test_the_command_can_be_run_again(run):
    text = Page(html.page(run)).text
    assert "torr run http://127.0.0.1:8080/healthz -H 'x: it'\"'\"'s'" in text


def test_details_are_folded(ladder):
    text = html.page(ladder)
    summaries = re.findall(r"<details><summary>(.*?)</summary>", text)
    assert summaries == [
        "SLOs at every level",
        "Errors",
        "Status codes",
        "Slices over time",
        "Health of the generator",
        "Environment",
        "The command to run it again",
        "result.json (histograms of slices left out)",
    ]


def test_an_empty_result_has_a_page(make_result):
    assert "Nothing was measured." in html.page(make_result("ladder", [], status="failed"))


def test_a_level_without_slices_and_details_has_a_page(make_result):
    level = {
        "concurrency": 5,
        "round": 1,
        "seconds": 1.0,
        "counts": {"attempted": 3, "ok": 3},
        "ok_per_s": 3.0,
        "latency": {"service_ms": {"n": 3, "mean": 1.0}},
        "health": {"verdict": "healthy"},
    }
    assert "Answers 3 requests/s" in html.page(make_result("run", [level])).replace("\u00a0", " ")


def test_everything_is_written_at_once(tmp_path, ladder):
    paths = torr.report.write_all(ladder, tmp_path)
    assert [path.name for path in paths] == [
        *("report.html", "summary.md", "levels.csv", "apiserver.dat"),
        *("apiserver_qps_ttlb.png", "apiserver_successrate.png"),
    ]
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_a_run_has_no_plots_over_concurrency(tmp_path, run):
    paths = torr.report.write_all(run, tmp_path)
    assert [path.name for path in paths] == ["report.html", "summary.md", "levels.csv"]


def test_a_diff_is_written_with_its_pictures(tmp_path, diffed):
    assert len(torr.report.write_all(diffed, tmp_path)) == 5


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path, run):
    with pytest.raises(OutputError, match="missing: the report could not be written"):
        torr.report.write_all(run, tmp_path / "missing")


def test_what_is_written_satisfies_the_schema(any_result):
    from torr.model.result import Result

    Result.model_validate(any_result)


def test_samples_of_dials_are_shown_though_no_attempt_failed(make_level, make_result):
    sample = {"class": "connect", "reason": "connect.refused", "detail": "[::1]:80 refused"}
    text = html.page(make_result("run", [make_level(5, 100.0, 1.0, samples=[sample])]))
    assert "No attempt failed." in text
    assert "[::1]:80 refused" in text
