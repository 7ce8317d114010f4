"""docs/reference/exit-codes.md: how a command ends, in the words that stand beside each code."""

from __future__ import annotations

from torr.errors import ENDS, ExitCode

_HEAD = """\
# Exit codes

Generated from `python/torr/errors.py` by `make reference`.

| code | when |
| --: | --- |
"""
_FOOT = """
If more than one is true, the first of these counts: a signal stopped the load (129, 130, 143),
nothing was measured (3), `--strict` (3 or 4), an SLO, a limit or the capacity (1), no request
succeeded (3), an incomplete log (2). Of conditions with code 1, all that failed are named.

Which level of a ladder an SLO is judged at, and what `--allow-not-shown` passes, is in
[how much can it take](../how-much-can-it-take.md#the-exit-code). `torr locust` ends with Locust's
exit code. The [pytest plugin](../functions.md#budgets) uses pytest's: 1 where a budget or a limit
of `--torr-fail-if` is missed or not shown, 4 where an option or a file is wrong, or what was
measured could not be written.
"""


def page() -> str:
    """Return the whole page."""
    rows = "".join(f"| {int(code)} | {ENDS[code]} |\n" for code in ExitCode)
    return f"{_HEAD}{rows}{_FOOT}"
