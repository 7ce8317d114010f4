"""How many trials are left, and how long they take."""

from __future__ import annotations

from torr.messages.counts import counted
from torr.messages.say import Text, say


def trials_text(least: int, most: int, seconds: float) -> Text:
    """Return numbers of trials and their time: `160 to 280 trials, about 9 min to 15 min`."""
    shorter, longer = (time_text(count * seconds) for count in (least, most))
    if least == most:
        return say("{trials}, about {time}", trials=counted(most, "trial"), time=longer)
    return say(
        "{least:,} to {trials}, about {shorter} to {longer}",
        least=least,
        trials=counted(most, "trial"),
        shorter=shorter,
        longer=longer,
    )


def time_text(seconds: float) -> str:
    """Return a time as it is estimated: `9 min`."""
    minutes = round(seconds / 60)
    if minutes >= 120:
        return f"{minutes / 60:.1f} h"
    return f"{minutes} min" if minutes else f"{round(seconds)} s"
