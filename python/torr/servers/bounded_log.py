"""A log file of bounded size: it keeps the head and the tail, and counts the bytes between.

One file, which can be read at any time. When the disk is full, output is dropped and counted.
The watcher writes it, so this module imports only `os`.
"""

from __future__ import annotations

import os

HEAD_BYTES = 64 << 10
TAIL_BYTES = 192 << 10


class BoundedLog:
    """An open log; `dropped` is the number of bytes that were not kept.

    At most `head` + 2 × `tail` bytes are on the disk: at that size, all between the head and the
    last `tail` bytes is removed.
    """

    def __init__(self, path: str, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self._head = head
        self._tail = tail
        self._size = 0
        self._mark = 0  # bytes in the line with the count
        self.dropped = 0

    def write(self, content: bytes) -> None:
        """Append output of the server."""
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
        """Move the tail behind the head, from the start of a line if it contains a line break."""
        start = max(self._size - self._tail, self._head)
        tail = os.pread(self._file, self._size - start, start)
        tail = tail[tail.find(b"\n") + 1 :]
        self.dropped += self._size - self._head - self._mark - len(tail)
        mark = b"\n[... %d bytes dropped ...]\n" % self.dropped
        content = mark + tail
        os.pwrite(self._file, content, self._head)
        os.ftruncate(self._file, self._head + len(content))
        self._size, self._mark = self._head + len(content), len(mark)
