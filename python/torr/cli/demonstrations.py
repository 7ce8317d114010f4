"""What `torr demo` shows: a target whose limits are known, and the ladder that finds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr import targets
from torr.messages.say import say

if TYPE_CHECKING:
    from torr.messages.say import Text

URL = "{url}"
"""Stands for the URL of the target in the words of a command."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A target, a ladder, and commands for one's own service.

    `words` are those of `torr ladder`; with `--quick`, `quick_words` replace the first of them.
    """

    name: str
    behaviour: targets.Behaviour
    explanation: Text
    words: tuple[str, ...]
    quick_words: tuple[str, ...]
    invitation: Text
    commands: tuple[str, ...]

    def ladder(self, url: str, *, is_quick: bool) -> list[str]:
        """Return the arguments of `torr ladder` for a target at this URL."""
        words = self.words
        if is_quick:
            words = (*self.quick_words, *words[len(self.quick_words) :])
        return [word.replace(URL, url) for word in (*words, URL)]


DELAY_NS, CAPACITY = 5_000_000, 32
REQUESTS_PER_S = CAPACITY * 1_000_000_000 // DELAY_NS
HTTP = Demonstration(
    name="demo",
    behaviour=targets.Delay(targets.Constant(DELAY_NS), CAPACITY),
    explanation=say(
        "The target serves {capacity} requests at once and takes 5 ms for each: at most"
        " {rate:,} requests/s.",
        capacity=CAPACITY,
        rate=REQUESTS_PER_S,
    ),
    words=("--levels", "auto", "-z", "2s", "--warmup", "500ms", "--slo", "p95 < 15ms"),
    quick_words=("--levels", "8,32,64", "-z", "300ms", "--warmup", "100ms"),
    invitation=say("Try it on your own service, here one on port 8080:"),
    commands=(
        "torr run -c 20 -z 10s http://localhost:8080/",
        "torr ladder --levels auto --slo 'p95 < 500ms' http://localhost:8080/",
        "torr ladder --levels auto --live http://localhost:8080/",
    ),
)

KV_TOKENS = 1024
PROMPT = "Explain to a new colleague why the time to the first token grows with the number of users"
MONITOR = f"vllm:{URL}/metrics"
"""What `--monitor` gets: the page on which the target shows the metrics of vLLM."""

SLO, PLACE = "--slo 'ttft p95 < 800ms'", "http://localhost:8000"

LLM = Demonstration(
    name="demo-llm",
    behaviour=targets.Chat(
        "openai",
        ttft=targets.Constant(30_000_000),
        itl=targets.Constant(8_000_000),
        prefill_ns=500_000,
        tokens=targets.SomeTokens(8, 24),
        message_tokens=4,
        kv_tokens=KV_TOKENS,
        prefix_cache=KV_TOKENS,
    ),
    explanation=say(
        "The target imitates a server of a language model. Its KV cache holds {tokens:,} tokens;"
        " requests that do not fit wait, or are preempted.",
        tokens=KV_TOKENS,
    ),
    words=(
        *("--levels", "4,8,16,32", "-z", "8s", "--warmup", "1s", "--chat", "openai"),
        *("--model", "torr-target", "--prompt", PROMPT, "--unique-prefix", "--turns", "3"),
        *("--slo", "ttft p90 < 150ms", "--slo", "tpot p90 < 12ms", "--monitor", MONITOR),
    ),
    quick_words=("--levels", "2,8", "-z", "500ms", "--warmup", "100ms"),
    invitation=say("Try it on your own server of a model, here one on port 8000:"),
    commands=(
        f"torr run --chat openai --model NAME --prompt hi -c 4 -z 30s {PLACE}",
        f"torr ladder --chat openai --model NAME --prompt hi --levels 1,2,4,8 {SLO} {PLACE}",
        "torr target openai --prefill 500us --kv-tokens 1k --prefix-cache 1k --port 8000",
    ),
)

DEMONSTRATIONS = {"http": HTTP, "llm": LLM}
