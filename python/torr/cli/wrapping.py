"""Sentences in lines of a terminal: broken between words, as pipes and files get whole lines."""

from __future__ import annotations

from typing import TextIO


def wrapped(text: str, width: int, indent: int = 0) -> str:
    """Break each line of a text between words, so that it fits into `width` cells.

    `indent` is the number of cells before the text in its first line, and of the spaces before the
    others. A word that is too long stays whole, so that a path or a URL can be copied.
    """
    return "\n".join(_wrapped_line(line, width, indent) for line in text.split("\n"))


def for_stream(text: str, stream: TextIO) -> str:
    """Break the lines of a text if the stream is a terminal."""
    if not stream.isatty():
        return text
    from shutil import get_terminal_size  # only terminals need it

    return wrapped(text, get_terminal_size().columns)


def _wrapped_line(line: str, width: int, indent: int) -> str:
    from rich.cells import cell_len  # takes 10 ms to import, and only terminals need it

    body = line.lstrip(" ")
    # Lines that continue a text begin below its first word.
    start = indent + len(line) - len(body)
    lines = [""]
    for word in body.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1].strip() and start + cell_len(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    margin = line[: len(line) - len(body)]
    return margin + f"\n{' ' * start}".join(lines)
