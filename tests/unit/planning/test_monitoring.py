"""What --monitor and the [monitor] of a plan file watch, and what they refuse."""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace

import pytest

from recorder import recording
from torr.errors import FileError
from torr.model.pace import Closed
from torr.model.plan import Count, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.model.url import Url
from torr.monitor.prometheus import PrometheusServer
from torr.monitor.query_sets import SETS, queries_in
from torr.monitor.serving_source import ServingSource
from torr.monitor.text_endpoint import TextEndpoint
from torr.options import readers
from torr.planning.monitoring import monitor_scope_of, sources_of
from torr.sources.monitor_entry import MonitorEntry
from written import files_with

URL = "http://127.0.0.1:9/"
FILE = """
url = "http://127.0.0.1:9"
[[requests]]
name = "a"
url = "/"
[monitor]
"""


def plan_of(url=URL):
    return Plan((Group(Closed(1), Source.of(Request(url))),), Count(1))


def watched(*texts, urls=(URL,), plan=None):
    monitor = [readers.WATCHED.read(text) for text in texts]
    return monitor_scope_of(urls, plan or plan_of(), monitor)()


def level(tmp_path):
    result = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    return result["levels"][0]


pytestmark = pytest.mark.usefixtures("fake")


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "plan.toml"
        path.write_text(FILE + text)
        return str(path)

    return write


def test_a_number_is_a_process(torr, tmp_path):
    assert torr("run", "-q", "--monitor", str(os.getppid()), URL).code == 0
    found = level(tmp_path)["monitor"]
    assert found["target"]["names"][0].startswith(f"{os.getppid()} ")
    assert found["derived"]["limit"] is not None


def test_cores_and_generator_are_watched_without_a_flag(torr, tmp_path):
    assert torr("run", "-q", URL).code == 0
    found = level(tmp_path)["monitor"]
    assert found["target"] is None
    assert len(found["cores"]["busy_rate"]) == len(found["cores"]["numbers"]) > 0
    assert found["derived"]["limit_reason"]["code"] == "bottleneck.not_watched"


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_an_endpoint_that_is_not_there_is_a_warning_and_the_load_goes_on(torr, tmp_path):
    ended = torr("run", "--monitor", "http://127.0.0.1:9/metrics", URL)
    assert ended.code == 0
    [warning] = level(tmp_path)["warnings"]
    assert warning["code"] == "warning.endpoint_not_read"
    assert warning["values"]["url"] == "http://127.0.0.1:9/metrics"
    assert warning["text"] in ended.out


def test_each_level_of_a_ladder_is_watched_anew(torr, tmp_path):
    with recording(lambda _seen: (200, {}, b"process_open_fds 7\n")) as server:
        page = f"{server.url}/metrics"
        assert torr("ladder", "-q", "--levels", "1,2", "--monitor", page, URL).code == 0
    result = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    endpoints = [each["monitor"]["endpoints"] for each in result["levels"]]
    assert [each[0]["url"] for each in endpoints] == [page, page]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4194999", "there is no process 4194999"),
        ("nginx", "has no scheme"),
        ("ftp://x/", "unknown scheme"),
        ("unix:/run/x.sock", "a metrics endpoint needs an http URL"),
    ],
)
def test_what_cannot_be_watched_is_refused(fake, torr, text, why):
    ended = torr("run", "--monitor", text, URL)
    assert ended.code == 2
    assert why in ended.err
    assert fake.loads == []


def test_a_url_without_a_path_is_a_server_and_any_other_a_page():
    server, page = watched("http://127.0.0.1:9090", "http://127.0.0.1:9100/metrics").sources
    assert isinstance(server, PrometheusServer)
    assert server._queries == queries_in(SETS)
    assert isinstance(page, TextEndpoint)


def test_a_file_says_what_is_watched_and_asked(file):
    path = file(
        'at = "http://127.0.0.1:9090"\nnames = ["a_*"]\nsets = ["node"]\n'
        '[monitor.queries]\nqueue = "sum(q)"\n'
    )
    found = watched("http://127.0.0.1:9090", "http://127.0.0.1:1/metrics", urls=(path,))
    server, page = found.sources
    assert server._queries == {**queries_in(("node",)), "queue": "sum(q)"}
    assert page._reader.patterns == ("a_*",)


def test_what_a_file_watches_is_what_the_flag_would_be(torr, file, tmp_path):
    assert torr("run", "-q", file('at = ["http://127.0.0.1:9/metrics"]')).code == 0
    assert level(tmp_path)["monitor"]["endpoints"][0]["url"] == "http://127.0.0.1:9/metrics"
    typed = torr("run", "-q", "--monitor", "http://127.0.0.1:9/typed", file('at = "http://x/y"'))
    assert typed.code == 0
    [endpoint] = level(tmp_path)["monitor"]["endpoints"]
    assert endpoint["url"] == "http://127.0.0.1:9/typed"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('sets = ["mysql"]', 7, "there is no set 'mysql'"),
        ("at = true", 7, "neither a text"),
        ('at = "nginx"', 7, "has no scheme"),
        ('where = "x"', 7, "where"),
        ("queries = 5", 7, "not a table"),
        ("[monitor.queries]\nup = 5", 8, "query 'up' is not a text"),
        ("names = 5", 7, "not a list"),
    ],
)
def test_what_a_file_says_wrongly_is_refused_at_its_line(torr, file, text, line, why):
    ended = torr("run", file(text))
    assert ended.code == 2
    assert why in ended.err
    assert f"plan.toml:{line}:" in ended.err


def test_a_target_of_this_machine_is_watched_by_itself(monkeypatch):
    asked = []

    def listening(places):
        asked.extend(places)
        return [77]

    monkeypatch.setattr("torr.monitor.target_processes.listening_processes", listening)
    assert watched().roots() == [77]
    assert asked == [Url.parse(URL)]
    assert watched(str(os.getpid())).roots() == [os.getpid()]


def test_the_flag_is_repeatable_and_both_verbs_have_it():
    from torr.cli.ladder import ladder
    from torr.cli.run import run

    for verb in (run, ladder):
        [flag] = [each for each in verb.params if "--monitor" in each.opts]
        assert flag.multiple


VLLM = b"""# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{model_name="m"} 3.0
"""


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_a_named_server_has_series_and_numbers_of_its_own(torr, tmp_path):
    with recording(lambda _seen: (200, {}, VLLM)) as server:
        ended = torr("run", "--monitor", f"vllm:{server.url}", URL)
        assert {seen.target for seen in server.seen} == {"/metrics"}
    assert ended.code == 0
    found = level(tmp_path)
    assert found["monitor"]["endpoints"] == []
    (source,) = found["monitor"]["serving"]["sources"]
    assert (source["source"], source["url"]) == ("vllm", f"{server.url}/metrics")
    assert found["warnings"] == []


def test_a_result_without_named_servers_has_no_such_member(torr, tmp_path):
    assert torr("run", "-q", URL).code == 0
    assert "serving" not in level(tmp_path)["monitor"]
    assert "serving" not in json.loads((tmp_path / "_output/torr/latest/result.json").read_text())


def test_a_file_and_the_api_name_servers_by_the_same_words(torr, file, tmp_path):
    import torr as package

    place = "sglang:http://127.0.0.1:9"
    assert torr("run", "-q", file(f'at = ["{place}", "llamacpp:http://127.0.0.1:9/x"]')).code == 0
    urls = [source["url"] for source in level(tmp_path)["monitor"]["serving"]["sources"]]
    assert urls == ["http://127.0.0.1:9/metrics", "http://127.0.0.1:9/x"]
    result = package.run(URL, monitor=place)
    (source,) = result.levels[0].monitor.serving.sources
    assert source.error.code == "warning.endpoint_not_read"


def test_a_matrix_file_names_servers_by_the_same_words(tmp_path):
    def sources(*at):
        entry = MonitorEntry(at=at)
        file = SimpleNamespace(path=tmp_path / "m.toml", lines={}, monitor=entry)
        return sources_of(file)(4711)

    (server,) = sources("vllm:http://127.0.0.1:9")
    assert isinstance(server, ServingSource)
    with pytest.raises(FileError, match="torr knows no server 'ollama'"):
        sources("ollama:http://127.0.0.1:9")
    (of_trial,) = sources("vllm:http://127.0.0.1:{port}")
    assert of_trial._url == "http://127.0.0.1:4711/metrics"


def test_a_named_server_that_does_not_answer_is_a_warning_and_the_load_goes_on(torr, tmp_path):
    ended = torr("run", "--monitor", "vllm:http://127.0.0.1:9", URL)
    assert ended.code == 0
    [warning] = level(tmp_path)["warnings"]
    assert warning["code"] == "warning.endpoint_not_read"
    assert warning["text"] in ended.out
    assert level(tmp_path)["monitor"]["serving"]["derived"]["waiting_mean"] is None


def test_the_password_of_a_named_server_is_in_no_file(torr, tmp_path):
    with recording(lambda _seen: (404, {}, b"s3cret-word")) as server:
        place = server.url.replace("//", "//ann:s3cret-word@")
        ended = torr("run", "--monitor", f"vllm:{place}", URL)
    assert ended.code == 0
    assert "s3cret-word" not in ended.out + ended.err
    assert files_with(tmp_path / "_output", "s3cret-word") == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ollama:http://127.0.0.1:9", "torr knows no server 'ollama'"),
        ("vllm:127.0.0.1:9", "has no scheme"),
        ("vllm:unix:/run/x.sock", "a metrics endpoint needs an http URL"),
        ("nvml:one", "'one' is not the index of a GPU"),
    ],
)
def test_a_named_server_that_cannot_be_read_is_refused(fake, torr, text, why):
    ended = torr("run", "--monitor", text, URL)
    assert ended.code == 2
    assert why in ended.err
    assert fake.loads == []


def test_without_nvidias_package_gpus_of_this_machine_are_refused(fake, torr, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    ended = torr("run", "--monitor", "nvml", URL)
    assert ended.code == 2
    assert "--monitor nvml needs the package nvidia-ml-py" in ended.err
    assert "pip install 'torr[gpu]'" in ended.err
    assert fake.loads == []
