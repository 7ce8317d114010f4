# `make` without a target lists the targets. .ci/run, which CI runs, calls them.
#
# Rust has two profiles: release for what is shipped and measured, dev for lints and Rust's own tests.
# Python packages are installed into .venv; those of the oldest Locust and of fuzzing into build.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST_LOCUST := build/locust-oldest
FUZZ := build/fuzz
DOCS := build/docs-tools
RAY := build/ray
H2SPEC := build/h2spec
GRPC := build/grpc
GRPC_SERVERS := tests/full/grpc/servers
WEBSOCKET := build/websocket
WEBSOCKET_SERVERS := tests/full/websocket/servers
LLAMA_CPP := build/llama-cpp
TORR := $(BIN)/torr
WHEELS := dist
ENGINE := python/torr/_engine.abi3.so
BUNDLE := python/torr/report/bundle/page.js
WEB := $(shell find web -path web/node_modules -prune -o -type f -print)
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

# The Python that the binding is compiled for. Cargo compiles it again when this variable changes.
export PYO3_PYTHON := $(abspath $(BIN)/python)

# Where Python keeps what it compiled: `make demo` and the tests use the same.
export PYTHONPYCACHEPREFIX := $(abspath build/bytecode)

.DELETE_ON_ERROR:
.PHONY: help build demo wheel wheels test test-full test-times steadiness mutants test-deps fmt lint lint-rust lint-web lint-python fuzz fuzz-python bench versus truth soak streams micro schema reference messages docs docs-serve notices clean
.PHONY: study-litefs study-proxy study-healthz study-tuning

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

build: $(TORR) ## make .venv/bin/torr and its page (needs Python ≥ 3.10, Rust and Node ≥ 18.18)

demo: build ## find the knee of a server whose capacity is known (about a minute)
	@$(TORR) demo

wheels: build ## build the wheels for x86_64 and aarch64 and the source archive into dist, and try them in empty environments
	PYTHON=$(BIN)/python scripts/wheels.sh
	$(BIN)/python scripts/check_wheels.py

wheel: build ## build the package as it is published, into dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $(WHEELS) .

test: build ## run the unit and component tests, of Rust, Python and the page (6 minutes)
	@scripts/test-deps.sh --check || scripts/test-deps.sh
	$(BIN)/python scripts/run_tests.py unit component

test-full: build $(OLDEST_LOCUST)/.pins $(FUZZ)/.pins $(DOCS)/.pins $(RAY)/.pins $(H2SPEC)/.pins $(GRPC)/.pins $(WEBSOCKET)/.pins $(LLAMA_CPP)/.pins ## run all tests, also those of the tier `full` (three quarters of an hour)
	@scripts/test-deps.sh --check full || scripts/test-deps.sh full
	cargo test --workspace --no-run --quiet
	$(BIN)/python scripts/run_tests.py all
	$(BIN)/python scripts/test_times.py --check

test-times: ## print the slowest tests and the sum of each folder, of the last runs
	@$(BIN)/python scripts/test_times.py

steadiness: ## run `make test` 20 times, ten of them on busy cores (three hours)
	$(BIN)/python scripts/steadiness.py

mutants: ## print which faults of tests/mutants the tests catch (hours; ONLY="NAME ...")
	$(BIN)/python scripts/mutants.py $(if $(ONLY),--only $(ONLY))

test-deps: ## install the programs that `make test` uses, by apt
	scripts/test-deps.sh

fmt: $(VENV)/.pins web/node_modules/.pins ## format Rust, Python and the page
	cargo fmt
	cargo fmt --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	npm --prefix web run --silent fmt

lint: lint-rust lint-web lint-python ## check format, lints and types

lint-rust: $(VENV)/.pins
	cargo fmt --check
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	cargo clippy --workspace --all-targets -- -D warnings

lint-web: web/node_modules/.pins
	npm --prefix web run --silent lint

lint-python: $(VENV)/.pins
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/mypy scripts/*.py scripts/reference build_backend
	MYPYPATH=benches $(BIN)/mypy --explicit-package-bases benches
	$(BIN)/mypy fuzz/python/targets.py

fuzz: ## fuzz Rust's parsers of others' bytes, guided by coverage (EXECUTIONS=2000000 in all)
	scripts/fuzz.sh $(EXECUTIONS)

fuzz-python: build $(FUZZ)/.pins ## fuzz Python's readers of others' files (EXECUTIONS=100000 of each)
	scripts/fuzz-python.sh $(EXECUTIONS)

bench: build ## a minute of `make versus`: is torr still as cheap as it was?
	@scripts/test-deps.sh --check versus || scripts/test-deps.sh versus
	cargo build --release --quiet -p bare
	$(BIN)/python benches/versus/run.py --quick

versus: build ## measure torr against other load generators, kept in benches/versus/runs
	@scripts/bench-tools.sh --check || scripts/bench-tools.sh
	cargo build --release --quiet -p bare
	$(BIN)/python benches/versus/run.py

truth: build ## measure torr against targets whose behaviour is known
	$(BIN)/python benches/truth/run.py

soak: build ## fire for a minute at half speed: is memory flat, no descriptor lost?
	$(BIN)/python benches/truth/run.py --only soak --quick

streams: build ## measure torr's streams beside other LLM load tools, kept in benches/streams/runs
	@PYTHON=$(BIN)/python scripts/bench-tools.sh --python locust aiperf guidellm vllm-client
	$(BIN)/python benches/streams/run.py

micro: build ## measure the bars of timing functions in one process, kept in benches/micro/runs
	@PYTHON=$(BIN)/python scripts/bench-tools.sh --python pytest-benchmark pyperf
	$(BIN)/python benches/micro/run.py

study-litefs: build ## compare LiteFS and FastAPI in six deployments (SHORT=1 tries each for a second)
	scripts/study.sh litefs

study-proxy: build ## compare a backend and a proxy before it, in Express and in Go (SHORT=1 likewise)
	scripts/study.sh proxy

study-healthz: build ## compare net/http and gin, with and without logging (SHORT=1 likewise)
	scripts/study.sh healthz

study-tuning: build ## find the best settings of uvicorn, nginx and llama.cpp's server
	scripts/study.sh tuning

schema: reference ## write docs/reference/result.schema.json again

notices: build ## write THIRD_PARTY_NOTICES again, after a dependency of the engine or the page changed
	$(BIN)/python scripts/notices.py

reference: build ## write the generated pages of docs/ again
	PYTHONPATH=scripts $(BIN)/python -m reference

docs: $(DOCS)/.pins ## build the documentation site into build/docs
	$(DOCS)/bin/python scripts/docs_site.py

docs-serve: docs ## serve the documentation site at http://127.0.0.1:8000
	$(DOCS)/bin/python -m http.server --bind 127.0.0.1 --directory build/docs 8000

messages: build ## bring the catalogues of other languages up to date and compile them
	$(BIN)/python scripts/messages.py

clean: ## remove everything that was built or installed here; runs in _output stay
	rm -rf $(VENV) target fuzz/target build dist $(ENGINE) $(dir $(BUNDLE)) web/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# The steps of build: pins when they changed, the engine when Rust's sources did, the page when its did.

$(VENV)/.pins: requirements/dev.txt
	@scripts/check-tools.sh $(PYTHON)
	scripts/venv.sh $(PYTHON) $(VENV) requirements/dev.txt
	touch $@

# The oldest Locust that torr works with, for its tests; .venv has the newest.
$(OLDEST_LOCUST)/.pins: requirements/locust-oldest.txt
	scripts/venv.sh $(PYTHON) $(OLDEST_LOCUST) requirements/locust-oldest.txt
	touch $@

# Fuzzing of what Python reads; torr and its packages are those of .venv.
$(FUZZ)/.pins: requirements/fuzz.txt $(VENV)/.pins
	scripts/venv.sh $(BIN)/python $(FUZZ) requirements/fuzz.txt
	touch $@

# Ray, for loads from several nodes; torr is that of the checkout.
$(RAY)/.pins: requirements/ray.txt
	scripts/venv.sh $(PYTHON) $(RAY) requirements/ray.txt
	touch $@

# h2specd, which tests clients of HTTP/2; go.sum has its checksum.
$(H2SPEC)/.pins: tests/full/http2/h2spec/go.mod tests/full/http2/h2spec/go.sum
	@command -v go >/dev/null || { printf 'missing: go, which builds h2specd\n    try: install Go: https://go.dev/dl\n' >&2; exit 1; }
	go build -C tests/full/http2/h2spec -o $(abspath $(H2SPEC))/ tool
	touch $@

# Servers of gRPC in Go and Rust; go.sum and Cargo.lock have their checksums.
$(GRPC)/.pins: $(wildcard $(GRPC_SERVERS)/go/*) $(GRPC_SERVERS)/tonic/Cargo.lock $(GRPC_SERVERS)/tonic/src/main.rs
	@command -v go >/dev/null || { printf 'missing: go, which builds a server\n    try: install Go: https://go.dev/dl\n' >&2; exit 1; }
	go build -C $(GRPC_SERVERS)/go -o $(abspath $(GRPC))/go-server .
	cargo build --release --locked --quiet --manifest-path $(GRPC_SERVERS)/tonic/Cargo.toml --target-dir $(GRPC)/target
	touch $@

# llama.cpp's own server, and the writer of its models.
$(LLAMA_CPP)/.pins: requirements/llama-cpp.txt
	scripts/venv.sh $(PYTHON) $(LLAMA_CPP) requirements/llama-cpp.txt
	touch $@

# Servers of WebSocket in Python, Node and Go; hashes, lock file and go.sum have their checksums.
$(WEBSOCKET)/.pins: requirements/websocket.txt $(WEBSOCKET_SERVERS)/node/package-lock.json $(wildcard $(WEBSOCKET_SERVERS)/go/*)
	@command -v go >/dev/null || { printf 'missing: go, which builds a server\n    try: install Go: https://go.dev/dl\n' >&2; exit 1; }
	scripts/venv.sh $(PYTHON) $(WEBSOCKET)/python requirements/websocket.txt
	mkdir -p $(WEBSOCKET)/node
	cp $(WEBSOCKET_SERVERS)/node/* $(WEBSOCKET_SERVERS)/node/.npmrc $(WEBSOCKET)/node
	npm --prefix $(WEBSOCKET)/node ci --no-audit --no-fund --loglevel=error
	go build -C $(WEBSOCKET_SERVERS)/go -o $(abspath $(WEBSOCKET))/ .
	touch $@

# Zensical, and the servers of the tutorial.
$(DOCS)/.pins: requirements/docs.txt
	scripts/venv.sh $(PYTHON) $(DOCS) requirements/docs.txt
	touch $@

$(ENGINE): $(VENV)/.pins $(RUST) pyproject.toml
	@scripts/check-tools.sh $(PYTHON)
	$(BIN)/maturin develop --release --locked
	touch $@

web/node_modules/.pins: web/package-lock.json
	@scripts/check-tools.sh $(PYTHON)
	npm --prefix web ci --no-audit --no-fund --loglevel=error
	touch $@

$(BUNDLE): web/node_modules/.pins $(WEB)
	npm --prefix web run --silent build
	touch $@

$(TORR): $(ENGINE) $(BUNDLE)
	touch $@
