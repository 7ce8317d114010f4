"""A short ladder and the files it leaves, as the pages describe them."""

from __future__ import annotations

import functools
import http.server
import json
import re
import shlex
import shutil
import threading

import pytest

from authority import Authority, Nginx
from documents import ROOT
from installed import until_judged
from torr import targets
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store

ALL_AT_ONCE = "--connections-per-second 1k"
QUICK = ("-z", "200ms", "--warmup", "0s", "--drain", "1s")


@pytest.fixture(scope="session")
def url():
    """Where a target answers after 1 ms, for as long as the tests of the pages last."""
    with targets.listening(targets.Delay(targets.Constant(1_000_000))) as target:
        yield target.url


@pytest.fixture(scope="session")
def echo():
    """Where a server of WebSocket answers each message with the same message."""
    with targets.listening(targets.WebSocketEcho()) as target:
        yield target.url


@pytest.fixture(scope="session")
def chats():
    """Where chat APIs answer, by the ports that the pages give them."""
    tokens = targets.SameTokens(4)
    with (
        targets.listening(targets.Chat("openai", tokens=tokens)) as openai,
        targets.listening(targets.Chat("dify", tokens=tokens)) as dify,
    ):
        yield {"8000": openai.url, "8001": dify.url}


@pytest.fixture(scope="session")
def secure(tmp_path_factory):
    """An nginx that speaks https, and the authority behind its certificate."""
    authority = Authority(tmp_path_factory.mktemp("authority"))
    authority.sign("good")
    nginx = Nginx(authority.folder)
    nginx.serve("good")
    process = nginx.start()
    yield nginx, authority
    process.terminate()
    process.wait(60)


OPENAPI = {
    "openapi": "3.0.3",
    "servers": [{"url": "http://localhost:8080"}],
    "paths": {"/items": {"get": {"operationId": "items"}}},
}


@pytest.fixture(scope="session")
def documents(tmp_path_factory):
    """Serve an OpenAPI document; return its address."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "openapi.json").write_text(json.dumps(OPENAPI))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/openapi.json"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def calls():
    """Where calls of gRPC are answered, and those of other services are not known."""
    with targets.listening(targets.Grpc()) as target:
        yield target.url


@pytest.fixture
def aim(url, chats, place, request, monkeypatch):
    """Aim a command of a page at targets of ours."""

    monkeypatch.setenv("API_KEY", "app-123")

    def aimed(command):
        for port, chat in chats.items():
            command = command.replace(f"http://localhost:{port}", chat)
        if "http://localhost:8080/openapi.json" in command:
            address = request.getfixturevalue("documents")
            command = command.replace("http://localhost:8080/openapi.json", address)
        if "--grpc" in command:
            address = request.getfixturevalue("calls")
            command = re.sub(r"http://localhost:(8080|50051)", address, command)
        # What the file says of the server is said again behind it.
        command = re.sub(r"(dify\.toml)(.*)$", rf"\1 {chats['8001']}\2 {ALL_AT_ONCE}", command)
        command = re.sub(r"http://(localhost|127\.0\.0\.1):8080|\bURL$", url, command)
        if "ws://" in command:
            command = command.replace("ws://localhost:8080", request.getfixturevalue("echo"))
        if "https://" in command:
            nginx, authority = request.getfixturevalue("secure")
            shutil.copy(authority.certificate, place)
            command = command.replace("https://localhost:8443/", nginx.url("good"))
        return shlex.split(command)[1:]

    return aimed


@pytest.fixture(scope="session")
def laddered(tmp_path_factory, url, torr_in):
    """A directory in which a ladder named `before` was run."""
    folder = tmp_path_factory.mktemp("laddered")
    rounds = ["--levels", "1,2", "--rounds", "6"]
    command = ["ladder", *rounds, *QUICK, "-n", "before", f"{url}/healthz"]
    ended = until_judged(lambda: torr_in(folder, *command), folder)
    assert ended.code == 0, ended.err
    return folder


@pytest.fixture(scope="session")
def kept_runs(tmp_path_factory, laddered):
    """A store with the kept runs that the pages name: a tuning session, one of them a baseline."""
    path = tmp_path_factory.mktemp("kept") / "runs.db"
    result = json.loads((laddered / "_output/torr/latest/result.json").read_bytes())
    for level in result["levels"]:
        level["requests"] = [{**level, "name": "simple chat"}]
    with Store.open(DatabaseUrl(f"sqlite:///{path}")) as store:
        for number in range(1, 16):
            own = {"id": f"{number:032x}", "started": f"2026-01-31T12:{number:02d}:00.000Z"}
            store.register(json.dumps({**result, **own, "name": "api"}).encode())
        store.annotate(12, add=["main", "baseline"], note="api 1.2 CPU")
    return path


STATS = {"min": 1, "max": 1, "mean": 1, "stddev": 0, "median": 1, "q3": 1, "rounds": 5}
BENCHMARKS = {
    "benchmarks": [{"name": "test_it", "fullname": "t.py::test_it", "stats": STATS}],
    "datetime": "2026-01-31T12:00:00",
}


@pytest.fixture
def place(tmp_path, laddered, kept_runs, ids_tokenizer, monkeypatch):
    """A directory with everything that the commands of the pages name."""
    shutil.copy(kept_runs, tmp_path / "runs.db")
    shutil.copy(ids_tokenizer, tmp_path / "tokenizer.json")
    monkeypatch.setenv("TORR_STORE", f"sqlite:///{tmp_path}/runs.db")
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}/cache")
    monkeypatch.setenv("BROWSER", "true")
    shutil.copytree(laddered / "_output", tmp_path / "_output", symlinks=True)
    output = tmp_path / "_output/torr"
    shutil.copy(output / "before.dat", output / "after.dat")
    shutil.copytree(output / "latest", output / "before-20260131-120000")
    (tmp_path / "body.bin").write_bytes(b"\x00\x01")
    (tmp_path / "openapi.json").write_text(json.dumps(OPENAPI))
    (tmp_path / "benchmarks.json").write_text(json.dumps(BENCHMARKS))
    row = {"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}
    (tmp_path / "conversation_trace.jsonl").write_text(json.dumps(row))
    for name in (
        "shop.http",
        "shop.proto",
        "items.jsonl",
        "order.json",
        "mix.jsonl",
        "users.csv",
        "access.log",
        "prompts.jsonl",
        "dify.toml",
        "compare.toml",
        "giving_up.toml",
        "prefix_cache.toml",
        "locust_site.py",
        "locust_dify.py",
    ):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    shutil.copy(ROOT / "examples/locust_site.py", tmp_path / "locustfile.py")
    shutil.copy(ROOT / "examples/compare.toml", tmp_path / "matrix.toml")
    # With two settings a tuning needs the fewest trials.
    tune = (ROOT / "examples/tune.toml").read_text(encoding="utf-8")
    tune = tune.replace('delay = ["4ms", "5ms", "6ms", "8ms"]', 'delay = ["5ms"]')
    tune = tune.replace("[1, 2, 4, 8, 12, 16]", "[4, 16]")
    (tmp_path / "tune.toml").write_text(tune, encoding="utf-8")
    shutil.copytree(ROOT / "examples/dify", tmp_path / "dify")
    return tmp_path
