"""Whether leaks are found, and found only where there are some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from micro.clean import CLEAN
from micro.leaky import LEAKY
from micro.row import Effort, Finding
from torr.micro.leaking import leaks

BAR = "1 object left by 10 operations found within 10,000; no alarm for ≥ 20 clean functions"

_COUNT = 10_000
_ALARM = "growth that goes on"
_LEAST_CLEAN = 20

Words = Mapping[str, Sequence[str]]


def measure(effort: Effort) -> Finding:
    """Each function a few times, all of them in turn."""
    clean: dict[str, list[str]] = {name: [] for name in CLEAN}
    leaky: dict[str, list[str]] = {name: [] for name in LEAKY}
    for _ in range(effort.watches):
        for name, call in CLEAN.items():
            clean[name].append(leaks(call, _COUNT).word)
        for name, leave in LEAKY.items():
            leaky[name].append(leaks(leave, _COUNT, inputs=int).word)
    within, words = judged(clean, leaky)
    return Finding(within, words, {"clean": clean, "leaky": leaky})


def judged(clean: Words, leaky: Words) -> tuple[bool, list[str]]:
    """Whether every leak was found every time, and none where there is none."""
    false = [name for name, words in clean.items() if _ALARM in words]
    missed = [name for name, words in leaky.items() if set(words) != {_ALARM}]
    said = [
        f"{_alarms(leaky)} of {_watches(leaky)} leaks found in {len(leaky)} functions",
        f"{_alarms(clean)} alarms in {_watches(clean)} watches of {len(clean)} clean functions",
    ]
    said += [f"**missed**: {name}" for name in missed] + [f"**false**: {name}" for name in false]
    return not false and not missed and len(clean) >= _LEAST_CLEAN, said


def _alarms(words: Words) -> int:
    return sum(each.count(_ALARM) for each in words.values())


def _watches(words: Words) -> int:
    return sum(map(len, words.values()))
