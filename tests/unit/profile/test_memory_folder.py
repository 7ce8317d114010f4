"""The folder by way of which a process is asked for its memory: nobody else may write to it."""

from __future__ import annotations

import os

import pytest

from torr.errors import UsageError
from torr.profile import memory
from torr.profile.hook import VARIABLE, sitecustomize
from torr.profile.memory import Memray

PID = os.getpid()


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "memory"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def waits_in(monkeypatch):
    """Has this process wait in a folder, as far as torr can see."""
    monkeypatch.setattr(memory, "check", lambda: None)

    def made(folder):
        monkeypatch.setattr(memory, "environment_of", lambda _pid: {VARIABLE: str(folder)})

    return made


def spoil(folder, how, monkeypatch):
    """Make a folder one that somebody else could have prepared; return what names it."""
    if how == "open":
        folder.chmod(0o770)
    elif how == "link":
        link = folder.with_name("link")
        link.symlink_to(folder)
        return link
    elif how == "file":
        folder.rmdir()
        folder.touch(mode=0o600)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    return folder


HOW = ["open", "link", "file", "others"]


def test_a_folder_of_ones_own_is_used(folder, waits_in):
    (folder / f"{PID}.here").touch()
    waits_in(folder)
    Memray((PID,)).check()


@pytest.mark.parametrize("how", HOW)
def test_torr_asks_nothing_by_way_of_a_folder_of_others(folder, waits_in, how, monkeypatch):
    (folder / f"{PID}.here").touch() if how != "file" else None
    waits_in(spoil(folder, how, monkeypatch))
    with pytest.raises(UsageError, match="not a directory that belongs to you alone"):
        Memray((PID,)).check()


@pytest.mark.parametrize("how", HOW)
def test_a_process_does_not_wait_in_a_folder_of_others(folder, how, monkeypatch, capsys):
    place = spoil(folder, how, monkeypatch)
    sitecustomize._wait(str(place))
    assert f"{VARIABLE}={place} is not used" in capsys.readouterr().err
    assert not folder.is_dir() or not list(folder.iterdir())


def test_a_folder_that_is_made_is_of_its_maker_alone(tmp_path, monkeypatch):
    class WaitsError(Exception):
        """The process waits to be asked."""

    def sleep(_seconds):
        raise WaitsError

    monkeypatch.setattr(sitecustomize, "sleep", sleep)
    made = tmp_path / "made" / "by it"
    with pytest.raises(WaitsError):
        sitecustomize._wait(str(made))
    assert sitecustomize.is_private(str(made))
    assert (made / f"{PID}.here").exists()
