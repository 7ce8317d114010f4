#!/usr/bin/env bash
# Fuzzes what Python reads of others, guided by coverage: secrets in texts, JSON, requests files, HAR,
# .dat files and profiles of Go. `make fuzz-python` installs what it needs.
#
#   scripts/fuzz-python.sh [EXECUTIONS [TARGET …]]   in each target; 100,000 without a number
#   scripts/fuzz-python.sh --record EXECUTIONS [TARGET …]
#                                                    keeps a record in benches/truth/runs as well
#   scripts/fuzz-python.sh --keep                    makes the kept corpus of what was found since
#
# An input that breaks a target is left in fuzz/target/broken.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=(redaction json har requests dat pprof)
venv=build/fuzz
found=$PWD/fuzz/target/found
kept=$PWD/fuzz/target/kept
broken=$PWD/fuzz/target/broken
mkdir -p "$found" "$kept" "$broken"

# torr and what it needs, without a copy of either.
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

fuzz() { # fuzz NAME MORE…: run a target; its files are in memory
    local name=$1
    shift
    TORR_FUZZ_DIR=$([ -d /dev/shm ] && echo /dev/shm || echo /tmp) PYTHONPATH="python:$packages" \
        "$venv/bin/python" fuzz/python/run.py "$name" -max_len=1024 -timeout=60 \
        -rss_limit_mb=2048 -artifact_prefix="$broken/$name-" "$@"
}

unpack() { # unpack NAME: the kept corpus, as files
    rm -rf "${kept:?}/$1"
    python3 scripts/corpus.py unpack "fuzz/corpus/$1.txt" "$kept/$1"
    mkdir -p "$found/$1"
}

run() { # run NAME EXECUTIONS: a row of the table, or what broke
    local log=$found/$1.log
    unpack "$1"
    if ! fuzz "$1" -runs="$2" "$found/$1" "$kept/$1" 2>"$log" >&2; then
        printf 'target %s broke; its last lines:\n' "$1" >&2
        tail -n 40 "$log" >&2
        return 1
    fi
    awk -v name="$1" '$2 == "DONE" {
        printf "| %s | %s | %s | %s | %s |\n", name, substr($1, 2), $4, $6, $8
    }' "$log"
}

run_all() { # run_all EXECUTIONS
    local name
    printf '| target | executions | edges covered | features | inputs |\n| --- | --- | --- | --- | --- |\n'
    for name in "${targets[@]}"; do run "$name" "$1"; done
}

case "${1:-}" in
    --keep)
        for name in "${targets[@]}"; do
            unpack "$name"
            rm -rf "$kept/$name.new" && mkdir "$kept/$name.new"
            fuzz "$name" -merge=1 "$kept/$name.new" "$found/$name" "$kept/$name" 2>"$found/$name.log"
            python3 scripts/corpus.py pack "$kept/$name.new" "fuzz/corpus/$name.txt"
        done
        ;;
    --record)
        file=benches/truth/runs/$(date -u +%Y-%m-%dT%H%M%SZ).fuzz-python.md
        [ $# -gt 2 ] && targets=("${@:3}")
        {
            printf 'scripts/fuzz-python.sh %s\n\n' "$*"
            printf '%s, %s, commit %s\n\n' "$("$venv/bin/python" --version)" \
                "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
                "$(git rev-parse --short HEAD)"
            run_all "$2"
        } | tee "$file"
        printf '\nkept: %s\n' "$file"
        ;;
    *)
        executions=${1:-100000}
        [ $# -gt 1 ] && targets=("${@:2}")
        run_all "$executions"
        ;;
esac
