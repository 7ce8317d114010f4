"""The functions as users of pyperf time them; flags are pyperf's own."""

import sys
from pathlib import Path

import pyperf

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from micro.functions import FUNCTIONS

if __name__ == "__main__":
    runner = pyperf.Runner()
    for name, timed in FUNCTIONS.items():
        runner.bench_func(name, timed.call)
