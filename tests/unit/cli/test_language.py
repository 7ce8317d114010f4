"""`--lang` and TORR_LANG: what a terminal and summary.md say, in Chinese."""

import io
import json
import shutil

import pytest
from rich.console import Console

from compared import pair
from page import Page
from results import run as a_run
from torr.cli import streams, terminal
from torr.cli.columns import Columns
from torr.messages.say import say
from torr.report.files import markdown
from torr.results.result import encoded
from torr.store.runs.store import open_store

RATES = {"a": 1000, "b": 2000}


@pytest.fixture
def diff(torr, tmp_path, monkeypatch):
    """Run `torr diff` of two .dat files with some flags."""
    monkeypatch.chdir(tmp_path)
    for name, rate in RATES.items():
        rows = [f"{users} {rate * users} 5.0 100" for users in (50, 100)]
        (tmp_path / f"{name}.dat").write_text("\n".join(rows) + "\n")
    return lambda *flags: torr("diff", *flags, "a.dat", "b.dat").out


def shown(result, language):
    out = io.StringIO()
    console = Console(file=out, width=100, highlight=False, soft_wrap=True)
    terminal.show(result, console=console, language=language)
    return out.getvalue()


def test_columns_are_as_wide_as_they_are_in_the_language():
    table = Columns((say("candidate"), "n"), (("go-net", "1"),), language="zh")
    assert list(table.lines()) == ["候选    n", "go-net  1"]
    assert list(table.without("n").lines()) == ["候选", "go-net"]


def test_a_comparison_is_shown_in_the_language():
    said = shown(pair(0.88), "zh")
    assert said.startswith("在 500 个连接时，go-gin 比 go-net 慢 11 %")
    assert "候选" in said
    assert "candidate" not in said
    assert "candidate" in shown(pair(0.88), "en")


def test_a_summary_is_written_in_the_language():
    said = markdown.text(pair(0.88), "zh")
    assert said.startswith("# healthz\n\n**在 500 个连接时，go-gin 比 go-net 慢 11 %")
    assert "## 配置\n\n| 设置 | 值 |\n| --- | --- |\n| 基线 | go-net |" in said


def test_a_diff_is_said_in_the_language_asked_for(diff, tmp_path):
    assert "在 2 个共有的级上，b 每秒响应的请求数是 a 的 2.00 ×" in diff("--lang", "zh")
    [summary] = tmp_path.glob("_output/torr/a_b-*/summary.md")
    assert "## 比值" in summary.read_text()


def test_the_environment_may_say_the_language_and_the_flag_goes_before(diff, monkeypatch):
    assert "common levels" in diff("-q")
    monkeypatch.setenv("TORR_LANG", "zh")
    assert "共有的级" in diff("-q")
    assert "common levels" in diff("-q", "--lang", "en")


@pytest.mark.parametrize("flags", [("--lang", "zh"), ("-q",), ("--no-such-flag",)])
def test_the_language_of_a_command_ends_with_it(diff, monkeypatch, flags):
    monkeypatch.setenv("TORR_LANG", "zh")
    diff(*flags)
    assert streams.printed == streams.Printed()


def test_the_page_opens_in_the_language_asked_for(diff, tmp_path):
    for flags, language in ((("--lang", "zh"), "zh"), ((), None)):
        diff(*flags)
        (page,) = (tmp_path / "_output/torr").glob("*/report.html")
        assert Page(page.read_text()).data["lang"] == language
        shutil.rmtree(tmp_path / "_output")


@pytest.fixture
def kept(torr, own_store, tmp_path, monkeypatch):  # noqa: ARG001 - a store of this test
    """Call a verb of `torr runs` in an environment that says Chinese; there is one run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with open_store(create=True) as store:
        store.register(encoded(a_run()))
    monkeypatch.setenv("TORR_LANG", "zh")
    return lambda *words: torr("runs", *words).out


def test_kept_runs_are_shown_in_the_language(kept):
    assert kept("show", "1").startswith("经由 50 个连接，每秒 2,150 个请求得到响应")
    assert kept("show", "--lang", "en", "1").startswith("Answers 2,150 requests/s")


@pytest.mark.parametrize("flags", [(), ("-o", "markdown")], ids=["text", "markdown"])
def test_a_ledger_is_said_in_the_language(kept, flags):
    said = kept("ledger", "apiserver", *flags)
    assert "apiserver 的 1 次运行：运行 1 最好" in said
    assert "备注" in said
    assert "run 1 is the best" in kept("ledger", "apiserver", "--lang", "en", *flags)


@pytest.mark.parametrize("verb", ["open", "export"])
def test_pages_of_kept_runs_begin_in_the_language(kept, tmp_path, monkeypatch, verb):
    monkeypatch.setattr("webbrowser.open", lambda _url: True)
    kept(verb, "1")
    (page,) = tmp_path.rglob("report.html")
    assert Page(page.read_text()).data["lang"] == "zh"


def test_an_exported_summary_is_in_the_language(kept, tmp_path):
    kept("export", "1")
    (summary,) = tmp_path.rglob("summary.md")
    assert "经由 50 个连接，每秒 2,150 个请求得到响应" in summary.read_text()


def test_json_is_the_same_in_every_language(diff):
    found = json.loads(diff("-o", "json", "--lang", "zh"))
    assert found["verdicts"][0]["reason"]["text"] == "one run each"


def test_a_wrong_language_names_its_variable(torr, monkeypatch):
    monkeypatch.setenv("TORR_LANG", "xx")
    ended = torr("run", "http://127.0.0.1:1/")
    assert ended.code == 2
    assert ended.err.startswith("torr: run: TORR_LANG: 'xx' is not one of 'en', 'zh'\n")
    ended = torr("run", "--lang", "xx", "http://127.0.0.1:1/")
    assert ended.err.startswith("torr: run: --lang: 'xx' is not one of 'en', 'zh'\n")
