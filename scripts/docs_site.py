"""Builds the documentation site from docs/.

    python scripts/docs_site.py [FOLDER]

The site is written into FOLDER/docs; FOLDER is build by default. Zensical makes the pages, once for
each language. Files elsewhere in the repository that pages link to, such as examples and runs of
benches, become pages of the site too, so that every link leads to a page. The build needs no
network, and no page of the site loads anything from elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SETTINGS = DOCS / "mkdocs.yml"
# The files of docs/ that make up the site, as Zensical reads them.
SOURCE = "docs-source"
# Languages that have some of the pages; each is a project of its own, with its own search.
TRANSLATED = {"zh": "中文"}
# Shown as they are; every other file outside docs/ is shown as text.
_IMAGES = {".png", ".svg"}
_LANGUAGES = {".conf": "nginx", ".http": "http", ".ipynb": "json", ".jsonl": "json", ".yml": "yaml"}
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def main() -> int:
    """Build the site; return 0 unless a page has a broken link."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"
    shutil.rmtree(folder / "docs", ignore_errors=True)
    write_source(folder / SOURCE)
    for language in ("en", *TRANSLATED):
        file = folder / f"docs-{language}.yml"
        file.write_text(yaml.safe_dump(settings(language), allow_unicode=True), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "zensical",
            "build",
            "--strict",
            "--config-file",
            str(file),
        ]
        if subprocess.run(command, check=False).returncode != 0:
            return 1
    return 0


def settings(language: str) -> dict[str, Any]:
    """Return the settings of the site in a language, with paths relative to its own file."""
    shared = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    up, below = ("", "") if language == "en" else ("../", f"/{language}")
    languages = [{"name": "English", "link": f"{up}index.html", "lang": "en"}]
    for code, name in TRANSLATED.items():
        link = "index.html" if code == language else f"{up}{code}/index.html"
        languages.append({"name": name, "link": link, "lang": code})
    own = {} if language == "en" else {"nav": translated(language, shared["nav"])}
    return {
        **shared,
        **own,
        "docs_dir": f"{SOURCE}/{language}",
        "site_dir": f"docs{below}",
        "theme": {**shared["theme"], "language": language},
        "extra": {**shared["extra"], "alternate": languages},
    }


def translated(language: str, nav: list[Any]) -> list[str]:
    """Return the pages of a navigation that a language has, without its sections."""
    return [page for page in pages_of(nav) if (DOCS / language / page).exists()]


def write_source(folder: Path) -> None:
    """Write docs/ and what its pages link to into a folder for each language."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, content in sources().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    for language in TRANSLATED:
        for file in (*DOCS.glob("*.css"), *DOCS.glob("*.js")):
            shutil.copy(file, folder / language)


def sources() -> dict[PurePosixPath, bytes]:
    """Return the files of the site by their paths, which begin with the language."""
    waiting = [path for path in DOCS.rglob("*") if path.is_file() and path != SETTINGS]
    files: dict[PurePosixPath, bytes] = {}
    while waiting:
        path = waiting.pop()
        if (place := place_of(path)) in files:
            continue
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            files[place] = rewritten(path, text).encode()
            waiting += [goal for goal in goals(path, text) if goal.is_file()]
        elif path.is_relative_to(DOCS) or path.suffix in _IMAGES:
            files[place] = path.read_bytes()
        else:
            files[place] = shown_as_text(path).encode()
    return files


def place_of(path: Path) -> PurePosixPath:
    """Return the place of a file of the repository in the site, which begins with its language."""
    if path.is_relative_to(DOCS):
        inside = path.relative_to(DOCS)
        is_translated = inside.parts[0] in TRANSLATED
        return PurePosixPath(inside if is_translated else "en" / inside)
    place = PurePosixPath("en/files") / path.relative_to(ROOT)
    is_shown = path.suffix == ".md" or path.suffix in _IMAGES
    return place if is_shown else place.with_name(f"{place.name}.md")


def goals(page: Path, text: str) -> Iterator[Path]:
    """Yield the files to which the relative links of a page lead."""
    for prose in _CODE.split(text)[::2]:
        for link in _LINK.finditer(prose):
            if (goal := goal_of(page, link[2])) is not None:
                yield goal


def goal_of(page: Path, link: str) -> Path | None:
    """Return the file to which a link of a page leads; None for other links."""
    path = link.partition("#")[0]
    if not path or "://" in link:
        return None
    goal = Path(os.path.normpath(page.parent / path))
    return goal / "README.md" if goal.is_dir() else goal


def rewritten(page: Path, text: str) -> str:
    """Return a page whose relative links lead to places in the site."""
    here = place_of(page)

    def link(match: re.Match[str]) -> str:
        goal = goal_of(page, match[2])
        if goal is None:
            return match[0]
        return f"{match[1]}{_way(here, place_of(goal))}{_anchor(match[2])}{match[3]}"

    pieces = _CODE.split(text)
    pieces[::2] = [_LINK.sub(link, prose) for prose in pieces[::2]]
    return "".join(pieces)


def _anchor(link: str) -> str:
    return "".join(link.partition("#")[1:])


def _way(here: PurePosixPath, there: PurePosixPath) -> str:
    """Return the relative path between two places; a page of another language is built already."""
    if here.parts[0] == there.parts[0]:
        return os.path.relpath(there, here.parent)
    inside = there.relative_to("en") if there.parts[0] == "en" else there
    built = inside.with_suffix(".html") if inside.suffix == ".md" else inside
    # The page of a folder.
    built = built.with_name("index.html") if built.name == "README.html" else built
    return os.path.relpath(built, here.parent)


def shown_as_text(path: Path) -> str:
    """Return a page that shows a file of the repository."""
    text = path.read_text(encoding="utf-8").rstrip("\n")
    language = _LANGUAGES.get(path.suffix, path.suffix[1:])
    return f"# {path.relative_to(ROOT)}\n\n````{language}\n{text}\n````\n"


def pages_of(nav: list[Any]) -> Iterator[str]:
    """Yield the pages that a navigation lists, in its order."""
    for entry in nav:
        values = list(entry.values()) if isinstance(entry, dict) else [entry]
        for value in values:
            yield from pages_of(value) if isinstance(value, list) else [value]


if __name__ == "__main__":
    sys.exit(main())
