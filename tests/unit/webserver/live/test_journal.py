"""Events with ids: whoever comes late or again misses nothing."""

from __future__ import annotations

from tempfile import TemporaryFile

import pytest

from torr.webserver.live.journal import Journal, JournalPosition


@pytest.fixture
def file():
    with TemporaryFile() as found:
        yield found


@pytest.fixture
def journal(file):
    return Journal(file)


def read(journal, place=None):
    """Everything behind a place: kinds with their data, and where the reader stands then."""
    place = place or JournalPosition()
    found = []
    while (event := journal.next(place)) is not None:
        place, text = event
        fields = dict(line.split(": ", 1) for line in text.decode().splitlines() if line)
        found.append((fields["event"], fields["data"]))
    return found, place


def last_id(journal, place):
    """The id that a reader at this place got last."""
    _, text = journal.next(JournalPosition(place.seen - 1, place.progress))
    return text.decode().splitlines()[0].removeprefix("id: ")


def test_a_late_reader_gets_the_newest_run_and_what_came_after(journal):
    journal.begin(b"1")
    journal.add(b"a")
    journal.begin(b"2")
    journal.add(b"b")
    journal.add(b"c")
    assert read(journal)[0] == [("run", "2"), ("interval", "b"), ("interval", "c")]


def test_a_reader_that_comes_again_gets_what_it_missed_alone(journal):
    journal.begin(b"1")
    journal.add(b"a")
    _, place = read(journal)
    again = last_id(journal, place)
    journal.add(b"b")
    journal.add(b"c")
    assert read(journal, journal.position_of(again))[0] == [("interval", "b"), ("interval", "c")]


def test_a_reader_that_missed_a_run_gets_that_and_no_interval_of_before(journal):
    journal.begin(b"1")
    journal.add(b"a")
    _, place = read(journal)
    again = last_id(journal, place)
    journal.add(b"b")
    journal.begin(b"2")
    assert read(journal, journal.position_of(again))[0] == [("run", "2")]


@pytest.mark.parametrize("said", ["", "x", "deadbeef-2", "-1", "{mark}-99", "{mark}-²", "{mark}-"])
def test_an_id_that_is_none_of_this_run_begins_at_the_start(journal, said):
    journal.begin(b"1")
    journal.add(b"a")
    _, place = read(journal)
    mark = last_id(journal, place).partition("-")[0]
    assert journal.position_of(said.format(mark=mark)) == JournalPosition()


def test_progress_is_told_once_and_only_the_newest(journal):
    journal.begin(b"1")
    journal.set_progress(b"10")
    journal.set_progress(b"20")
    found, place = read(journal)
    assert found == [("run", "1"), ("progress", "20")]
    assert read(journal, place)[0] == []
    journal.set_progress(b"30")
    assert read(journal, place)[0] == [("progress", "30")]


def test_nothing_comes_after_the_end(journal):
    journal.begin(b"1")
    journal.add(b"a")
    journal.set_progress(b"10")
    journal.end(b"9")
    found, place = read(journal)
    assert found == [("end", "9")]
    assert journal.is_over
    assert not journal.is_behind(place)


def test_intervals_are_in_the_file_and_not_in_memory(journal, file):
    journal.begin(b"1")
    for number in range(1000):
        journal.add(b"%d" % number)
    assert file.tell() > 20_000
    assert len(journal._current.ends) * journal._current.ends.itemsize == 8000
    assert read(journal)[0][-1] == ("interval", "999")
