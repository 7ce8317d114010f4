"""The words of results, such as `held` or `not ready`, as texts that can be translated.

result.json has a word as it is; its code tells it from the same English in a sentence, where
another language may need another word. A word that is not listed here is data, and stays as it is.
"""

from __future__ import annotations

from torr.messages.message import Message, message

_WORDS = (
    # SLOs and budgets
    message("word.held", "held"),
    message("word.broken", "broken"),
    message("word.not_shown", "not shown"),
    # comparisons
    message("word.better", "better"),
    message("word.worse", "worse"),
    message("word.faster", "faster"),
    message("word.slower", "slower"),
    message("word.same", "same"),
    message("word.inconclusive", "inconclusive"),
    message("word.baseline", "baseline"),
    message("word.no_baseline", "no baseline"),
    message("word.no_verdict", "no verdict"),
    message("word.not_measured", "not measured"),
    message("word.none", "none"),
    # limits of change, as people read them
    message("word.passed", "passed"),
    message("word.failed", "failed"),
    # leak tables
    message("word.no_growth", "no growth"),
    message("word.growth_ends", "growth that ends"),
    message("word.growth_goes_on", "growth that goes on"),
    # the generator's health
    message("word.healthy", "healthy"),
    message("word.contended", "contended"),
    message("word.generator_limited", "generator-limited"),
    # kinds of runs, and how they ended
    message("word.run", "run"),
    message("word.ladder", "ladder"),
    message("word.diff", "diff"),
    message("word.compare", "compare"),
    message("word.micro", "micro"),
    message("word.locust", "locust"),
    message("word.complete", "complete"),
    message("word.interrupted", "interrupted"),
    message("word.running", "running"),
    # checks of the machine
    message("word.ok", "ok"),
    message("word.warn", "warn"),
    # failed trials
    message("word.not_found", "not found"),
    message("word.did_not_start", "did not start"),
    message("word.port_taken", "port taken"),
    message("word.died", "died"),
    message("word.not_ready", "not ready"),
    message("word.wrong_answer", "wrong response"),
    message("word.did_not_stop", "did not stop"),
    message("word.bad_end", "bad end"),
    message("word.left_behind", "left behind"),
    # metrics
    message("word.errors", "errors"),
    message("word.success", "success"),
    message("word.cpu_a_request", "CPU a request"),
    # the bottleneck
    message("word.target", "target"),
    message("word.generator", "generator"),
    message("word.both", "both"),
    message("word.neither", "neither"),
    # answers of candidates
    message("word.status", "status"),
    message("word.framing", "framing"),
    message("word.keepalive", "keepalive"),
    # how often a server is started
    message("word.trial", "trial"),
    message("word.cell", "cell"),
)
_BY_ENGLISH: dict[str, Message] = {str(word): word for word in _WORDS}


def word_text(word: str) -> str:
    """Return a word of a result as a text; a name that torr does not know as it is."""
    return _BY_ENGLISH.get(word, word)
