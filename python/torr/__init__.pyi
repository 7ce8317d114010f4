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
_Tool: TypeAlias = Literal["vllm", "aiperf", "sglang", "guidellm", "inference-perf"]

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
    cancel: str | float | _Path | Sequence[str | float] | None = None,
    warmup: _Duration | None = None,
    drain: _Duration | None = None,
    workers: int | None = None,
    processes: int | str = "auto",
    seed: int = 1,
    nodes: str | float | _Path | Sequence[str | float] | None = None,
    cluster: str | float | _Path | Sequence[str | float] | None = None,
    allow_lost_nodes: bool = False,
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
    stream: Literal["sse", "openai", "dify", "anthropic", "responses"] | None = None,
    idle_timeout: _Duration | None = None,
    from_: Literal["sent", "intended"] = "sent",
    chat: Literal["openai", "completions", "responses", "anthropic", "dify", "embeddings", "rerank"]
    | None = None,
    alias: _Tool | Sequence[_Tool] | None = None,
    tokenizer: _Path | None = None,
    prompt: str | None = None,
    prompts: _Path | None = None,
    prompt_tokens: int | str | None = None,
    prefix_tokens: int | None = None,
    prefix_groups: int | None = None,
    token_ids: bool = False,
    model: str | None = None,
    max_tokens: int | None = None,
    output_tokens: int | str | None = None,
    server: Literal["vllm", "sglang", "trtllm", "llamacpp", "tgi", "ollama"] | None = None,
    image: str | Sequence[str] | None = None,
    tools: _Path | None = None,
    user: str | None = None,
    inputs: str | bytes | None = None,
    token_env: str | None = None,
    turns: int = 1,
    batch: int = 1,
    prompt_order: Literal["sequence", "shuffle"] = "sequence",
    unique_prefix: bool = False,
    trace: _Path | None = None,
    trace_format: str | None = None,
    block_tokens: int | None = None,
    trace_from: _Duration | None = None,
    trace_to: _Duration | None = None,
    synthesis: str | None = None,
    grpc: str | None = None,
    protos: _Path | Sequence[_Path] | None = None,
    proto_paths: _Path | Sequence[_Path] | None = None,
    descriptor_set: _Path | None = None,
    reflection: bool = False,
    grpc_gzip: bool = False,
    message_interval: _Duration | None = None,
    send_together: bool = False,
    http: Literal["1.1", "2", "2c", "auto"] | None = None,
    streams: int = 1,
    match: str | float | _Path | Sequence[str | float] = "order",
    binary: bool = False,
    coalesce: _Duration = "0s",
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

    connections: open N connections, one per user [50; rate: 100]
    duration: measure each level for TIME [10s]
    requests: stop after N requests, not after --duration
    rate: start RATE requests per second (open loop)
    arrivals: with a rate: use constant or poisson gaps [constant]
    max_in_flight: with a rate: drop due requests beyond N in flight [5M]
    spin: with a rate or streams: busy-wait for exact times
    stages: ramp users (or --rate) to N in TIME: 30s:100,2m:1k
    replay: start requests at the times in a file or access log
    speed: with --replay or --trace: X times as fast [1]
    pool: share N connections among users [one per user]
    think: pause users after each response: 1s, 1s-3s, exp:2s
    cancel: let users give up: '10% after 2s'
    warmup: load the target for TIME before measuring [2s]
    drain: wait TIME for open requests at the end [--timeout]
    workers: send from N threads [cores; half for a local target]
    processes: split the load over N processes; auto: as needed [auto]
    seed: set the seed of all random choices [1]
    nodes: send from Ray nodes: N, all or HOST,… [this machine]
    cluster: set the address of the Ray cluster [RAY_ADDRESS]
    allow_lost_nodes: go on without nodes that are lost between levels
    method: set the method [GET; POST with a body]
    headers: add a header (repeatable)
    body: send this body
    json_body: send this JSON body and its content-type
    basic_auth: authenticate by HTTP Basic
    requests_file: send the requests in FILE: HAR, JSON or vegeta's
    weights: set each request's weight, e.g. 8,1,1 [in turn]
    steps: let each user send all requests in order, repeatedly
    data: fill {{row.NAME}} from a CSV with header or JSON lines
    verbatim: send {{…}} as it is, without filling it in
    expect_status: count these statuses as ok, e.g. 2xx,404 [200-399]
    expect_body: require this text or regex in the body (repeatable)
    expect_json: require this JSON value: '$.status=ok' (repeatable)
    capture: save as {{NAME}}: json:$.id, header:X, regex:/(…)/
    compressed: request gzip or deflate compression
    timeout: fail a request that takes longer than TIME [30s]
    stream: read event streams: sse, openai, responses, …
    idle_timeout: fail a stream after TIME without data
    from_: measure stream times from sent or intended time [sent]
    chat: ask a language model: openai, anthropic, …
    alias: also as vllm, aiperf, sglang, guidellm, inference-perf
    tokenizer: also count tokens, by a tokenizer.json
    prompt: send this prompt
    prompts: send the prompts in FILE in turn: JSON lines, ShareGPT
    prompt_tokens: make up prompts of N tokens, or A to B
    prefix_tokens: begin made-up prompts with N shared tokens
    prefix_groups: have N different shared beginnings [1]
    token_ids: send made-up prompts as token ids, of the tokenizer
    model: ask for this model
    max_tokens: limit each response to N tokens
    output_tokens: make the server generate exactly N tokens, or A to B
    server: force the output length as this server does: vllm, …
    image: add an image of random pixels to each prompt
    tools: let the model call the tools in FILE, a JSON list
    user: send this user name [dify: torr]
    inputs: set the variables of a Dify app, as JSON
    token_env: read the API's key from this environment variable
    turns: hold conversations of N turns [1]
    batch: put N texts into a request of embeddings or rerank [1]
    prompt_order: send prompts in sequence, or shuffle them [sequence]
    unique_prefix: add a unique prefix to each prompt, to avoid caches
    trace: send the requests of a trace, as of Mooncake
    trace_format: read the trace in this format [detected]
    block_tokens: let each block of the trace have N tokens
    trace_from: begin at TIME of the trace [0s]
    trace_to: end before TIME of the trace
    synthesis: scale the trace: prefix=x2,input=x0.5,output=x2
    grpc: call package.Service/Method; -b is its message as JSON
    protos: take the message types from a .proto file (repeatable)
    proto_paths: look for imports of --proto in DIR [its folder]
    descriptor_set: take the message types from a descriptor set
    reflection: take the message types from the server
    grpc_gzip: compress messages of calls by gzip
    message_interval: send the messages of a stream TIME apart
    send_together: send all messages of a bidirectional call at once
    http: version of HTTP: 1.1, 2, 2c (plain), auto [1.1]
    streams: carry at most N requests at once on a connection [1]
    match: match answers of ws:// by order, id:KEY or none [order]
    binary: send ws:// messages as binary
    coalesce: collect HTTP/2 requests for TIME before a write [0s]
    keepalive: if False, open a new connection for each request
    requests_per_connection: replace a connection after N requests [no limit]
    connections_per_second: open the first connections at this rate [no limit]
    retry_delay: wait TIME after a failed connection attempt [100ms]
    source_address: connect from this local address (repeatable)
    proxy: connect through http://[USER:PASSWORD@]HOST:PORT
    insecure: accept any certificate
    cacert: trust the certificates in FILE (PEM) [system's list]
    cert: present this client certificate (PEM)
    key: use this private key for --cert [in the --cert file]
    tls_resumption: if False, do a full TLS handshake for each connection
    name: name the run and its files [apiserver]
    dir: write results below this directory [_output/torr]
    slo: require this (else exit 1): 'p95 < 1s', mlperf:…
    abort_on: stop early (exit 1) when this holds: 'errors > 5%'
    allow_not_shown: pass SLOs with the verdict 'not shown'
    monitor: sample a PID, URL, vllm:URL, nvml or other (repeatable)
    profile: profile afterwards: PID, memory:PID or Go's pprof URL
    profile_at: with --profile: load with N users [the best level's]
    note: store a note with the run, e.g. 'api 1.2 CPU'
    tags: tag the run, for torr runs list --tag (repeatable)
    store: if False, do not add the run to the store
    log: write every exchange to FILE as CSV
    """

def ladder(
    url: str | Sequence[str] = (),
    *,
    progress: _Progress | None = None,
    levels: str | Sequence[int] | None = None,
    rates: str | Sequence[int] | None = None,
    rounds: int = 1,
    min_capacity: str | float | _Path | Sequence[str | float] | None = None,
    connections: int | None = None,
    duration: _Duration | None = None,
    arrivals: Literal["constant", "poisson"] | None = None,
    max_in_flight: int | None = None,
    spin: bool = False,
    pool: int | None = None,
    think: _Duration | None = None,
    cancel: str | float | _Path | Sequence[str | float] | None = None,
    warmup: _Duration | None = None,
    drain: _Duration | None = None,
    workers: int | None = None,
    processes: int | str = "auto",
    seed: int = 1,
    nodes: str | float | _Path | Sequence[str | float] | None = None,
    cluster: str | float | _Path | Sequence[str | float] | None = None,
    allow_lost_nodes: bool = False,
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
    stream: Literal["sse", "openai", "dify", "anthropic", "responses"] | None = None,
    idle_timeout: _Duration | None = None,
    from_: Literal["sent", "intended"] = "sent",
    chat: Literal["openai", "completions", "responses", "anthropic", "dify", "embeddings", "rerank"]
    | None = None,
    alias: _Tool | Sequence[_Tool] | None = None,
    tokenizer: _Path | None = None,
    prompt: str | None = None,
    prompts: _Path | None = None,
    prompt_tokens: int | str | None = None,
    prefix_tokens: int | None = None,
    prefix_groups: int | None = None,
    token_ids: bool = False,
    model: str | None = None,
    max_tokens: int | None = None,
    output_tokens: int | str | None = None,
    server: Literal["vllm", "sglang", "trtllm", "llamacpp", "tgi", "ollama"] | None = None,
    image: str | Sequence[str] | None = None,
    tools: _Path | None = None,
    user: str | None = None,
    inputs: str | bytes | None = None,
    token_env: str | None = None,
    turns: int = 1,
    batch: int = 1,
    prompt_order: Literal["sequence", "shuffle"] = "sequence",
    unique_prefix: bool = False,
    trace: _Path | None = None,
    trace_format: str | None = None,
    block_tokens: int | None = None,
    trace_from: _Duration | None = None,
    trace_to: _Duration | None = None,
    synthesis: str | None = None,
    grpc: str | None = None,
    protos: _Path | Sequence[_Path] | None = None,
    proto_paths: _Path | Sequence[_Path] | None = None,
    descriptor_set: _Path | None = None,
    reflection: bool = False,
    grpc_gzip: bool = False,
    message_interval: _Duration | None = None,
    send_together: bool = False,
    http: Literal["1.1", "2", "2c", "auto"] | None = None,
    streams: int = 1,
    match: str | float | _Path | Sequence[str | float] = "order",
    binary: bool = False,
    coalesce: _Duration = "0s",
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

    levels: measure 1,2,4 or auto[:START[:END]] [200 … 50000]
    rates: measure rates: 100,200 or auto[:START[:END]]
    rounds: measure the whole ladder N times [1]
    min_capacity: exit 1 below: '5k ok/s', '9 users', '9 arrivals/s'
    connections: open N connections, one per user [50; rate: 100]
    duration: measure each level for TIME [10s]
    arrivals: with a rate: use constant or poisson gaps [constant]
    max_in_flight: with a rate: drop due requests beyond N in flight [5M]
    spin: with a rate or streams: busy-wait for exact times
    pool: share N connections among users [one per user]
    think: pause users after each response: 1s, 1s-3s, exp:2s
    cancel: let users give up: '10% after 2s'
    warmup: load the target for TIME before measuring [2s]
    drain: wait TIME for open requests at the end [--timeout]
    workers: send from N threads [cores; half for a local target]
    processes: split the load over N processes; auto: as needed [auto]
    seed: set the seed of all random choices [1]
    nodes: send from Ray nodes: N, all or HOST,… [this machine]
    cluster: set the address of the Ray cluster [RAY_ADDRESS]
    allow_lost_nodes: go on without nodes that are lost between levels
    method: set the method [GET; POST with a body]
    headers: add a header (repeatable)
    body: send this body
    json_body: send this JSON body and its content-type
    basic_auth: authenticate by HTTP Basic
    requests_file: send the requests in FILE: HAR, JSON or vegeta's
    weights: set each request's weight, e.g. 8,1,1 [in turn]
    steps: let each user send all requests in order, repeatedly
    data: fill {{row.NAME}} from a CSV with header or JSON lines
    verbatim: send {{…}} as it is, without filling it in
    expect_status: count these statuses as ok, e.g. 2xx,404 [200-399]
    expect_body: require this text or regex in the body (repeatable)
    expect_json: require this JSON value: '$.status=ok' (repeatable)
    capture: save as {{NAME}}: json:$.id, header:X, regex:/(…)/
    compressed: request gzip or deflate compression
    timeout: fail a request that takes longer than TIME [30s]
    stream: read event streams: sse, openai, responses, …
    idle_timeout: fail a stream after TIME without data
    from_: measure stream times from sent or intended time [sent]
    chat: ask a language model: openai, anthropic, …
    alias: also as vllm, aiperf, sglang, guidellm, inference-perf
    tokenizer: also count tokens, by a tokenizer.json
    prompt: send this prompt
    prompts: send the prompts in FILE in turn: JSON lines, ShareGPT
    prompt_tokens: make up prompts of N tokens, or A to B
    prefix_tokens: begin made-up prompts with N shared tokens
    prefix_groups: have N different shared beginnings [1]
    token_ids: send made-up prompts as token ids, of the tokenizer
    model: ask for this model
    max_tokens: limit each response to N tokens
    output_tokens: make the server generate exactly N tokens, or A to B
    server: force the output length as this server does: vllm, …
    image: add an image of random pixels to each prompt
    tools: let the model call the tools in FILE, a JSON list
    user: send this user name [dify: torr]
    inputs: set the variables of a Dify app, as JSON
    token_env: read the API's key from this environment variable
    turns: hold conversations of N turns [1]
    batch: put N texts into a request of embeddings or rerank [1]
    prompt_order: send prompts in sequence, or shuffle them [sequence]
    unique_prefix: add a unique prefix to each prompt, to avoid caches
    trace: send the requests of a trace, as of Mooncake
    trace_format: read the trace in this format [detected]
    block_tokens: let each block of the trace have N tokens
    trace_from: begin at TIME of the trace [0s]
    trace_to: end before TIME of the trace
    synthesis: scale the trace: prefix=x2,input=x0.5,output=x2
    grpc: call package.Service/Method; -b is its message as JSON
    protos: take the message types from a .proto file (repeatable)
    proto_paths: look for imports of --proto in DIR [its folder]
    descriptor_set: take the message types from a descriptor set
    reflection: take the message types from the server
    grpc_gzip: compress messages of calls by gzip
    message_interval: send the messages of a stream TIME apart
    send_together: send all messages of a bidirectional call at once
    http: version of HTTP: 1.1, 2, 2c (plain), auto [1.1]
    streams: carry at most N requests at once on a connection [1]
    match: match answers of ws:// by order, id:KEY or none [order]
    binary: send ws:// messages as binary
    coalesce: collect HTTP/2 requests for TIME before a write [0s]
    keepalive: if False, open a new connection for each request
    requests_per_connection: replace a connection after N requests [no limit]
    connections_per_second: open the first connections at this rate [no limit]
    retry_delay: wait TIME after a failed connection attempt [100ms]
    source_address: connect from this local address (repeatable)
    proxy: connect through http://[USER:PASSWORD@]HOST:PORT
    insecure: accept any certificate
    cacert: trust the certificates in FILE (PEM) [system's list]
    cert: present this client certificate (PEM)
    key: use this private key for --cert [in the --cert file]
    tls_resumption: if False, do a full TLS handshake for each connection
    name: name the run and its files [apiserver]
    dir: write results below this directory [_output/torr]
    slo: require this (else exit 1): 'p95 < 1s', mlperf:…
    abort_on: stop early (exit 1) when this holds: 'errors > 5%'
    allow_not_shown: pass SLOs with the verdict 'not shown'
    monitor: sample a PID, URL, vllm:URL, nvml or other (repeatable)
    profile: profile afterwards: PID, memory:PID or Go's pprof URL
    profile_at: with --profile: load with N users [the best level's]
    note: store a note with the run, e.g. 'api 1.2 CPU'
    tags: tag the run, for torr runs list --tag (repeatable)
    store: if False, do not add the run to the store
    """

def tune(
    file: _Path,
    *,
    progress: _Progress | None = None,
    budget: str | int | None = None,
    seed: int = 1,
    duration: _Duration | None = None,
    warmup: _Duration | None = None,
    pin: str | float | _Path | Sequence[str | float] = "auto",
    nodes: str | float | _Path | Sequence[str | float] | None = None,
    cluster: str | float | _Path | Sequence[str | float] | None = None,
    allow_lost_nodes: bool = False,
    resume: _Path | None = None,
    name: str = "apiserver",
    dir: _Path = "_output/torr",
    allow_not_shown: bool = False,
    note: str | None = None,
    tags: str | Sequence[str] | None = None,
    store: bool = True,
) -> Result:
    """Search the best setting of the server of a tune file, and judge it in fresh rounds.

    Prints nothing. `progress` is called with every interval as it comes, from this thread; what it
    raises ends the load and is raised here. Ctrl-C in the main thread ends the load and raises
    KeyboardInterrupt. Either way everything measured is stored in the run's directory.

    Raises UsageError before anything is sent, NothingMeasuredError where nothing answers.

    budget: measure at most N trials, or for TIME [what the search needs]
    seed: set the seed of the order of settings [1]
    duration: measure in each trial for TIME [10s]
    warmup: load each server for TIME before measuring [2s]
    pin: pin generator/target to cores, e.g. 0/1-3, or off [auto]
    nodes: send from Ray nodes: N, all or HOST,… [this machine]
    cluster: set the address of the Ray cluster [RAY_ADDRESS]
    allow_lost_nodes: go on without nodes that are lost between trials
    resume: continue the run in this directory
    name: name the run and its files [apiserver]
    dir: write results below this directory [_output/torr]
    allow_not_shown: pass SLOs with the verdict 'not shown'
    note: store a note with the run, e.g. 'api 1.2 CPU'
    tags: tag the run, for torr runs list --tag (repeatable)
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
    grpc: str | None = None,
    protos: _Path | Sequence[_Path] | None = None,
    proto_paths: _Path | Sequence[_Path] | None = None,
    descriptor_set: _Path | None = None,
    reflection: bool = False,
    grpc_gzip: bool = False,
    message_interval: _Duration | None = None,
    send_together: bool = False,
    http: Literal["1.1", "2", "2c", "auto"] | None = None,
    streams: int = 1,
    match: str | float | _Path | Sequence[str | float] = "order",
    binary: bool = False,
    coalesce: _Duration = "0s",
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
    """Send one request to `url` and return the response, with the bytes sent.

    Raises UsageError before anything is sent, NothingMeasuredError without a complete response.

    method: set the method [GET; POST with a body]
    headers: add a header (repeatable)
    body: send this body
    json_body: send this JSON body and its content-type
    basic_auth: authenticate by HTTP Basic
    requests_file: send the requests in FILE: HAR, JSON or vegeta's
    weights: set each request's weight, e.g. 8,1,1 [in turn]
    steps: let each user send all requests in order, repeatedly
    data: fill {{row.NAME}} from a CSV with header or JSON lines
    verbatim: send {{…}} as it is, without filling it in
    expect_status: count these statuses as ok, e.g. 2xx,404 [200-399]
    expect_body: require this text or regex in the body (repeatable)
    expect_json: require this JSON value: '$.status=ok' (repeatable)
    capture: save as {{NAME}}: json:$.id, header:X, regex:/(…)/
    compressed: request gzip or deflate compression
    timeout: fail a request that takes longer than TIME [30s]
    grpc: call package.Service/Method; -b is its message as JSON
    protos: take the message types from a .proto file (repeatable)
    proto_paths: look for imports of --proto in DIR [its folder]
    descriptor_set: take the message types from a descriptor set
    reflection: take the message types from the server
    grpc_gzip: compress messages of calls by gzip
    message_interval: send the messages of a stream TIME apart
    send_together: send all messages of a bidirectional call at once
    http: version of HTTP: 1.1, 2, 2c (plain), auto [1.1]
    streams: carry at most N requests at once on a connection [1]
    match: match answers of ws:// by order, id:KEY or none [order]
    binary: send ws:// messages as binary
    coalesce: collect HTTP/2 requests for TIME before a write [0s]
    keepalive: if False, open a new connection for each request
    requests_per_connection: replace a connection after N requests [no limit]
    connections_per_second: open the first connections at this rate [no limit]
    retry_delay: wait TIME after a failed connection attempt [100ms]
    source_address: connect from this local address (repeatable)
    proxy: connect through http://[USER:PASSWORD@]HOST:PORT
    insecure: accept any certificate
    cacert: trust the certificates in FILE (PEM) [system's list]
    cert: present this client certificate (PEM)
    key: use this private key for --cert [in the --cert file]
    tls_resumption: if False, do a full TLS handshake for each connection
    """
