"""The streams of a target's log and of a client, put side by side one by one.

Neither log names the other's streams. Both know how many texts a stream had: streams of the same
number are joined in the order in which they began. That is exact where these are far apart in time.
"""

from __future__ import annotations

import csv
import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple


class Stream(NamedTuple):
    """A stream that ended well: its texts, and when it began and had the first and last one, in ns.

    A stream begins when its request is sent or received. Clients may have clocks of their own.
    """

    texts: int
    began: int
    first: int
    last: int

    @property
    def ttft_ms(self) -> float:
        """The time to its first text."""
        return (self.first - self.began) / 1e6


Pair = tuple[Stream, Stream]
"""A stream as its target logged it, and as the client did."""


@dataclass
class TargetLog:
    """What `torr target openai --log` wrote: streams that ended, and how late texts were sent."""

    streams: list[Stream] = field(default_factory=list)
    texts: int = 0
    unfinished: int = 0
    sent_ns: array[int] = field(default_factory=lambda: array("q"))
    late_ns: array[int] = field(default_factory=lambda: array("q"))


def target_log(path: Path) -> TargetLog:
    """Read the log of a target."""
    log = TargetLog()
    received: dict[str, int] = {}
    texts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    with path.open() as lines:
        next(lines, None)
        for line in lines:
            number, event, planned, sent_at, _ = line.split(",")
            sent = int(sent_at)
            if event == "text":
                seen = texts[number]
                seen[0] += 1
                seen[1] = seen[1] or sent
                seen[2] = sent
                log.sent_ns.append(sent)
                log.late_ns.append(sent - int(planned))
            elif event == "received":
                received[number] = sent
            elif event == "end":
                count, first, last = texts.pop(number, [0, 0, 0])
                log.streams.append(Stream(count, received.pop(number), first, last))
    log.texts, log.unfinished = len(log.sent_ns), len(received)
    return log


def torr_log(path: Path) -> list[Stream]:
    """Return the streams of `torr run --log` that ended well, also those of the warm-up."""
    with path.open(newline="") as lines:
        return [
            Stream(
                int(row["texts"]),
                int(row["sent_ns"]),
                int(row["first_text_ns"]),
                int(row["last_text_ns"]),
            )
            for row in csv.DictReader(lines)
            if row["class"] == "ok"
        ]


def aiperf_records(path: Path) -> list[Stream]:
    """Return the streams of AIPerf's profile_export.jsonl that ended well."""
    streams = []
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record.get("error"):
            continue
        began = record["metadata"]["request_start_ns"]
        metrics = {name: metric["value"] for name, metric in record["metrics"].items()}
        first = began + round(metrics["time_to_first_token"] * 1e6)
        last = began + round(metrics["request_latency"] * 1e6)
        streams.append(Stream(metrics["usage_completion_tokens"], began, first, last))
    return streams


def joined(sent: Iterable[Stream], seen: Iterable[Stream], apart_ms: float) -> list[Pair]:
    """Return pairs of a target's and a client's streams.

    Left out are streams of the same number of texts that began less than `apart_ms` after each
    other, and all streams of a number of texts of which one side has more.
    """
    of_target, of_client = _by_texts(sent), _by_texts(seen)
    pairs: list[Pair] = []
    for texts in sorted({*of_target, *of_client}):
        logged, reported = of_target[texts], of_client[texts]
        if len(logged) != len(reported):
            continue
        far = zip(_are_far(logged, apart_ms), _are_far(reported, apart_ms), strict=True)
        both = zip(logged, reported, far, strict=True)
        pairs += [(target, client) for target, client, are_far in both if all(are_far)]
    return pairs


def _by_texts(streams: Iterable[Stream]) -> defaultdict[int, list[Stream]]:
    """Return the streams of each number of texts, in the order in which they began."""
    groups: defaultdict[int, list[Stream]] = defaultdict(list)
    for stream in sorted(streams, key=lambda stream: stream.began):
        groups[stream.texts].append(stream)
    return groups


def _are_far(streams: Sequence[Stream], apart_ms: float) -> list[bool]:
    """Return for each stream whether it began long enough after and before its neighbours."""
    gaps = [(other.began - one.began) / 1e6 >= apart_ms for one, other in pairwise(streams)]
    return [before and after for before, after in zip([True, *gaps], [*gaps, True], strict=True)]
