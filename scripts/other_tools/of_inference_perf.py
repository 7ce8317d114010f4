"""What inference-perf computes, with `use_server_output_tokens`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from other_tools.clock import Clock, Session
from other_tools.stubs import stub

if TYPE_CHECKING:
    from other_tools.recorded import Recorded


class Words:
    """A tokenizer whose tokens are words, as the server's of the recorded streams are."""

    def count_tokens(self, text: str, *, add_special_tokens: bool = True) -> int:
        """Return the number of words."""
        del add_special_tokens
        return len(text.split())


SINGLE = (
    "request_latency",
    "time_to_first_token",
    "time_per_output_token",
    "normalized_time_per_output_token",
)


def measure(_: str, streams: dict[str, Recorded]) -> dict[str, dict[str, list[float]]]:
    """Return the values of each metric, by stream."""
    stub()
    from inference_perf.apis import chat, streaming_parser
    from inference_perf.apis.base import RequestLifecycleMetric
    from inference_perf.config import APIConfig
    from inference_perf.reportgen import base as reports

    words = Words()

    async def of(stream: Recorded) -> dict[str, list[float]]:
        streaming_parser.time = clock = Clock()
        start = clock.perf_counter()
        data = chat.ChatCompletionAPIData(messages=[])
        config = APIConfig(streaming=True)
        info = await data.process_response(Session(clock, stream), config, words)
        metric = RequestLifecycleMetric(
            scheduled_time=start,
            start_time=start,
            end_time=clock.perf_counter(),
            request_data="",
            info=info,
            error=None,
        )
        reports.correct_streamed_response_metrics(metric, words)
        values = reports.compute_request_latency_metrics(metric, use_server_output_tokens=True)
        found = {f"{name}_ms": [values[name]] for name in SINGLE}
        found["inter_token_latency_ms"] = values["inter_token_latency_deltas"]
        found = {
            name: [value * 1000 for value in listed if value is not None]
            for name, listed in found.items()
        }
        return {name: listed for name, listed in found.items() if listed}

    return {name: asyncio.run(of(stream)) for name, stream in streams.items()}
