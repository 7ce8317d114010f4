"""The CPU of a tree never gets lost: not with those who die, nor with those who are given away."""

from __future__ import annotations

import os

import pytest

from torr.monitor.process_tree import ProcessTree

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def tree_of(proc, *roots, **more):
    return ProcessTree(lambda: roots, proc.root, **more)


def ticks(tree):
    return round(tree.sample().cpu_s / TICK_S)


def test_what_was_before_the_first_look_is_not_counted(any_proc):
    any_proc.process(100, cpu=500, waited=70)
    any_proc.process(101, parent=100, cpu=40)
    tree = tree_of(any_proc, 100)
    assert ticks(tree) == 0
    any_proc.process(100, cpu=510, waited=70)
    any_proc.process(101, parent=100, cpu=45)
    assert ticks(tree) == 15
    assert sorted(tree.pids) == [100, 101]


def test_a_child_that_came_later_counts_from_its_birth(any_proc):
    any_proc.process(100, cpu=500)
    tree = tree_of(any_proc, 100)
    tree.sample()
    any_proc.process(101, parent=100, cpu=30)
    any_proc.process(102, parent=101, cpu=4)
    assert ticks(tree) == 34


def test_a_child_that_was_waited_for_is_in_its_parents_time_and_counts_once(any_proc):
    any_proc.process(100, cpu=10)
    any_proc.process(101, parent=100, cpu=50)
    tree = tree_of(any_proc, 100)
    tree.sample()
    any_proc.process(101, parent=100, cpu=80)
    assert ticks(tree) == 30
    any_proc.gone(101)
    any_proc.process(100, cpu=10, waited=90)
    assert ticks(tree) == 40


def test_a_child_that_nobody_waited_for_counts_as_it_was_last_seen(any_proc):
    any_proc.process(100, cpu=10)
    any_proc.process(101, parent=100, cpu=50)
    tree = tree_of(any_proc, 100)
    tree.sample()
    any_proc.process(101, parent=100, cpu=80)
    tree.sample()
    any_proc.gone(101)
    assert ticks(tree) == 30
    assert ticks(tree) == 30


def test_a_child_that_was_never_seen_counts_by_its_parent(any_proc):
    any_proc.process(100, cpu=10)
    tree = tree_of(any_proc, 100)
    tree.sample()
    any_proc.process(100, cpu=10, waited=25)
    assert ticks(tree) == 25


def test_a_grandchild_whose_parent_died_too_counts_once(any_proc):
    any_proc.process(100)
    any_proc.process(101, parent=100, cpu=5)
    any_proc.process(102, parent=101, cpu=7)
    tree = tree_of(any_proc, 100)
    tree.sample()
    any_proc.gone(102)
    any_proc.gone(101)
    any_proc.process(100, waited=5 + 7 + 3)
    assert ticks(tree) == 3


def test_a_root_that_died_keeps_its_time(any_proc):
    any_proc.process(100, cpu=10)
    tree = tree_of(any_proc, 100)
    tree.sample()
    any_proc.process(100, cpu=60)
    tree.sample()
    any_proc.gone(100)
    found = tree.sample()
    assert (round(found.cpu_s / TICK_S), found.processes) == (50, 0)


def test_a_member_that_was_given_another_parent_stays_one(any_proc):
    any_proc.process(100)
    any_proc.process(101, parent=100)
    tree = tree_of(any_proc, 100)
    tree.sample()
    any_proc.gone(101)
    any_proc.gone(100)
    any_proc.process(101, parent=1, cpu=9)
    assert (ticks(tree), tree.pids) == (9, [101])


@pytest.mark.parametrize("is_root", [True, False])
def test_a_stranger_with_the_number_of_a_dead_one_is_none_of_them(any_proc, is_root):
    any_proc.process(100)
    any_proc.process(101, parent=100)
    tree = tree_of(any_proc, 100)
    tree.sample()
    pid = 100 if is_root else 101
    any_proc.gone(pid)
    any_proc.process(pid, parent=1, cpu=1000, started=987654)
    assert ticks(tree) == 0
    assert pid not in tree.pids


def test_the_processes_of_another_tree_are_left_out_with_all_below_them(any_proc):
    any_proc.process(100)
    any_proc.process(101, parent=100)
    any_proc.process(102, parent=101)
    any_proc.process(103, parent=100)
    tree = tree_of(any_proc, 100, excluded=lambda: [101])
    tree.sample()
    assert sorted(tree.pids) == [100, 103]


def test_roots_that_come_later_count_from_when_they_are_seen(any_proc):
    any_proc.process(100)
    roots = [100]
    tree = ProcessTree(lambda: roots, any_proc.root)
    tree.sample()
    any_proc.process(200, cpu=5000)
    roots.append(200)
    assert ticks(tree) == 0
    any_proc.process(200, cpu=5007)
    assert ticks(tree) == 7


def test_numbers_of_the_members_are_added_up(proc):
    proc.process(100, pages=3, pss=12, threads=(0, 0), cores="0-1", switches=(5, 2))
    proc.process(101, parent=100, pages=4, pss=8, cores="1,3", switches=(1, 1))
    tree = tree_of(proc, 100)
    tree.sample()
    proc.process(100, pages=3, pss=12, threads=(5_000, 40_000), cores="0-1", switches=(15, 4))
    proc.process(101, parent=100, pages=4, pss=8, threads=(7_000,), cores="1,3", switches=(1, 1))
    found = tree.sample()
    page = os.sysconf("SC_PAGE_SIZE")
    assert (found.processes, found.threads, found.rss_bytes) == (2, 3, 7 * page)
    assert (found.voluntary, found.involuntary) == (2 * 10, 2 * 2)
    assert found.busiest_s == 40e-6
    proc.process(100, pages=3, pss=12, threads=(9_000, 41_000), cores="0-1", switches=(15, 4))
    assert tree.sample().busiest_s == 44e-6
    assert tree.pss_bytes() == 20 * 1024
    assert tree.cores() == (0, 1, 3)


def test_switches_of_threads_that_ended_stay_counted(proc):
    proc.process(100, threads=(0, 0), switches=(5, 5))
    tree = tree_of(proc, 100)
    tree.sample()
    proc.process(100, threads=(0, 0), switches=(8, 5))
    tree.sample()
    proc.process(100, threads=(0,), switches=(9, 5))
    assert tree.sample().voluntary == 2 * 3 + 1


def test_memory_that_may_not_be_looked_at_is_unknown(proc):
    proc.process(100)
    tree = tree_of(proc, 100)
    tree.sample()
    assert tree.pss_bytes() is None


def test_a_process_that_is_not_there_is_nothing(any_proc):
    found = tree_of(any_proc, 4_000_000).sample()
    assert (found.cpu_s, found.processes, found.descriptors) == (0, 0, None)
