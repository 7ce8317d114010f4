"""Results as the engine and the experiments write them; `results` makes them."""

import pytest

import results
import typed


@pytest.fixture
def make_level():
    return results.level


@pytest.fixture
def make_station():
    return results.station


@pytest.fixture
def make_result():
    return results.result


@pytest.fixture
def ladder():
    return results.ladder()


@pytest.fixture
def limited_ladder():
    return results.limited_ladder()


@pytest.fixture
def collapsing_ladder():
    return results.collapsing_ladder()


@pytest.fixture
def run():
    return results.run()


@pytest.fixture
def streamed():
    return results.streamed()


@pytest.fixture
def streamed_ladder():
    return results.streamed_ladder()


@pytest.fixture
def called():
    return results.called()


@pytest.fixture
def called_ladder():
    return results.called_ladder()


@pytest.fixture
def sides():
    return results.sides()


@pytest.fixture
def diffed():
    return results.diffed()


@pytest.fixture
def trial():
    """Make one trial of a candidate."""

    def make(
        candidate, number, ok_per_s, *, p99=10.0, failed=0, attempts=10_000, at_least=(), **more
    ):
        times = {"n": attempts, "p50": p99 and p99 / 2, "p99": p99, "at_least": at_least}
        members = {
            "candidate": candidate,
            "factors": {"processes": 1},
            "round": number,
            "concurrency": 100,
            "counts": {"attempted": attempts, "ok": attempts - failed, "errors": {"read": failed}},
            "ok_per_s": ok_per_s,
            "success_rate": 100 * (attempts - failed) / attempts if attempts else None,
            "latency": {"response_ms": times},
            **more,
        }
        return typed.level(**members)

    return make


@pytest.fixture
def trials(trial):
    """Make the rounds of baseline `a` and candidate `b` from the ok/s of each."""

    def make(before, after, **more):
        pairs = enumerate(zip(before, after, strict=True), 1)
        return [
            trial(name, at, x, **more)
            for at, both in pairs
            for name, x in zip("ab", both, strict=True)
        ]

    return make
