"""Fixtures and settings of all tests but those in component/locust."""

from __future__ import annotations

import gc
import os
import re
import signal
import time

import pytest
from hypothesis import HealthCheck, settings
from tokenizers import Tokenizer, models, pre_tokenizers

from doubles import FakeEngine

# Importing Locust changes the whole process, so its tests run in pytest processes of their own.
collect_ignore = ["component/locust"]

# On a busy machine, a slow example is not a failure. Examples are the same in each run of a commit,
# so that a test does not fail at random; `make test-full` has random ones, and more of them.
STEADY = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None
)
settings.register_profile("steady", STEADY)
settings.register_profile("random", STEADY, derandomize=False)
settings.load_profile("steady")

# What these variables change in the output of torr, pytest and Locust is not what a test expects:
# pytest, for example, does not shorten its summary on a CI server.
CHANGE_OUTPUT = re.compile(
    r"BUILD_NUMBER|CI|COLUMNS|LINES|(CLI|FORCE_|NO_|PY_)?COLORS?|GITHUB_\w+|PYTEST_ADDOPTS"
    r"|(LOCUST|RAY|TORR)_\w+|(ALL|HTTP|HTTPS|NO)_PROXY"
)
for name in filter(lambda name: CHANGE_OUTPUT.fullmatch(name.upper()), tuple(os.environ)):
    del os.environ[name]

# Under nohup SIGHUP is ignored, which child processes inherit, and then torr ignores it, too. A
# handler that does nothing becomes the default action in child processes.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

# Runs are registered nowhere, but in tests that use `own_store`. This must come before other files
# read the environment.
os.environ["TORR_STORE"] = "none"


def pytest_configure():
    """Do not search for reference cycles while tests are collected: what is made then stays."""
    gc.disable()


def pytest_collection_finish():
    """Search for cycles a tenth as often as Python does: thousands of tests are to be visited."""
    gc.enable()
    gc.set_threshold(7000, 10, 10)


@pytest.fixture
def own_store(monkeypatch, tmp_path):
    """Return the path of a store that only this test uses."""
    path = tmp_path / "kept" / "runs.db"
    monkeypatch.setenv("TORR_STORE", f"sqlite:///{path}")
    return path


@pytest.fixture
def fake(monkeypatch):
    """Replace the engine of this test by a double, and return it."""
    engine = FakeEngine()
    monkeypatch.setattr("torr.engine.start", engine.start)
    return engine


@pytest.fixture
def long_monitor_timeouts(monkeypatch):
    """Let the monitor wait 60 s for endpoints, since a busy machine answers late."""
    from torr.monitor import fetch, prometheus, serving_source, text_endpoint

    monkeypatch.setattr(fetch, "CONNECT_S", 60.0)
    monkeypatch.setattr(prometheus, "QUERIES_S", 60.0)
    for module in (fetch, prometheus, serving_source, text_endpoint):
        monkeypatch.setattr(module, "ANSWER_S", 60.0)


@pytest.fixture(scope="session")
def words_tokenizer(tmp_path_factory):
    """Return the file of a tokenizer that makes each word between spaces one token."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    path = tmp_path_factory.mktemp("tokenizer") / "words.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="session")
def ids_tokenizer(tmp_path_factory):
    """Return the file of a tokenizer with 1,000 ids, of which 0, 10 and 999 are special."""
    special = {0: "<s>", 10: "</s>", 999: "<pad>"}
    vocabulary = {special.get(n, f"w{n}"): n for n in range(1000)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "w1"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens([*special.values(), "<behind>"])
    path = tmp_path_factory.mktemp("tokenizer") / "ids.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture
def shanghai(monkeypatch):
    """Set the time zone to UTC+8, in POSIX notation CST-8."""
    monkeypatch.setenv("TZ", "CST-8")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
