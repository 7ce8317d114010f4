"""What `sglang.bench_serving` computes."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING
from unittest.mock import MagicMock

from other_tools.clock import Clock, Means, Session, in_ms
from other_tools.stubs import package_in, stub

if TYPE_CHECKING:
    from other_tools.recorded import Recorded

NAMES = ("ttft_ms", "tpot_ms", "itl_ms", "e2e_latency_ms")


def measure(wheel: str, streams: dict[str, Recorded]) -> dict[str, dict[str, list[float]]]:
    """Return the values of each metric, by stream."""
    package_in(wheel, "sglang")
    stub("sglang.benchmark.datasets", "sglang.srt", "sglang.benchmark.utils")
    from sglang.benchmark import serving

    serving.remove_prefix = str.removeprefix
    serving.set_global_args(Namespace(disable_stream=False, disable_ignore_eos=True))
    # Where no server reports tokens, the tool takes the length that it asked for.
    asked = 0

    def of(stream: Recorded) -> dict[str, list[float]]:
        serving.time = clock = Clock()
        serving._create_bench_client_session = lambda: Session(clock, stream)
        url = "http://server/v1/chat/completions"
        request = serving.RequestFuncInput("", url, 7, asked, "m", "", None, {})
        output = asyncio.run(serving.async_request_openai_chat_completions(request))
        serving.np = means = Means()
        serving.calculate_metrics(None, [output], 1.0, MagicMock(), "sglang-oai-chat")
        found = {name: in_ms(list(values)) for name, values in zip(NAMES, means.noted, strict=True)}
        return {name: values for name, values in found.items() if values}

    return {name: of(stream) for name, stream in streams.items()}
