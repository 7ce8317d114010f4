import pytest

from torr.errors import UsageError
from torr.model.change import Change


@pytest.mark.parametrize(
    ("text", "key", "op", "limit", "name"),
    [
        ("p99 > +10%", "response_ms.p99", ">", 10, None),
        ("p99.9 >= +2.5 %", "response_ms.p99_9", ">=", 2.5, None),
        ("ok/s < -5%", "ok_per_s", "<", -5, None),
        ("login: service mean > +1%", "service_ms.mean", ">", 1, "login"),
        ("errors > +0.5 points", "error_rate", ">", 0.5, None),
        ("success <= -1point", "success_rate", "<=", -1, None),
        ("goodput < -2 points", "goodput_rate", "<", -2, None),
        ("ttft p95 > +10%", "ttft_ms.p95", ">", 10, None),
        ("tokens/s < -10%", "tokens_per_s", "<", -10, None),
    ],
)
def test_a_change_is_read(text, key, op, limit, name):
    found = Change.parse(text)
    assert (found.key, found.op, found.limit, found.name) == (key, op, limit, name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("p99 > 10%", "'10%' is not a signed percentage"),
        ("p99 > +10ms", "'+10ms' is not a signed percentage"),
        ("errors > +10%", "'+10%' is not signed percentage points"),
        ("p99", "is not a condition"),
        ("p42 > +1%", "p42 is not recorded"),
        ("speed > +1%", "speed is not a metric"),
    ],
)
def test_what_is_no_change_is_refused(text, says):
    with pytest.raises(UsageError) as refused:
        Change.parse(text)
    assert says in refused.value.message
    assert refused.value.hint


def test_a_change_of_what_may_be_none_is_refused():
    with pytest.raises(UsageError, match="failures may be none"):
        Change.parse("failures > +10%")


def test_a_share_of_a_class_of_errors_is_refused():
    with pytest.raises(UsageError, match="applies to all errors"):
        Change.parse("errors timeout > +1 points")


def test_changes_are_written_for_people():
    assert Change.parse("p99 > +10%").show_change(-3.25) == "-3.2 %"
    assert Change.parse("errors > +1 points").show_change(0.5) == "+0.50 points"
