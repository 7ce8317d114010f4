"""What GuideLLM computes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from other_tools.clock import Clock, Content
from other_tools.stubs import stub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from other_tools.recorded import Recorded

IN_MS = (
    "time_to_first_token_ms",
    "time_to_first_output_token_ms",
    "time_per_output_token_ms",
    "inter_token_latency_ms",
)


def measure(_: str, streams: dict[str, Recorded]) -> dict[str, dict[str, list[float]]]:
    """Return the values of each metric, by stream."""
    stub()
    import httpx
    from guidellm.backends.openai import http
    from guidellm.backends.openai.request_handlers import (
        ChatCompletionsRequestHandler,
    )
    from guidellm.schemas import (
        GenerationRequest,
        GenerationRequestArguments,
        RequestInfo,
    )

    class Body(httpx.AsyncByteStream):
        def __init__(self, clock: Clock, stream: Recorded) -> None:
            self.content = Content(clock, stream)

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self.content.iter_any()

    async def resolve(stream: Recorded) -> dict[str, list[float]]:
        http.time = clock = Clock()
        backend = http.OpenAIHTTPBackend.__new__(http.OpenAIHTTPBackend)
        backend._args = None
        answer = httpx.MockTransport(lambda _: httpx.Response(200, stream=Body(clock, stream)))
        backend._async_client = httpx.AsyncClient(transport=answer)
        request = GenerationRequest()
        info = RequestInfo(request_id=request.request_id, status="completed")
        handler = ChatCompletionsRequestHandler()
        arguments = GenerationRequestArguments(stream=True)
        kwargs = {"method": "POST", "url": "http://server/v1/chat/completions"}
        answers = backend._resolve_streaming(request, info, handler, arguments, kwargs)
        try:
            *_, (response, _) = [answer async for answer in answers]
        except ValueError:
            # An answer without anything is a failure.
            return {}
        info.timings.resolve_end = info.timings.request_end
        stats = response.compile_stats(request, info)
        found = {name: getattr(stats, name) for name in IN_MS}
        found["request_latency_ms"] = stats.request_latency * 1000
        return {name: [value] for name, value in found.items() if value is not None}

    return {name: asyncio.run(resolve(stream)) for name, stream in streams.items()}
