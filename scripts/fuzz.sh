#!/usr/bin/env bash
# Fuzzes everything that reads what somebody else wrote, guided by coverage.
#
#   scripts/fuzz.sh [EXECUTIONS]          over all targets together; 2,000,000 without a number
#   scripts/fuzz.sh EXECUTIONS TARGET     in one of them
#   scripts/fuzz.sh --record EXECUTIONS [TARGET …]
#                                         keeps a record in benches/truth/runs as well; with targets
#                                         so many executions are of each
#   scripts/fuzz.sh --keep                makes the kept corpus of what was found since, minimised
#
# What breaks a target is left in fuzz/target/broken; `fuzz/target/*/release/TARGET FILE` shows it.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each target, and its share in percent: TLS makes keys for each execution, and has the least.
shares=("head 13" "response 10" "chunked 10" "stream 10" "template 9" "plan 10" "observe 5" "frames 5"
    "sessions 6" "http2 4" "hpack 6" "websocket 6" "tally 5" "tls 1")

command -v c++ >/dev/null || {
    printf 'missing: c++, which libFuzzer is compiled with\n    try: apt-get install g++\n' >&2
    exit 1
}

# For a target that is named, flags hold for what runs in it, and not for build scripts.
host=$(rustc -vV | sed -n 's/^host: //p')
found=fuzz/target/found
kept=fuzz/target/kept
broken=fuzz/target/broken
mkdir -p "$found" "$kept" "$broken"

build() {
    local coverage=-Cllvm-args=-sanitizer-coverage
    RUSTFLAGS="-Cpasses=sancov-module $coverage-level=4 $coverage-inline-8bit-counters \
        $coverage-pc-table $coverage-trace-compares --cfg fuzzing -Dwarnings" \
        RUSTC_WRAPPER="$PWD/scripts/fuzz_rustc.sh" \
        cargo build --quiet --release --locked --manifest-path fuzz/Cargo.toml \
        --target-dir fuzz/target --target "$host"
}

unpack() { # unpack NAME: the kept corpus, as files
    rm -rf "${kept:?}/$1"
    python3 scripts/corpus.py unpack "fuzz/corpus/$1.txt" "$kept/$1"
}

fuzz() { # fuzz NAME MORE…: runs a target on what is kept and what was found since
    local name=$1 longest=1024
    shift
    mkdir -p "$found/$name"
    # A report between processes has a few thousand bytes at least.
    case "$name" in frames | tally) longest=8192 ;; esac
    "fuzz/target/$host/release/$name" -max_len="$longest" -timeout=60 -rss_limit_mb=1024 \
        -dict="fuzz/dictionaries/$name.dict" -artifact_prefix="$broken/$name-" "$@"
}

fuzz_both() { # fuzz_both NAME SHORT LONG: so many executions of short inputs, and of all lengths
    local inputs=("$found/$1" "$kept/$1")
    [ "$2" -eq 0 ] || fuzz "$1" -max_len=64 -runs="$2" "${inputs[@]}" || return
    fuzz "$1" -runs="$3" "${inputs[@]}"
}

run() { # run NAME EXECUTIONS: a row of the table, or what broke
    local name=$1 log=$found/$1.log short=0
    unpack "$name"
    # Short inputs have several frames already, and are several times as fast.
    case "$name" in hpack | http2 | websocket) short=$(($2 * 9 / 10)) ;; esac
    if ! fuzz_both "$name" "$short" $(($2 - short)) 2>"$log"; then
        printf 'target %s broke; its last words:\n' "$name" >&2
        tail -n 40 "$log" >&2
        return 1
    fi
    # "#1000 DONE cov: 484 ft: 1622 corp: 572/52Kb …"
    awk -v name="$name" '
        $2 == "DONE" { runs += substr($1, 2); edges = $4; features = $6; inputs = $8 }
        END { printf "| %s | %d | %s | %s | %s |\n", name, runs, edges, features, inputs }
    ' "$log"
}

run_all() {
    local name share
    printf '| target | executions | edges covered | features | inputs |\n| --- | --- | --- | --- | --- |\n'
    for line in "${shares[@]}"; do
        read -r name share <<<"$line"
        run "$name" $(($1 * share / 100))
    done
}

keep() { # An input for each edge is enough to begin with; counters would keep thousands.
    local name
    for line in "${shares[@]}"; do
        name=${line% *}
        unpack "$name"
        rm -rf "$kept/$name.new" && mkdir "$kept/$name.new"
        fuzz "$name" -merge=1 -set_cover_merge=1 -use_counters=0 \
            "$kept/$name.new" "$found/$name" "$kept/$name" 2>"$found/$name.log"
        python3 scripts/corpus.py pack "$kept/$name.new" "fuzz/corpus/$name.txt"
    done
    du -sh --apparent-size fuzz/corpus
}

build
case "${1:-}" in
    --keep) keep ;;
    --record)
        file=benches/truth/runs/$(date -u +%Y-%m-%dT%H%M%SZ).fuzz.md
        [ $# -le 2 ] || mapfile -t shares < <(printf '%s 100\n' "${@:3}")
        {
            printf 'scripts/fuzz.sh %s\n\n' "$*"
            printf '%s, %s, commit %s\n\n' "$(rustc --version)" \
                "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
                "$(git rev-parse --short HEAD)"
            run_all "$2"
        } | tee "$file"
        printf '\nkept: %s\n' "$file"
        ;;
    *)
        [ -z "${2:-}" ] || shares=("$2 100")
        run_all "${1:-2000000}"
        ;;
esac
