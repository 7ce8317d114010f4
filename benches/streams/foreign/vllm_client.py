"""The client of `vllm bench serve`, without vLLM: its own function reads each stream.

    python vllm_client.py URL REQUESTS CONCURRENCY TOKENS

`endpoint_request_func.py` is vLLM's file as it is. The rest is what serve.py of vLLM does for
`--max-concurrency`: its session, a semaphore, a task for each request.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp

sys.path.insert(0, str(Path(sys.prefix)))

from endpoint_request_func import RequestFuncInput, async_request_openai_chat_completions


async def main(url, requests, concurrency, tokens):
    """Send the requests; exit with a message if one fails."""
    connector = aiohttp.TCPConnector(
        limit=concurrency,
        limit_per_host=concurrency,
        ttl_dns_cache=300,
        use_dns_cache=True,
        keepalive_timeout=60,
        enable_cleanup_closed=True,
        force_close=False,
        ssl=False,
    )
    semaphore = asyncio.Semaphore(concurrency)
    asked = RequestFuncInput(
        prompt="hi",
        api_url=f"{url.rstrip('/')}/v1/chat/completions",
        prompt_len=1,
        output_len=tokens,
        model="m",
        ignore_eos=True,
    )
    timeout = aiohttp.ClientTimeout(total=6 * 60 * 60)
    async with aiohttp.ClientSession(
        connector=connector, trust_env=True, timeout=timeout
    ) as session:

        async def limited():
            async with semaphore:
                return await async_request_openai_chat_completions(asked, session)

        outputs = await asyncio.gather(*(asyncio.create_task(limited()) for _ in range(requests)))
    failed = [output for output in outputs if not output.success or not output.itl]
    if failed:
        sys.exit(f"{len(failed)} requests failed: {failed[0].error}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
