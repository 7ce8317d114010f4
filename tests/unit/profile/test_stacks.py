"""Stacks: folded text, tables, trees."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.profile.stacks import FunctionWeight, Stacks

TEXT = "main;serve;log 30\nmain;serve 10\nmain;gc 5\nmain;serve;log 15\n"


def test_folded_text_is_read_and_written_the_heaviest_first():
    found = Stacks.folded(TEXT)
    assert found.total == 60
    assert found.fold() == "main;serve;log 45\nmain;serve 10\nmain;gc 5\n"
    assert Stacks.folded(found.fold()) == found


def test_names_may_have_spaces():
    found = Stacks.folded("run (app.py:3);put (cache.py:12) 7\n")
    assert list(found.weights) == [("run (app.py:3)", "put (cache.py:12)")]


def test_a_name_stays_one_name_in_folded_text():
    stacks = Stacks({("main", "<[u8; 32] as Debug>::fmt", "a\nb (c\x85.py:1)"): 2}, "samples")
    assert stacks.fold() == "main;<[u8, 32] as Debug>::fmt;a b (c .py:1) 2\n"
    (stack,) = Stacks.folded(stacks.fold()).weights
    assert len(stack) == 3


@pytest.mark.parametrize("line", ["main", "main;serve x", " 5", "main;serve -3"])
def test_a_line_that_is_no_stack_is_named(line):
    with pytest.raises(UsageError, match="line 2 of a profile is not a stack"):
        Stacks.folded(f"main 1\n{line}\n")


def test_the_table_begins_with_the_function_in_which_most_was_seen():
    assert Stacks.folded(TEXT).top() == [
        *(
            FunctionWeight("log", 45, 45),
            FunctionWeight("serve", 10, 55),
            FunctionWeight("gc", 5, 5),
            FunctionWeight("main", 0, 60),
        )
    ]


def test_recursion_counts_once():
    assert Stacks.folded("f;f;f 3\n").top() == [FunctionWeight("f", 3, 3)]


def test_shares_sum_to_one():
    shares = Stacks.folded(TEXT).shares()
    assert shares.total == pytest.approx(1)
    assert shares.weights[("main", "gc")] == pytest.approx(5 / 60)
    assert Stacks({}, "samples").shares().total == 0


def test_below_the_last_floor_of_a_tree_all_is_put_together():
    stacks = Stacks.folded("a;b;c;d 3\na;b;e 2\na;b 1\na;f 1\n")
    assert [(depth, node.name, node.weight) for depth, node in stacks.tree(2).walk()] == [
        *((0, "all", 7), (1, "a", 7), (2, "b", 6), (3, "(deeper)", 5), (2, "f", 1))
    ]


def test_the_tree_has_callers_above_and_heavier_branches_first():
    tree = Stacks.folded(TEXT).tree()
    assert [(depth, node.name, node.weight) for depth, node in tree.walk()] == [
        *((0, "all", 60), (1, "main", 60), (2, "serve", 55), (3, "log", 45), (2, "gc", 5))
    ]
