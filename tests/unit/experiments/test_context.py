"""Who hears an experiment."""

from __future__ import annotations

from torr.experiments.context import ExperimentListener, ListenerGroup


class Noting(ExperimentListener):
    """A listener that notes what it hears."""

    def __init__(self, notes, name):
        self.notes, self.name = notes, name

    def level_started(self, step):
        self.notes.append((self.name, "started", step))

    def interval_came(self, step, piece):
        self.notes.append((self.name, step, piece))

    def level_ended(self, step, level):
        self.notes.append((self.name, step, level))

    def trial_failed(self, failure):
        self.notes.append((self.name, failure))

    def trials_planned(self, least, most, seconds):
        self.notes.append((self.name, least, most, seconds))

    def noted(self, note):
        self.notes.append((self.name, note))


def test_several_listeners_hear_the_same_in_their_order():
    notes = []
    both = ListenerGroup((Noting(notes, "a"), Noting(notes, "b")))
    both.level_started("step")
    both.interval_came("step", {"t_s": 0})
    both.level_ended("step", {"round": 1})
    both.trial_failed({"round": 2})
    both.trials_planned(1, 2, 3.0)
    both.noted("few responses")
    assert [note[1:] for note in notes if note[0] == "a"] == [
        ("started", "step"),
        ("step", {"t_s": 0}),
        ("step", {"round": 1}),
        ({"round": 2},),
        (1, 2, 3.0),
        ("few responses",),
    ]
    assert notes[0::2] == [("a", *note[1:]) for note in notes[1::2]]
