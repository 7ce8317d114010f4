"""What a tuning measured and concluded: places of trials, settings that are out, finalists.

A setting is known by its number, its index in the list of all settings
(`model/settings.py:settings_of` of the parameters in `experiment`).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torr.messages.message import Message
from torr.results.base import Amount, Count, ResultPart
from torr.results.verdict import ConditionWord, Verdict

Phase = Literal["search", "fresh"]


class TrialPlace(msgspec.Struct, frozen=True):
    """The place of a trial: `stage` counts the levels of halving, 0 in fresh rounds.

    Rounds count from 1 in each phase. `attempt` is 2 for the repetition of a trial without a value.
    """

    phase: Phase
    stage: Count
    round: Count
    setting: Count
    attempt: Count = 1


class SettingOut(ResultPart, kw_only=False):
    """A setting that is out of the tuning, since its trials had no value for this reason."""

    setting: Count
    problem: Annotated[str, Meta(description="the kind of the failure; limited: by the generator")]
    why: Annotated[Message | None, Meta(description="the last failure")] = None


class TunedSetting(ResultPart, kw_only=True):
    """The default or a finalist, from fresh rounds alone."""

    setting: Count
    rounds: Annotated[Count, Meta(description="fresh rounds in which it has a number")]
    value: Annotated[float | None, Meta(description="median of the primary metric")] = None
    slo: Annotated[
        ConditionWord | None, Meta(description="of all SLOs together; null without SLOs")
    ] = None
    slos: Annotated[
        list[Verdict], Meta(description="each end of an interval holds by itself with 1 − alpha")
    ] = []
    against_default: Verdict | None = None
    against_champion: Verdict | None = None
    is_beyond_margin: Annotated[
        bool, Meta(description="better, and by the whole interval by at least 3 %")
    ] = False
    cpu_us_per_request: Annotated[Amount | None, Meta(description="median")] = None
    memory_bytes: Annotated[Amount | None, Meta(description="median of the highest")] = None


class SettingUse(ResultPart, kw_only=True):
    """How to start the server in a setting outside of torr; secrets are left out."""

    command: Annotated[str, Meta(description="a line for a shell; {port} is left open")]
    env: dict[str, str] = {}
    files: Annotated[dict[str, str], Meta(description="filled templates, by file name")] = {}
    before: Annotated[list[str], Meta(description="commands that run before")] = []


class TuningOutcome(ResultPart, kw_only=True):
    """What a tuning found so far.

    `finalists` are in the order that the search fixed, the champion first. `measured` are those of
    them that are not out. Without a recommended setting, the default should stay.
    """

    is_complete: bool
    rounds: Annotated[Count, Meta(description="fresh rounds at the last look; 0 before a look")] = 0
    default: TunedSetting | None = None
    finalists: list[Count] = []
    measured: list[TunedSetting] = []
    recommended: Count | None = None
    use: Annotated[SettingUse | None, Meta(description="how to start the recommended setting")] = (
        None
    )
    tied: Annotated[
        list[Count],
        Meta(description="runners-up with shown SLOs that cannot be told apart from the champion"),
    ] = []
    out: list[SettingOut] = []
    untried: Annotated[Count, Meta(description="how many settings did not enter the search")] = 0
    untried_settings: Annotated[list[Count], Meta(description="which ones they are")] = []
