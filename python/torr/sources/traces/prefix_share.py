"""The share of a trace's blocks that a prefix cache without an end would have.

A block is in the cache if an earlier request began with the same blocks up to this one. This is the
most that a server can reach; a real cache has an end, and forgets.

A set has a hash of each beginning. When it is full, only beginnings whose hash has so many zero
bits are followed, twice fewer each time, and each counts for all that are not: the share is an
estimate from then on. (Waldspurger et al., Efficient MRC Construction with SHARDS, FAST 2015.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.sources.traces.row import TraceRow

MOST_BEGINNINGS = 1 << 17
"""Beginnings that are remembered: about 10 MB."""

# The bits of a hash that decide whether a beginning is followed; the lower ones choose its place
# in the set.
_FOLLOWED_SHIFT = 40


class PrefixShare:
    """Counts blocks and tokens of requests, in all and in the cache."""

    def __init__(self, most_beginnings: int = MOST_BEGINNINGS) -> None:
        self.blocks = self.cached_blocks = 0
        self.tokens = self.cached_tokens = 0
        self._most = most_beginnings
        self._known: set[int] = set()
        # Beginnings are followed if these bits of their hash are 0: one in `_mask` + 1.
        self._mask = 0

    @property
    def is_estimate(self) -> bool:
        """Whether only a sample of the blocks was followed."""
        return self._mask > 0

    @property
    def of_blocks(self) -> float | None:
        """The share of blocks in the cache, 0–1; None without blocks."""
        return self.cached_blocks / self.blocks if self.blocks else None

    @property
    def of_tokens(self) -> float | None:
        """The share of input tokens in the cache, 0–1; None without blocks."""
        return self.cached_tokens / self.tokens if self.blocks and self.tokens else None

    def add(self, row: TraceRow) -> None:
        """Count the blocks of a request, and store them in the cache."""
        tokens = row.input_tokens or 0
        self.tokens += tokens
        self.blocks += len(row.hash_ids)
        beginning, known, mask = 0, self._known, self._mask
        for number, hash_id in enumerate(row.hash_ids):
            beginning = hash((beginning, hash_id))
            if mask and (beginning >> _FOLLOWED_SHIFT) & mask:
                continue
            if beginning in known:
                self.cached_blocks += mask + 1
                left = tokens - number * row.block_tokens
                self.cached_tokens += (mask + 1) * max(0, min(row.block_tokens, left))
            else:
                known.add(beginning)
        while len(self._known) > self._most:
            self._mask = self._mask * 2 + 1
            self._known = {x for x in self._known if not (x >> _FOLLOWED_SHIFT) & self._mask}
