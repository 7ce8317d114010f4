"""What no file of the repository may say."""

import subprocess

import pytest

from documents import ROOT

# Written in two parts, so that this file does not say them either.
FORBIDDEN = [
    *("pypi" + ".org", "python" + "hosted.org", "registry.npm" + "js.org", "npm" + "js.com"),
    *("crates" + ".io", "proxy." + "golang.org", "sum." + "golang.org", "deb." + "debian.org"),
    *("/ro" + "ot/", "/wo" + "rk/"),
]
# How cargo writes where a crate is from: a name that it gives, not an address that is asked.
LOCK_SOURCE = 'source = "registry+'


def files():
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip("not a checkout of git")
    return [ROOT / name for name in found.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_registry_or_a_path_of_somebodys_machine():
    said = []
    for path in files():
        text = path.read_bytes().decode("utf-8", errors="replace")
        if path.name == "Cargo.lock":
            text = "\n".join(x for x in text.splitlines() if not x.startswith(LOCK_SOURCE))
        said += [f"{path.relative_to(ROOT)}: {word}" for word in FORBIDDEN if word in text]
    assert said == []
