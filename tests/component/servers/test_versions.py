"""What a candidate is made of, asked of the programs themselves."""

from __future__ import annotations

import json
import platform
import shutil
import sys
from pathlib import Path

import pytest

from torr.servers.command import Command
from torr.servers.versions import versions, versions_in


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    """Nothing is checked out where candidates are started, unless a test does that."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of(*words, **env):
    return versions(Command(words, "http://127.0.0.1:1/", env=tuple(env.items())))


@pytest.fixture
def script(tmp_path):
    """Writes a program of some lines, and gives its path."""

    def written(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        path.chmod(0o755)
        return str(path)

    return written


def test_python_and_its_packages():
    found = of(sys.executable, "app.py")
    assert found["python"] == platform.python_version()
    assert found["pytest"] == pytest.__version__


def test_the_commit_that_is_checked_out_where_a_candidate_is_started(place):
    commits = {"base": "1" * 40, "branch": "2" * 40}
    for name, commit in commits.items():
        (place / name / ".git").mkdir(parents=True)
        (place / name / ".git" / "HEAD").write_text(f"{commit}\n")
        (place / name / "apps").mkdir()
    told = [
        versions(Command(("serve",), "http://127.0.0.1:1/", cwd=Path(name, "apps")))
        for name in commits
    ]
    assert told == [{"git commit": commit[:12]} for commit in commits.values()]


def test_a_script_is_its_interpreters(script):
    found = of(script("serve", f"#!{sys.executable}", "print('never run')"))
    assert found["python"] == platform.python_version()


def test_the_words_of_a_shell_name_programs_too(script):
    serve = script("serve", f"#!{sys.executable}")
    assert of("sh", "-c", f"exec {serve} >/dev/null")["python"] == platform.python_version()


@pytest.fixture
def called(tmp_path):
    """Calls this Python something else."""

    def made(name):
        (tmp_path / name).symlink_to(sys.executable)
        return str(tmp_path / name)

    return made


@pytest.mark.parametrize("name", ["python", "python3", "python3.13", "python3.13t"])
def test_a_command_that_is_called_python_is_asked(called, name):
    assert of(called(name), "app.py")["python"] == platform.python_version()


def test_a_word_that_is_called_python_but_is_not_the_command_is_not_run(called):
    assert of("no-such-program", "--data", called("python3")) == {}


@pytest.mark.parametrize("name", ["python3-config", "pythonista", "python3.x", "python33"])
def test_a_program_whose_name_only_begins_like_pythons_is_not_run(called, name):
    assert of(called(name)) == {}


def test_packages_that_node_finds(script, tmp_path):
    node = script("node", "#!/bin/sh", "echo v20.1.2")
    package = tmp_path / "modules" / "express"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "express", "version": "5.3.0"}))
    (tmp_path / "modules" / "broken").mkdir()
    (tmp_path / "modules" / "broken" / "package.json").write_text("{")
    serve = script("serve.js", f"#!{node}")
    found = of(serve, NODE_PATH=str(tmp_path / "modules"))
    assert found == {"node": "20.1.2", "express": "5.3.0"}


@pytest.fixture
def installed(tmp_path):
    """Puts a package of node's into a folder below the test's."""

    def put(folder, name, version):
        package = tmp_path / folder / name
        package.mkdir(parents=True)
        (package / "package.json").write_text(json.dumps({"name": name, "version": version}))

    return put


def test_packages_of_node_are_looked_for_where_it_starts_and_above(script, tmp_path, installed):
    node = script("node", "#!/bin/sh", "echo v20.1.2")
    installed("app/node_modules", "express", "5.3.0")
    installed("app/node_modules", "@fastify/cors", "9.0.1")
    installed("node_modules", "express", "4.0.0")
    installed("node_modules", "koa", "2.15.0")
    # The script is no file that says where it is: what counts is the folder.
    serve = script("serve", f"#!{node}")
    command = Command((serve,), "http://127.0.0.1:1/", cwd=tmp_path / "app")
    expected = {"node": "20.1.2", "express": "5.3.0", "@fastify/cors": "9.0.1", "koa": "2.15.0"}
    assert versions(command) == expected


def test_packages_of_node_are_looked_for_beside_its_script(script, tmp_path, installed):
    node = script("node", "#!/bin/sh", "echo v20.1.2")
    installed("app/node_modules", "express", "5.3.0")
    (tmp_path / "elsewhere").mkdir()
    serve = script("app/serve.mjs", f"#!{node}")
    command = Command((serve,), "http://127.0.0.1:1/", cwd=tmp_path / "elsewhere")
    assert versions(command) == {"node": "20.1.2", "express": "5.3.0"}


def test_a_command_is_filled_for_a_cell(script, tmp_path):
    script("serve-18.js", f"#!{script('node', '#!/bin/sh', 'echo v18.1.0')}")
    words = (f"{tmp_path}/serve-{{major}}.js", "--port", "{port}", "{processes}")
    command = Command(words, "http://127.0.0.1:{port}/", name="one")
    assert versions_in(command, {"major": 18}) == {"node": "18.1.0"}
    assert versions_in(command, {}) == {}


def test_modules_of_go(script, tmp_path):
    program = script("server", "ELF")
    said = [f"{program}: go1.26.1", "\tpath\texample", "\tdep\tgithub.com/gin\tv1.10.0\th1:x"]
    (tmp_path / "said").write_text("\n".join(said))
    script("go", "#!/bin/sh", f"cat {tmp_path}/said")
    path = f"{tmp_path}:/bin:/usr/bin"
    assert of(program, PATH=path) == {"go": "1.26.1", "github.com/gin": "v1.10.0"}


@pytest.mark.parametrize("lines", [["#!/bin/sh", "exit 1"], ["#!"], [""], ["#!/no/such/python3"]])
def test_what_tells_nothing(script, lines):
    assert of(script("silent", *lines), PATH="/nowhere") == {}
    assert of("no-such-program") == {}


def test_a_shell_has_no_version_of_interest():
    assert shutil.which("sh") is not None
    assert "python" not in of("sh", "-c", "true", PATH="/bin")
