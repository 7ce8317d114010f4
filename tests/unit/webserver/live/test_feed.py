"""What the live page is told between levels: as of all levels, though each is read once."""

from __future__ import annotations

import json
from tempfile import TemporaryFile

import msgspec
import pytest

import results
from tiers import full
from torr.report.view import view
from torr.results.base import encode
from torr.results.result import RunHead, TrialFailure
from torr.store.level_log import LevelLog
from torr.store.rundir import RunDirectory
from torr.verdicts.conclusions import of_load
from torr.webserver.live.feed import Feed
from torr.webserver.live.journal import Journal
from torr.webserver.live.metrics import Metrics


class Told(Journal):
    """A journal that is read by its test."""

    def begin(self, run):
        self.run = json.loads(run)


@pytest.fixture
def feed_of():
    """Returns a feed of a run, and where what it says stands."""
    with TemporaryFile() as file:

        def made(directory):
            journal = Told(file)

            def judge(levels):
                return of_load("ladder", levels, ())

            metrics = Metrics({"kind": "ladder", "name": "api"})
            feed = Feed(
                *(journal, metrics, directory.current_result, judge, lambda: None),
                on_error=pytest.fail,
                redact=directory.outside.json,
            )
            return feed, journal

        yield made


@pytest.fixture
def directory(tmp_path):
    with RunDirectory.create(tmp_path, "api", RunHead(kind="ladder")) as made:
        yield made


def keep(directory, level):
    for piece in level.intervals:
        directory.keep_interval(piece)
    directory.keep_level(msgspec.structs.replace(level, intervals=[]))


LADDERS = [results.ladder, *full(results.streamed_ladder)]


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("most", [(1000, 10_000), (10, 10_000), (10, 20)], ids=str)
def test_each_level_adds_itself_to_what_was_said(directory, feed_of, ladder, most, monkeypatch):
    monkeypatch.setattr(view, "MOST_INTERVALS", most[0])
    monkeypatch.setattr(view, "MOST_DRAWN", most[1])
    feed, journal = feed_of(directory)
    for level in ladder().levels:
        keep(directory, level)
        feed._publish_result()
        so_far = directory.current_result()
        conclusions = msgspec.structs.asdict(of_load("ladder", so_far.levels, ()))
        whole = msgspec.structs.replace(so_far, **conclusions)
        assert journal.run == json.loads(encode(view.run(whole)))


def test_each_level_is_read_from_the_disk_once(directory, feed_of, monkeypatch):
    read = []

    def full_levels(self, first=0):
        found = real(self, first)
        read.extend(level.concurrency for level in found)
        return found

    real = LevelLog.full_levels
    monkeypatch.setattr(LevelLog, "full_levels", full_levels)
    feed, _ = feed_of(directory)
    feed.begin()
    for level in results.ladder().levels:
        keep(directory, level)
        feed._publish_result()
    feed.trial_failed(TrialFailure(candidate="go", round=1, kind="died", text="it ended"))
    assert read == [*results.LEVELS]
