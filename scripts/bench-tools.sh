#!/usr/bin/env bash
# Installs the load generators that `make versus` sets torr against: four by apt, oha by cargo, the
# rest by Go, into build/tools. One that cannot be had is named there as left out, and is no error.
#
#   scripts/bench-tools.sh            install what is missing
#   scripts/bench-tools.sh --check    says nothing, ends with 1 when one is missing
#   scripts/bench-tools.sh --python [NAME…]
#                                     installs those that benches/streams and benches/micro need, or
#                                     the named ones, each in a venv of the Python that PYTHON names.
#                                     vllm-client is one file of vLLM, and downloads 340 MB for it
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/build/tools
# One line a tool: its name, its version, and the crate or the Go package that has it.
crates=("oha 1.16.0 oha")
packages=(
    "bombardier v1.2.6 github.com/codesenberg/bombardier"
    "hey v0.1.5 github.com/rakyll/hey"
    "vegeta v12.12.0 github.com/tsenart/vegeta/v12"
    "k6 v1.8.1 go.k6.io/k6"
    "ghz v0.93.0 github.com/bojand/ghz/cmd/ghz"
)

pythons=(
    "locust 2.47.0"
    "aiperf 0.13.0"
    "guidellm 0.8.1"
    "pytest-benchmark 5.3.1"
    "pyperf 2.10.0"
    "vllm-client 0.33.0"
)

# vllm_client VERSION: the file with the client of `vllm bench serve`, and what it imports. The rest
# of vLLM needs libraries of several GB.
vllm_client() {
    local venv=$folder/python/vllm-client wheel=$folder/python/vllm-client/wheel
    "$venv/bin/python" -m pip install --quiet aiohttp regex tqdm &&
        "$venv/bin/python" -m pip download --quiet --no-deps --only-binary :all: \
            --dest "$wheel" "vllm==$1" &&
        "$venv/bin/python" -c 'import sys, zipfile
path = "vllm/benchmarks/lib/endpoint_request_func.py"
sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(path))' "$wheel"/vllm-*.whl \
            >"$venv/endpoint_request_func.py" && rm -r "$wheel" &&
        printf '%s\n' "$1" >"$venv/version"
}

if [ "${1:-}" = "--python" ]; then
    for line in "${pythons[@]}"; do
        read -r name version <<<"$line"
        [ $# -eq 1 ] || [[ " ${*:2} " == *" $name "* ]] || continue
        [ -x "$folder/python/$name/bin/$name" ] && continue
        [ -f "$folder/python/$name/endpoint_request_func.py" ] && continue
        printf 'installing %s %s\n' "$name" "$version"
        install=("$folder/python/$name/bin/python" -m pip install --quiet "$name==$version")
        [ "$name" = vllm-client ] && install=(vllm_client "$version")
        if ! "${PYTHON:-python3}" -m venv --clear "$folder/python/$name" || ! "${install[@]}"; then
            rm -rf "${folder:?}/python/$name"
            printf 'left out: %s %s\n' "$name" "$version" >&2
        fi
    done
    exit 0
fi

is_here() { # is_here NAME VERSION: whether this version of it was built before
    [ -x "$folder/bin/$1" ] && [ "$(cat "$folder/versions/$1" 2>/dev/null)" = "$2" ]
}

missing() { # the lines of the tools that are not there
    local line name version
    for line in "$@"; do
        read -r name version _ <<<"$line"
        is_here "$name" "$version" || printf '%s\n' "$line"
    done
}

mapfile -t crates < <(missing "${crates[@]}")
mapfile -t packages < <(missing "${packages[@]}")

if [ "${1:-}" = "--check" ]; then
    [ $((${#crates[@]} + ${#packages[@]})) -eq 0 ] || exit 1
    scripts/test-deps.sh --check versus && exec scripts/test-deps.sh --check others
    exit 1
fi
scripts/test-deps.sh versus

mkdir -p "$folder/bin" "$folder/versions"
: >"$folder/left-out"
made=$(mktemp -d)
# What is downloaded and compiled on the way is not kept, and the user's own caches stay as they are.
trap 'rm -rf "$made"' EXIT

have() { # have NAME VERSION COMMAND…: runs it; keeps the version, or the reason why there is none
    local name=$1 version=$2
    shift 2
    printf 'installing %s %s\n' "$name" "$version"
    if ("$@") >"$made/log" 2>&1; then
        printf '%s\n' "$version" >"$folder/versions/$name"
    else
        local reason
        reason=$(tail -n 2 "$made/log" | tr -s '[:space:]' ' ')
        printf '%s %s: %s\n' "$name" "$version" "${reason:-no reason given}" >>"$folder/left-out"
        printf 'left out: %s %s\n    %s\n' "$name" "$version" "$reason" >&2
    fi
}

by_cargo() { # by_cargo CRATE VERSION
    CARGO_TARGET_DIR="$made/target" nice cargo install "$1" --version "$2" --locked \
        --root "$made/cargo" && cp "$made/cargo/bin/$1" "$folder/bin/"
}

# `go install` asks for a list of all versions of some packages, which not every proxy has: a module
# of its own, which names the version, does without.
by_go() { # by_go PACKAGE VERSION
    export GOPATH="$made/go" GOCACHE="$made/cache" GOBIN="$folder/bin"
    export GOFLAGS="${GOFLAGS:-} -trimpath -modcacherw"
    nice go install "$1@$2" && return
    rm -rf "$made/module" && mkdir "$made/module"
    printf 'module tools\n\nrequire %s %s\n' "$1" "$2" >"$made/module/go.mod"
    (cd "$made/module" && nice go build -mod=mod -o "$folder/bin/" "$1")
}

if ! scripts/test-deps.sh --check others && ! scripts/test-deps.sh others; then
    printf "%s: not to be had by apt\n" ab h2load >>"$folder/left-out"
fi

for line in "${crates[@]}"; do
    read -r name version crate <<<"$line"
    have "$name" "$version" by_cargo "$crate" "$version"
done
for line in "${packages[@]}"; do
    read -r name version package <<<"$line"
    if command -v go >/dev/null; then
        have "$name" "$version" by_go "$package" "$version"
    else
        have "$name" "$version" sh -c 'echo "Go is missing" && exit 1'
    fi
done
