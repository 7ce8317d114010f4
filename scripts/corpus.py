"""Keeps what fuzzing found: a text file a target, one input a line in base64, sorted.

python scripts/corpus.py unpack FILE FOLDER
python scripts/corpus.py pack FOLDER FILE
"""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path


def unpack(file: Path, folder: Path) -> None:
    """Write each line of FILE into a file of its own, named after its content."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = file.read_text(encoding="ascii").splitlines() if file.exists() else []
    for line in lines:
        content = base64.b64decode(line, validate=True)
        (folder / hashlib.sha256(content).hexdigest()[:20]).write_bytes(content)


def pack(folder: Path, file: Path) -> None:
    """Write every file of FOLDER as a line of FILE."""
    inputs = {path.read_bytes() for path in folder.iterdir()}
    lines = sorted(base64.b64encode(content).decode("ascii") for content in inputs)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


if __name__ == "__main__":
    word, source, place = sys.argv[1:]
    {"unpack": unpack, "pack": pack}[word](Path(source), Path(place))
