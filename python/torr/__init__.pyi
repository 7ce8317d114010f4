"""torr: pressure testing for APIs. Written by `make reference`, from the flags of the commands.

Keywords are flags: `torr.run(url, connections=200, duration="30s")`. Times are text with a unit
(`"1.5ms"`, `"10s"`, `"2m"`) or seconds, rates text (`"10k"`) or numbers a second. What is wrong
raises torr.errors.UsageError with the message of the command.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from torr import errors as errors
from torr import targets as targets
from torr.api.answer import Answer as Answer
from torr.api.result import Result as Result
from torr.api.result import load as load
from torr.results.level import Interval as Interval
from torr.results.level import Level as Level

__version__: str

_Path: TypeAlias = str | os.PathLike[str]
_Duration: TypeAlias = str | float
_Headers: TypeAlias = Mapping[str, str] | Sequence[str | tuple[str, str]] | str
_Progress: TypeAlias = Callable[[Interval], object]

def run(
    url: str | Sequence[str] = (),
    *,
    progress: _Progress | None = None,
    connections: int | None = None,
    duration: _Duration | None = None,
    requests: int | None = None,
    rate: str | float | None = None,
    arrivals: Literal["constant", "poisson"] | None = None,
    max_in_flight: int | None = None,
    spin: bool = False,
    stages: str | None = None,
    replay: _Path | None = None,
    speed: float | None = None,
    pool: int | None = None,
    think: _Duration | None = None,
    warmup: _Duration | None = None,
    drain: _Duration | None = None,
    workers: int | None = None,
    processes: int | str = "auto",
    seed: int = 1,
    method: str | None = None,
    headers: _Headers | None = None,
    body: str | bytes | None = None,
    json_body: object | None = None,
    basic_auth: str | tuple[str, str] | None = None,
    requests_file: _Path | None = None,
    weights: str | Sequence[int] | None = None,
    steps: bool = False,
    data: _Path | None = None,
    verbatim: bool = False,
    expect_status: str | int | Sequence[str | int] | None = None,
    expect_body: str | Sequence[str] | None = None,
    expect_json: str | Sequence[str] | None = None,
    capture: str | Sequence[str] | None = None,
    compressed: bool = False,
    timeout: _Duration = "30s",
    stream: Literal["sse", "openai", "dify", "anthropic"] | None = None,
    idle_timeout: _Duration | None = None,
    from_: Literal["sent", "intended"] = "sent",
    chat: Literal["openai", "dify", "anthropic"] | None = None,
    alias: Literal["vllm", "aiperf"] | Sequence[Literal["vllm", "aiperf"]] | None = None,
    tokenizer: _Path | None = None,
    prompt: str | None = None,
    prompts: _Path | None = None,
    model: str | None = None,
    max_tokens: int | None = None,
    user: str | None = None,
    inputs: str | bytes | None = None,
    token_env: str | None = None,
    turns: int = 1,
    prompt_order: Literal["sequence", "shuffle"] = "sequence",
    unique_prefix: bool = False,
    keepalive: bool = True,
    requests_per_connection: int | None = None,
    connections_per_second: str | float | None = None,
    retry_delay: _Duration = "100ms",
    source_address: str | Sequence[str] | None = None,
    proxy: str | None = None,
    insecure: bool = False,
    cacert: _Path | None = None,
    cert: _Path | None = None,
    key: _Path | None = None,
    tls_resumption: bool = True,
    name: str = "apiserver",
    dir: _Path = "_output/torr",
    slo: str | Sequence[str] | None = None,
    abort_on: str | Sequence[str] | None = None,
    allow_not_shown: bool = False,
    monitor: str | int | Sequence[str | int] | None = None,
    profile: str | int | None = None,
    profile_at: int | None = None,
    note: str | None = None,
    tags: str | Sequence[str] | None = None,
    store: bool = True,
    log: _Path | None = None,
) -> Result:
    """Fire one level of load at `url`, or at several, and return the result.

    Prints nothing. `progress` is called with every interval as it comes, from this thread; what it
    raises ends the load and is raised here. Ctrl-C in the main thread ends the load and raises
    KeyboardInterrupt. Either way everything measured is stored in the run's directory.

    Raises UsageError before anything is sent, NothingMeasuredError where nothing answers.

    connections: users, each its own [50; 100 with --rate]
    duration: measured window of a level [10s]
    requests: stop after N requests instead
    rate: start RATE requests/s, whatever comes back
    arrivals: constant or poisson, with --rate [constant]
    max_in_flight: with --rate: drop due requests beyond N in flight [5M]
    spin: with --rate: busy-wait for exact send times
    stages: users by time, or with --rate: 30s:100,2m:1k,30s:0
    replay: start requests at the times in FILE, or an access log
    speed: with --replay: 2 is twice as fast [1]
    pool: users share N connections [one each]
    think: users think after each answer: 1s, 1s-3s, exp:2s
    warmup: load before the window, counted separately [2s]
    drain: wait for open requests at the end [--timeout]
    workers: threads [cores; half for a local target]
    processes: split the load over N processes; auto: as needed [auto]
    seed: of everything random [1]
    method: method [GET; POST with a body]
    headers: a header (repeatable)
    body: the body as it is
    json_body: a JSON body, with content-type
    basic_auth: as this user
    requests_file: send these: vegeta's http or JSON, HAR
    weights: how often each request, e.g. 8,1,1 [in turn]
    steps: each user sends them in order, then anew
    data: rows for {{row.NAME}}: CSV with a header, JSON lines
    verbatim: send {{…}} as it stands: fill nothing
    expect_status: what counts as ok, e.g. 2xx,404 [200-399]
    expect_body: what the body must contain (repeatable)
    expect_json: what it must say, e.g. '$.status=ok' (repeatable)
    capture: keep for {{NAME}}: json:$.id, header:X, regex:/(…)/
    compressed: ask for gzip or deflate
    timeout: later than that is an error [30s]
    stream: answers are events: sse, openai, dify, anthropic
    idle_timeout: fail a stream after this time without data
    from_: measure stream times from: sent, intended [sent]
    chat: ask a chat API: openai, dify, anthropic
    alias: also report the metrics of this tool: vllm, aiperf
    tokenizer: count tokens too, by a tokenizer.json
    prompt: what its users say
    prompts: what they say in turn: JSON lines, ShareGPT
    model: the model that answers
    max_tokens: at most N tokens per answer
    user: the name of the user [dify: torr]
    inputs: variables of a Dify app, as JSON
    token_env: the environment variable with the API's key
    turns: hold conversations of N turns [1]
    prompt_order: sequence, or shuffle by --seed [sequence]
    unique_prefix: begin each prompt anew, so that no cache knows it
    keepalive: if False, a new connection for each request
    requests_per_connection: then make it anew [no limit]
    connections_per_second: open the first ones at this rate
    retry_delay: pause after a failed dial [100ms]
    source_address: leave from this one (repeatable)
    proxy: through http://[USER:PASSWORD@]HOST:PORT
    insecure: accept any certificate
    cacert: trust this PEM file [the machine's list]
    cert: show this certificate (PEM)
    key: its private key [in --cert]
    tls_resumption: if False, a full handshake for each connection
    name: names the files [apiserver]
    dir: output directory [_output/torr]
    slo: must hold (else exit 1), e.g. 'p95 < 500ms'
    abort_on: end early (exit 1) when it holds: 'errors > 5%'
    allow_not_shown: pass SLOs that are neither held nor broken
    monitor: watch a process, a /metrics, a Prometheus (repeatable)
    profile: then profile a process, memory:PID or Go's pprof
    profile_at: with --profile: users [of the best level]
    note: what is special about this run, e.g. 'api 1.2 CPU'
    tags: a word to find it by: torr runs list --tag (repeatable)
    store: if False, do not add the run to the store
    log: write every exchange to FILE, as CSV
    """

def ladder(
    url: str | Sequence[str] = (),
    *,
    progress: _Progress | None = None,
    levels: str | Sequence[int] | None = None,
    rounds: int = 1,
    min_capacity: str | float | _Path | Sequence[str | float] | None = None,
    duration: _Duration | None = None,
    pool: int | None = None,
    think: _Duration | None = None,
    warmup: _Duration | None = None,
    drain: _Duration | None = None,
    workers: int | None = None,
    processes: int | str = "auto",
    seed: int = 1,
    method: str | None = None,
    headers: _Headers | None = None,
    body: str | bytes | None = None,
    json_body: object | None = None,
    basic_auth: str | tuple[str, str] | None = None,
    requests_file: _Path | None = None,
    weights: str | Sequence[int] | None = None,
    steps: bool = False,
    data: _Path | None = None,
    verbatim: bool = False,
    expect_status: str | int | Sequence[str | int] | None = None,
    expect_body: str | Sequence[str] | None = None,
    expect_json: str | Sequence[str] | None = None,
    capture: str | Sequence[str] | None = None,
    compressed: bool = False,
    timeout: _Duration = "30s",
    stream: Literal["sse", "openai", "dify", "anthropic"] | None = None,
    idle_timeout: _Duration | None = None,
    from_: Literal["sent", "intended"] = "sent",
    chat: Literal["openai", "dify", "anthropic"] | None = None,
    alias: Literal["vllm", "aiperf"] | Sequence[Literal["vllm", "aiperf"]] | None = None,
    tokenizer: _Path | None = None,
    prompt: str | None = None,
    prompts: _Path | None = None,
    model: str | None = None,
    max_tokens: int | None = None,
    user: str | None = None,
    inputs: str | bytes | None = None,
    token_env: str | None = None,
    turns: int = 1,
    prompt_order: Literal["sequence", "shuffle"] = "sequence",
    unique_prefix: bool = False,
    keepalive: bool = True,
    requests_per_connection: int | None = None,
    connections_per_second: str | float | None = None,
    retry_delay: _Duration = "100ms",
    source_address: str | Sequence[str] | None = None,
    proxy: str | None = None,
    insecure: bool = False,
    cacert: _Path | None = None,
    cert: _Path | None = None,
    key: _Path | None = None,
    tls_resumption: bool = True,
    name: str = "apiserver",
    dir: _Path = "_output/torr",
    slo: str | Sequence[str] | None = None,
    abort_on: str | Sequence[str] | None = None,
    allow_not_shown: bool = False,
    monitor: str | int | Sequence[str | int] | None = None,
    profile: str | int | None = None,
    profile_at: int | None = None,
    note: str | None = None,
    tags: str | Sequence[str] | None = None,
    store: bool = True,
) -> Result:
    """Measure `url` at rising levels; return peak, knee and the capacity under your SLOs.

    Prints nothing. `progress` is called with every interval as it comes, from this thread; what it
    raises ends the load and is raised here. Ctrl-C in the main thread ends the load and raises
    KeyboardInterrupt. Either way everything measured is stored in the run's directory.

    Raises UsageError before anything is sent, NothingMeasuredError where nothing answers.

    levels: 1,2,4 or auto[:START[:END]] [200,500 … 50000]
    rounds: repeat the whole ladder; drift hits all levels [1]
    min_capacity: exit 1 below it: '5000 ok/s' or '200 users'
    duration: measured window of a level [10s]
    pool: users share N connections [one each]
    think: users think after each answer: 1s, 1s-3s, exp:2s
    warmup: load before the window, counted separately [2s]
    drain: wait for open requests at the end [--timeout]
    workers: threads [cores; half for a local target]
    processes: split the load over N processes; auto: as needed [auto]
    seed: of everything random [1]
    method: method [GET; POST with a body]
    headers: a header (repeatable)
    body: the body as it is
    json_body: a JSON body, with content-type
    basic_auth: as this user
    requests_file: send these: vegeta's http or JSON, HAR
    weights: how often each request, e.g. 8,1,1 [in turn]
    steps: each user sends them in order, then anew
    data: rows for {{row.NAME}}: CSV with a header, JSON lines
    verbatim: send {{…}} as it stands: fill nothing
    expect_status: what counts as ok, e.g. 2xx,404 [200-399]
    expect_body: what the body must contain (repeatable)
    expect_json: what it must say, e.g. '$.status=ok' (repeatable)
    capture: keep for {{NAME}}: json:$.id, header:X, regex:/(…)/
    compressed: ask for gzip or deflate
    timeout: later than that is an error [30s]
    stream: answers are events: sse, openai, dify, anthropic
    idle_timeout: fail a stream after this time without data
    from_: measure stream times from: sent, intended [sent]
    chat: ask a chat API: openai, dify, anthropic
    alias: also report the metrics of this tool: vllm, aiperf
    tokenizer: count tokens too, by a tokenizer.json
    prompt: what its users say
    prompts: what they say in turn: JSON lines, ShareGPT
    model: the model that answers
    max_tokens: at most N tokens per answer
    user: the name of the user [dify: torr]
    inputs: variables of a Dify app, as JSON
    token_env: the environment variable with the API's key
    turns: hold conversations of N turns [1]
    prompt_order: sequence, or shuffle by --seed [sequence]
    unique_prefix: begin each prompt anew, so that no cache knows it
    keepalive: if False, a new connection for each request
    requests_per_connection: then make it anew [no limit]
    connections_per_second: open the first ones at this rate
    retry_delay: pause after a failed dial [100ms]
    source_address: leave from this one (repeatable)
    proxy: through http://[USER:PASSWORD@]HOST:PORT
    insecure: accept any certificate
    cacert: trust this PEM file [the machine's list]
    cert: show this certificate (PEM)
    key: its private key [in --cert]
    tls_resumption: if False, a full handshake for each connection
    name: names the files [apiserver]
    dir: output directory [_output/torr]
    slo: must hold (else exit 1), e.g. 'p95 < 500ms'
    abort_on: end early (exit 1) when it holds: 'errors > 5%'
    allow_not_shown: pass SLOs that are neither held nor broken
    monitor: watch a process, a /metrics, a Prometheus (repeatable)
    profile: then profile a process, memory:PID or Go's pprof
    profile_at: with --profile: users [of the best level]
    note: what is special about this run, e.g. 'api 1.2 CPU'
    tags: a word to find it by: torr runs list --tag (repeatable)
    store: if False, do not add the run to the store
    """

def once(
    url: str,
    *,
    method: str | None = None,
    headers: _Headers | None = None,
    body: str | bytes | None = None,
    json_body: object | None = None,
    basic_auth: str | tuple[str, str] | None = None,
    requests_file: _Path | None = None,
    weights: str | Sequence[int] | None = None,
    steps: bool = False,
    data: _Path | None = None,
    verbatim: bool = False,
    expect_status: str | int | Sequence[str | int] | None = None,
    expect_body: str | Sequence[str] | None = None,
    expect_json: str | Sequence[str] | None = None,
    capture: str | Sequence[str] | None = None,
    compressed: bool = False,
    timeout: _Duration = "30s",
    keepalive: bool = True,
    requests_per_connection: int | None = None,
    connections_per_second: str | float | None = None,
    retry_delay: _Duration = "100ms",
    source_address: str | Sequence[str] | None = None,
    proxy: str | None = None,
    insecure: bool = False,
    cacert: _Path | None = None,
    cert: _Path | None = None,
    key: _Path | None = None,
    tls_resumption: bool = True,
) -> Answer:
    """Send one request to `url` and return the answer, with the bytes sent.

    Raises UsageError before anything is sent, NothingMeasuredError without a complete answer.

    method: method [GET; POST with a body]
    headers: a header (repeatable)
    body: the body as it is
    json_body: a JSON body, with content-type
    basic_auth: as this user
    requests_file: send these: vegeta's http or JSON, HAR
    weights: how often each request, e.g. 8,1,1 [in turn]
    steps: each user sends them in order, then anew
    data: rows for {{row.NAME}}: CSV with a header, JSON lines
    verbatim: send {{…}} as it stands: fill nothing
    expect_status: what counts as ok, e.g. 2xx,404 [200-399]
    expect_body: what the body must contain (repeatable)
    expect_json: what it must say, e.g. '$.status=ok' (repeatable)
    capture: keep for {{NAME}}: json:$.id, header:X, regex:/(…)/
    compressed: ask for gzip or deflate
    timeout: later than that is an error [30s]
    keepalive: if False, a new connection for each request
    requests_per_connection: then make it anew [no limit]
    connections_per_second: open the first ones at this rate
    retry_delay: pause after a failed dial [100ms]
    source_address: leave from this one (repeatable)
    proxy: through http://[USER:PASSWORD@]HOST:PORT
    insecure: accept any certificate
    cacert: trust this PEM file [the machine's list]
    cert: show this certificate (PEM)
    key: its private key [in --cert]
    tls_resumption: if False, a full handshake for each connection
    """
