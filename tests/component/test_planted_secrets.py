"""Secrets in every place of a command come to no file of a run, no store and no terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from contextlib import closing
from sqlite3 import connect

import pytest

from candidates import GOOD
from installed import TORR
from recorder import recording
from tiers import full

MARK = "Pl4nted"
LOAD = ("--warmup", "0s", "--timeout", "30s", "--allow-not-shown")


def secret(place):
    """Return the secret that is planted in a place: nothing but the place tells that it is one."""
    return f"{MARK}-{place}-x7Qv9"


def planted(place, form):
    """Return a form with the secret of a place in it."""
    return form.replace("SECRET", secret(place))


def filled(text):
    """Return a text with the secret of `password` in the place of SECRET_password."""
    return re.sub(r"SECRET_(\w+)", lambda match: secret(match[1]), text)


MULTIPART = (
    '--b\r\ncontent-disposition: form-data; name="password"\r\n\r\nSECRET\r\n'
    '--b\r\ncontent-disposition: form-data; name="page"\r\n\r\n7\r\n--b--\r\n'
)
# How `torr run` and `torr ladder` are told a secret: arguments by place.
PLACES = {
    "header": ("-H", "X-Api-Key: SECRET"),
    "bearer": ("-H", "Authorization: Bearer SECRET"),
    "cookie": ("-H", "Cookie: theme=dark; sid=SECRET"),
    "basic": ("--basic-auth", "ann:SECRET"),
    "form": ("-b", "user=ann&user[password]=SECRET"),
    "json": ("--json-body", '{"credentials": {"users": [{"name": "ann", "password": "SECRET"}]}}'),
    "escaped": ("--json-body", r'{"msg": "5\" disk", "text": "{\"token\": \"SECRET\", \"n\": 1}"}'),
    "multipart": ("-b", MULTIPART, "-H", "content-type: multipart/form-data; boundary=b"),
    "xml": ("-b", "<login><user>ann</user><password>SECRET</password></login>"),
    "text": ("-b", "it was refused: Bearer SECRET is not known, password='SECRET'"),
    "note": ("--note", "api_key=SECRET", "--tag", "nightly"),
    "row": ("--data", "rows.csv", "-H", "x-token: {{row.token}}"),
}
MATRIX = """
baseline = "one"
rounds = 1
duration = "100ms"
warmup = "0s"
connections = 2
url = "http://127.0.0.1:{port}/?api_key=SECRET_query"
note = "password=SECRET_note"
env = { DB_PASSWORD = "SECRET_environment" }
[request]
headers = { authorization = "Bearer SECRET_bearer" }
json = { password = "SECRET_json" }
[[candidates]]
name = "one"
command = GOOD
[[candidates]]
name = "two"
command = ["python3", "-c", '''
import os, sys
print("token=" + os.environ["DB_PASSWORD"])
print("connecting to postgres://ann:" + os.environ["DB_PASSWORD"] + "@db/x")
sys.exit(7)
''', "--password=SECRET_argv", "--api-key", "SECRET_word"]
"""
LOCUSTFILE = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.01)
    count = 0

    @task
    def visit(self):
        Visitor.count += 1
        if Visitor.count > 2:
            self.environment.runner.quit()
        headers = {"Cookie": "sid=SECRET_cookie"}
        self.client.get("/items?api_key=SECRET_query", headers=headers)
        body = {"password": "SECRET_json"}
        self.client.post("/login", json=body, auth=("ann", "SECRET_basic"))
        url = "http://ann:SECRET_url@127.0.0.1:1/"
        self.client.get(url, name="GET /items?token=SECRET_name")
        with self.client.get("/x", catch_response=True) as answer:
            answer.failure("refused: password=SECRET_failure")
        raise RuntimeError("no login with password=SECRET_exception")
"""
FUNCTIONS = """
import pytest

@pytest.mark.parametrize("token", ["SECRET_parameter"])
def test_sum(measure, token):
    measure(lambda: sum(range(10)))
"""
# What stands behind the URL of a target, and before its host.
IN_URLS = {
    "query": "/items?api_key=SECRET&n=1",
    "encoded": "/items?p%61ssword=SECRET",
    "matrix": "/items;jsessionid=SECRET",
    "fragment": "/items#access_token=SECRET",
}


GIVEN = ("rows.csv", "matrix.toml", "locustfile.py", "test_it.py", "*.given.json")


def failing(seen):
    """Answer 500 with all that was sent, as it is and as JSON within JSON."""
    body = seen.body.decode("utf-8", "replace")
    sent = {"target": seen.target, "headers": seen.headers, "body": body}
    text = f"{seen.target}\n{body}\n{json.dumps(sent)}\n{json.dumps({'log': json.dumps(sent)})}"
    return 500, {"set-cookie": f"sid={seen.headers.get('cookie', 'none')}"}, text.encode()


@pytest.fixture
def target():
    with recording(failing) as recorder:
        yield recorder


def leaks(folder, *texts):
    """Return where planted secrets are: files below a folder, runs of its stores, texts."""
    found = set()
    contents = {f"text {number}": text.encode() for number, text in enumerate(texts)}
    given = {path for name in GIVEN for path in folder.glob(name)}
    for path in folder.rglob("*"):
        if path.is_file() and path not in given:
            contents[str(path.relative_to(folder))] = path.read_bytes()
        if path.suffix == ".db":
            with closing(connect(path)) as store:
                for number, (packed,) in enumerate(store.execute("SELECT json_zlib FROM results")):
                    contents[f"kept run {number}"] = zlib.decompress(packed)
    for place, content in contents.items():
        lines = [line for line in content.split(b"\n") if MARK.encode() in line]
        found |= {(place, line[max(0, line.find(MARK.encode()) - 60) :][:120]) for line in lines}
    return found


@pytest.fixture
def leaks_of(torr, tmp_path, own_store):  # noqa: ARG001 - for the environment
    """Run a `torr` command to its end; return where it left secrets."""

    def run(*words):
        (tmp_path / "rows.csv").write_text(filled("token,page\nSECRET_row,7\n"))
        ended = torr(*words)
        assert ended.code in {0, 1, 3}, ended.err
        return leaks(tmp_path, ended.out, ended.err)

    return run


@pytest.fixture
def leaks_of_program(tmp_path, own_store):  # noqa: ARG001 - for the environment
    """Run a program to its end; return where it left secrets."""

    def run(*words):
        ended = subprocess.run(
            [*map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode in {0, 1}, ended.stderr
        return leaks(tmp_path, ended.stdout, ended.stderr)

    return run


@pytest.mark.parametrize("place", PLACES)
def test_run_keeps_no_secret_of_its_flags(leaks_of, target, place):
    more = [planted(place, word) for word in PLACES[place]]
    log = ("--log", "log.csv")
    assert leaks_of("run", "--requests", 4, "-c", 2, *LOAD, *log, *more, target.url) == set()
    assert_sent(place, target)


@pytest.mark.parametrize("place", IN_URLS)
def test_run_keeps_no_secret_of_its_urls(leaks_of, target, place):
    url = target.url + planted(place, IN_URLS[place])
    log = ("--log", "log.csv")
    assert leaks_of("run", "--requests", 4, "-c", 2, *LOAD, *log, url) == set()
    assert_sent(place, target)


def assert_sent(place, target):
    """Fail if a target has not seen the secret of a place; of a password it sees the encoding."""
    is_sent = any(secret(place) in repr(seen) for seen in target.seen)
    assert is_sent or (target.seen and place in {"basic", "note", "fragment"})


@pytest.mark.parametrize(
    "place", ["json", *full(*sorted(PLACES.keys() - {"note", "json"}), *IN_URLS)]
)
def test_one_request_shows_no_secret(leaks_of, target, place):
    more = [planted(place, word) for word in PLACES.get(place, ())]
    url = target.url + planted(place, IN_URLS.get(place, ""))
    assert leaks_of("run", "--once", "-v", *more, url) == set()
    assert_sent(place, target)


def test_a_ladder_keeps_no_secret(leaks_of, target):
    places = ("header", "cookie", "json", "note")
    more = [planted(place, word) for place in places for word in PLACES[place]]
    url = target.url + planted("query", IN_URLS["query"])
    load = ("--levels", "1,2", "-z", "100ms", *LOAD)
    assert leaks_of("ladder", *load, *more, url) == set()
    for place in (*places, "query"):
        assert_sent(place, target)


def test_a_password_of_a_monitor_a_store_or_an_environment_is_kept_nowhere(
    leaks_of, target, monkeypatch
):
    host = target.url.removeprefix("http://")
    monitor = f"http://ann:{secret('monitor')}@{host}/metrics?token={secret('metrics')}"
    store = f"postgresql://ann:{secret('store')}/x@127.0.0.1:1/torr"
    load = ("--requests", 4, "-c", 2, *LOAD, "--monitor", monitor)
    key = secret("environment")
    monkeypatch.setenv("TORR_STORE", store)
    monkeypatch.setenv("MY_NAME", key)
    chat = ("--chat", "openai", "--model", "m", "--prompt", "p", "--token-env", "MY_NAME")
    assert leaks_of("run", *load, *chat, target.url) == set()
    assert any(key in seen.headers["authorization"] for seen in target.seen if seen.body)


def test_compare_keeps_no_secret_of_servers_and_requests(leaks_of, tmp_path):
    (tmp_path / "matrix.toml").write_text(filled(MATRIX.replace("GOOD", GOOD)))
    assert leaks_of("compare", "matrix.toml") == set()


def test_diff_keeps_no_secret_of_the_runs_that_it_reads(leaks_of, target, tmp_path):
    load = ("--requests", 4, "-c", 2, *LOAD, "-n", "before", target.url)
    assert leaks_of("run", *load) == set()
    folder = (tmp_path / "_output/torr/latest").resolve()
    result = json.loads((folder / "result.json").read_text())
    # A diff needs a level that claims something.
    result["levels"][0]["health"]["verdict"] = "healthy"
    result["note"] = planted("note", "password=SECRET")
    result["levels"][0]["samples"][0]["body"] = planted("body", '{"password": "SECRET"}')
    for name in ("one", "two"):
        (tmp_path / f"{name}.given.json").write_text(json.dumps(result))
    assert leaks_of("diff", "one.given.json", "two.given.json") == set()


def test_locust_keeps_no_secret_of_names_requests_and_exceptions(
    leaks_of_program, target, tmp_path
):
    (tmp_path / "locustfile.py").write_text(filled(LOCUSTFILE))
    call = ("locust", "-f", "locustfile.py", "--headless", "-u", 1, "-t", "60s", "-H", target.url)
    assert leaks_of_program(TORR, *call, "--torr-note", filled("token=SECRET_note")) == set()
    assert len(target.seen) > 2


def test_functions_keep_no_secret_of_parameters_and_notes(leaks_of_program, tmp_path):
    (tmp_path / "test_it.py").write_text(filled(FUNCTIONS))
    pytest_words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    torr_words = ("--torr-save", "sums", "--torr-rounds", 2)
    note = ("--torr-note", filled("api_key=SECRET_note"))
    found = leaks_of_program(*pytest_words, *torr_words, *note)
    assert found == set()
