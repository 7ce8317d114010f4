"""What `vllm bench serve` computes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from unittest.mock import MagicMock

from other_tools.clock import Clock, Means, Session, in_ms
from other_tools.stubs import package_in, stub

if TYPE_CHECKING:
    from other_tools.recorded import Recorded

NAMES = ("ttft_ms", "tpot_ms", "itl_ms", "e2el_ms")


def measure(wheel: str, streams: dict[str, Recorded]) -> dict[str, dict[str, list[float]]]:
    """Return the values of each metric, by stream."""
    package_in(wheel, "vllm")
    stub(
        "vllm.benchmarks.datasets", "vllm.tokenizers", "vllm.utils", "vllm.logger", "vllm.platforms"
    )
    from vllm.benchmarks import serve
    from vllm.benchmarks.lib import endpoint_request_func as client

    def of(stream: Recorded) -> dict[str, list[float]]:
        client.time = clock = Clock()
        request = client.RequestFuncInput("", "http://server/v1/chat/completions", 7, 9, "m")
        session = Session(clock, stream)
        output = asyncio.run(client.async_request_openai_chat_completions(request, session))
        serve.np = means = Means()
        serve.calculate_metrics([MagicMock()], [output], 1.0, None, [99.0], {})
        found = {name: in_ms(list(values)) for name, values in zip(NAMES, means.noted, strict=True)}
        return {name: values for name, values in found.items() if values}

    return {name: of(stream) for name, stream in streams.items()}
