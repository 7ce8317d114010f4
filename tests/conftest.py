"""What several folders of tests use."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

# Locust changes the whole process that imports it: its tests have one of their own.
collect_ignore = ["locust"]


def pytest_configure(config):
    """Runs of tests are kept apart from the user's; before any fixture makes one."""
    folder = TemporaryDirectory(prefix="torr-store-")
    config.add_cleanup(folder.cleanup)
    os.environ["TORR_STORE"] = f"sqlite:///{folder.name}/runs.db"


@pytest.fixture
def own_store(monkeypatch, tmp_path):
    """A store of this test alone."""
    path = tmp_path / "kept" / "runs.db"
    monkeypatch.setenv("TORR_STORE", f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def words_tokenizer(tmp_path_factory):
    """The file of a tokenizer to which every word between spaces is a token."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    path = tmp_path_factory.mktemp("tokenizer") / "words.json"
    tokenizer.save(str(path))
    return path
