"""A log file that cannot grow without end: its head and its tail are kept, between them a count.

One file, which can be read at any time. A disk that is full loses lines, which are counted, and
stops nobody. Imports next to nothing: the watcher writes it.
"""

from __future__ import annotations

import os

HEAD_BYTES = 64 << 10
TAIL_BYTES = 192 << 10


class BoundedLog:
    """An open log; `dropped` is how many bytes were not kept.

    At most `head` + 2 × `tail` bytes are on the disk: when they are, all between the head and the
    last `tail` goes.
    """

    def __init__(self, path: str, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self._head = head
        self._tail = tail
        self._size = 0
        self._mark = 0  # how long the line with the count is
        self.dropped = 0

    def write(self, content: bytes) -> None:
        """Add what was printed."""
        for start in range(0, len(content), self._tail):
            self._add(content[start : start + self._tail])

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _add(self, piece: bytes) -> None:
        try:
            if self._size + len(piece) > self._head + 2 * self._tail:
                self._shrink()
            written = os.pwrite(self._file, piece, self._size)
        except OSError:
            written = 0
        self._size += written
        self.dropped += len(piece) - written

    def _shrink(self) -> None:
        """Move the tail behind the head, from the beginning of a line on if it has one."""
        start = max(self._size - self._tail, self._head)
        kept = os.pread(self._file, self._size - start, start)
        kept = kept[kept.find(b"\n") + 1 :]
        self.dropped += self._size - self._head - self._mark - len(kept)
        mark = b"\n[... %d bytes dropped ...]\n" % self.dropped
        content = mark + kept
        os.pwrite(self._file, content, self._head)
        os.ftruncate(self._file, self._head + len(content))
        self._size, self._mark = self._head + len(content), len(mark)
