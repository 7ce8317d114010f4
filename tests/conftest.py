"""What several folders of tests use."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

# Locust changes the whole process that imports it: its tests have one of their own.
collect_ignore = ["locust"]


@pytest.fixture(scope="session")
def words_tokenizer(tmp_path_factory):
    """The file of a tokenizer to which every word between spaces is a token."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    path = tmp_path_factory.mktemp("tokenizer") / "words.json"
    tokenizer.save(str(path))
    return path
