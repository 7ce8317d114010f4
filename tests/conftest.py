"""What several folders of tests use."""

from __future__ import annotations

import os
import time
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from tokenizers import Tokenizer, models, pre_tokenizers

from doubles import FakeEngine

# Locust changes the whole process that imports it: its tests have one of their own.
collect_ignore = ["component/locust"]

# A busy machine is slow, and nothing is wrong with what is tested.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Runs of tests are kept apart from the user's: before any other file looks at the environment.
STORE = TemporaryDirectory(prefix="torr-store-")
os.environ["TORR_STORE"] = f"sqlite:///{STORE.name}/runs.db"


def pytest_unconfigure():
    STORE.cleanup()


@pytest.fixture
def own_store(monkeypatch, tmp_path):
    """A store of this test alone."""
    path = tmp_path / "kept" / "runs.db"
    monkeypatch.setenv("TORR_STORE", f"sqlite:///{path}")
    return path


@pytest.fixture
def fake(monkeypatch):
    """The engine that commands and calls of this test get."""
    engine = FakeEngine()
    monkeypatch.setattr("torr.engine.start", engine.start)
    return engine


@pytest.fixture
def patient(monkeypatch):
    """A monitor that waits for endpoints however long a busy machine takes."""
    from torr.monitor import fetch, prometheus, scraped

    monkeypatch.setattr(fetch, "CONNECT_S", 60.0)
    monkeypatch.setattr(prometheus, "ASKING_S", 60.0)
    for module in (fetch, prometheus, scraped):
        monkeypatch.setattr(module, "ANSWER_S", 60.0)


@pytest.fixture(scope="session")
def words_tokenizer(tmp_path_factory):
    """The file of a tokenizer to which every word between spaces is a token."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    path = tmp_path_factory.mktemp("tokenizer") / "words.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture
def shanghai(monkeypatch):
    """A machine eight hours before UTC."""
    monkeypatch.setenv("TZ", "CST-8")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
