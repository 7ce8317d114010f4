"""What AIPerf computes, with `--use-server-token-count --per-chunk-usage`."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING

from other_tools.clock import BEGIN_NS, Clock, Content
from other_tools.stubs import stub

if TYPE_CHECKING:
    from other_tools.recorded import Recorded

TIMES = (
    "time_to_first_token",
    "time_to_second_token",
    "time_to_first_output_token",
    "request_latency",
    "decode_duration",
    "inter_token_latency",
    "inter_chunk_latency",
)
RATES = ("output_token_throughput_per_user", "e2e_output_token_throughput")


def measure(_: str, streams: dict[str, Recorded]) -> dict[str, dict[str, list[float]]]:
    """Return the values of each metric, by stream."""
    stub()
    from aiperf.common.exceptions import NoMetricValue
    from aiperf.common.models import ParsedResponseRecord, RequestRecord
    from aiperf.endpoints.openai_chat import ChatEndpoint
    from aiperf.metrics.metric_dicts import MetricRecordDict
    from aiperf.metrics.metric_registry import MetricRegistry
    from aiperf.records.inference_result_parser import InferenceResultParser
    from aiperf.transports import sse_utils

    endpoint = ChatEndpoint.__new__(ChatEndpoint)
    endpoint.debug = endpoint.trace = lambda _: None
    parser = InferenceResultParser.__new__(InferenceResultParser)
    parser.run = Namespace(cfg=Namespace(endpoint=Namespace(per_chunk_usage=True)))
    parser.debug = parser.warning = lambda _: None

    async def record(stream: Recorded) -> ParsedResponseRecord:
        sse_utils.time = clock = Clock()
        reader = sse_utils.AsyncSSEStreamReader(Content(clock, stream).iter_any())
        request = RequestRecord(
            start_perf_ns=BEGIN_NS,
            responses=await reader.read_complete_stream(),
            end_perf_ns=clock.perf_counter_ns(),
        )
        responses, _ = endpoint.process_responses(request, capture_assistant_turn=False)
        counts = await parser._compute_server_token_counts(responses)
        return ParsedResponseRecord(request=request, responses=responses, token_counts=counts)

    def of(stream: Recorded) -> dict[str, list[float]]:
        answer = asyncio.run(record(stream))
        found: dict[str, list[float]] = {}
        if not answer.valid:
            return found
        values = MetricRecordDict()
        for tag in MetricRegistry.create_dependency_order_for(
            ["output_sequence_length", *TIMES, *RATES]
        ):
            try:
                value = MetricRegistry.get_class(tag)().parse_record(answer, values)
            except NoMetricValue:
                continue
            values[tag] = value
            if tag in TIMES:
                listed = value if isinstance(value, list) else [value]
                found[f"{tag}_ms"] = [nanos / 1e6 for nanos in listed]
            elif tag in RATES:
                found[tag] = [value]
        return found

    return {name: of(stream) for name, stream in streams.items()}
