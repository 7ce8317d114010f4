"""What `torr demo` shows: a target whose limits are known, and the loads that find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr import targets
from torr.messages.say import say
from torr.options.verbs import LADDER, RUN

if TYPE_CHECKING:
    from torr.messages.say import Text
    from torr.options.definition import VerbOptions

URL = "{url}"
"""Stands for the URL of the target in the words of a command."""
TRACE = "{trace}"
"""Stands for the file of the trace that the demonstration writes."""


@dataclass(frozen=True, slots=True)
class DemoLoad:
    """A load: `words` are those of `torr` and its verb.

    With `--quick`, `quick_words` replace the first of them.
    """

    verb: VerbOptions
    name: str
    explanation: Text
    words: tuple[str, ...]
    quick_words: tuple[str, ...]

    def arguments(self, url: str, trace: str, *, is_quick: bool) -> list[str]:
        """Return the arguments of the verb for a target at this URL, and a trace in this file."""
        words = self.words
        if is_quick:
            words = (*self.quick_words, *words[len(self.quick_words) :])
        return [word.replace(URL, url).replace(TRACE, trace) for word in (*words, URL)]


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A target, the loads that it gets, and commands for one's own service."""

    behaviour: targets.Behaviour
    steps: tuple[DemoLoad, ...]
    invitation: Text
    commands: tuple[str, ...]


DELAY_NS, CAPACITY = 5_000_000, 32
REQUESTS_PER_S = CAPACITY * 1_000_000_000 // DELAY_NS
HTTP = Demonstration(
    behaviour=targets.Delay(targets.Constant(DELAY_NS), CAPACITY),
    steps=(
        DemoLoad(
            LADDER,
            "demo",
            explanation=say(
                "The target serves {capacity} requests at once and takes 5 ms for each: at most"
                " {rate:,} requests/s.",
                capacity=CAPACITY,
                rate=REQUESTS_PER_S,
            ),
            words=("--levels", "auto", "-z", "2s", "--warmup", "500ms", "--slo", "p95 < 15ms"),
            quick_words=("--levels", "8,32,64", "-z", "300ms", "--warmup", "100ms"),
        ),
    ),
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

CHAT = ("--chat", "openai", "--model", "torr-target")
SLO, PLACE = "--slo 'ttft p95 < 800ms'", "http://localhost:8000"

USERS = DemoLoad(
    LADDER,
    "demo-llm",
    explanation=say(
        "The target imitates a server of a language model. Its KV cache holds {tokens:,} tokens;"
        " requests that do not fit wait, or are preempted.",
        tokens=KV_TOKENS,
    ),
    words=(
        *("--levels", "4,8,16,32", "-z", "8s", "--warmup", "1s", *CHAT),
        *("--prompt", PROMPT, "--unique-prefix", "--turns", "3"),
        *("--slo", "ttft p90 < 150ms", "--slo", "tpot p90 < 12ms", "--monitor", MONITOR),
    ),
    quick_words=("--levels", "2,8", "-z", "500ms", "--warmup", "100ms"),
)
CONVERSATIONS = DemoLoad(
    RUN,
    "demo-llm-trace",
    explanation=say(
        "Now the target gets the requests of a trace at their times: conversations that begin with"
        " the same text. Three in ten users give up."
    ),
    words=(
        *("--speed", "1", *CHAT, "--trace", TRACE, "--server", "vllm"),
        *("--cancel", "30% after 20ms-150ms", "--monitor", MONITOR),
    ),
    quick_words=("--speed", "20"),
)
LLM = Demonstration(
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
    steps=(USERS, CONVERSATIONS),
    invitation=say("Try it on your own server of a model, here one on port 8000:"),
    commands=(
        f"torr run --chat openai --model NAME --prompt hi -c 4 -z 30s {PLACE}",
        f"torr ladder --chat openai --model NAME --prompt hi --levels 1,2,4,8 {SLO} {PLACE}",
        f"torr run --chat openai --model NAME --trace FILE --cancel '10% after 2s' {PLACE}",
        "torr target openai --prefill 500us --kv-tokens 1k --prefix-cache 1k --port 8000",
    ),
)

DEMONSTRATIONS = {"http": HTTP, "llm": LLM}
