"""Looks at the machine's speed: when there is one, and what all of them come to."""

from __future__ import annotations

from itertools import chain, repeat

from torr.micro.machine import MachineSamples, speed_of
from torr.results.functions import MachineSpeed


class Machine:
    """One that runs as fast as it is told, and whose clock stands still but for that."""

    def __init__(self, *speeds):
        self.speeds = list(speeds)
        self.now_s = 0.0
        self.turns = 0

    def turn(self):
        self.turns += 1
        return self.speeds[0]


def test_it_is_looked_at_again_after_ten_seconds_and_no_sooner():
    machine = Machine(1.0)
    looks = MachineSamples(machine.turn, lambda: machine.now_s)
    looks.speed()
    turns = machine.turns
    for now_s, times in ((9.9, 1), (10.0, 2), (19.9, 2), (20.0, 3)):
        machine.now_s = now_s
        looks.speed()
        assert machine.turns == times * turns


def test_a_machine_that_gets_slower_has_the_speeds_of_both_times():
    machine = Machine(1.0)
    looks = MachineSamples(machine.turn, lambda: machine.now_s)
    assert looks.speed() == MachineSpeed(1.0, 1.0, 1.0)
    machine.now_s, machine.speeds = 60.0, [0.5]
    assert looks.speed() == MachineSpeed(0.75, 0.5, 1.0)


def test_rare_turns_say_nothing_of_the_machine():
    assert speed_of([1.0] * 96 + [0.01, 0.02, 9.0, 9.0]) == MachineSpeed(1.0, 1.0, 1.0)
    assert speed_of([3.0, 1.0, 2.0]) == MachineSpeed(2.0, 1.0, 3.0)


def test_one_stalled_turn_says_nothing_even_in_the_first_look():
    turns = chain([1.0] * 5, [0.01, 9.0], repeat(1.0))
    assert MachineSamples(turns.__next__).speed() == MachineSpeed(1.0, 1.0, 1.0)


def test_this_machine_has_a_speed():
    found = MachineSamples().speed()
    assert 0 < found.least <= found.median <= found.most
