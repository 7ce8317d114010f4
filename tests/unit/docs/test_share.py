"""The shell completions and the man page that packages install."""

from __future__ import annotations

import os
import subprocess

import pytest
from click.testing import CliRunner

from reference import ROOT, share
from torr.cli.main import VERBS, torr

SHARE = ROOT / "packaging/data/share"


@pytest.mark.parametrize(
    ("words", "completed"),
    [("torr la", "plain,ladder"), ("torr run --sl", "plain,--slo"), ("torr runs li", "plain,list")],
)
def test_a_command_and_a_flag_are_completed(words, completed, monkeypatch):
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    monkeypatch.setenv("_TORR_COMPLETE", "bash_complete")
    ended = CliRunner().invoke(torr, prog_name="torr")
    assert completed in ended.output.splitlines()


def test_bash_reads_its_completion():
    script = SHARE / "bash-completion/completions/torr"
    subprocess.run(["bash", "-n", script], check=True, env={"PATH": os.environ["PATH"]})
    assert "complete -o nosort -F _torr_completion torr" in script.read_text()


def test_zsh_and_fish_complete_torr():
    assert share.zsh().startswith("#compdef torr\n")
    assert "complete --no-files --command torr" in share.fish()


def test_the_man_page_has_every_command_and_no_line_that_is_a_wrong_macro():
    lines = share.man().splitlines()
    for verb in VERBS:
        assert any(line.startswith(f".SS torr {verb}") for line in lines), verb
    macros = {line.split()[0] for line in lines if line.startswith(".")}
    assert macros == {".TH", ".SH", ".SS", ".TP", ".B", ".PP", ".RS", ".RE", ".nf", ".fi"}
