#!/usr/bin/env bash
# Finds the knee of a server whose capacity is known: 32 requests at once, 5 ms each, so at most
# 6,400 requests/s from 32 connections on. Takes about a minute; Ctrl-C ends it and keeps what was
# measured. Only the loopback address is used.
set -euo pipefail
cd "$(dirname "$0")/.."

torr=.venv/bin/torr
folder=_output/torr
said=$(mktemp)
target=

finish() {
    if [ -n "$target" ]; then
        kill -TERM "$target" 2>/dev/null || true
        wait "$target" 2>/dev/null || true
    fi
    rm -f "$said"
}
trap finish EXIT
trap 'exit 130' INT TERM

# A core each, where there are two: then neither side waits for the other.
mapfile -t cores < <(taskset -cp $$ 2>/dev/null | sed 's/.*: //' | tr ',' '\n' |
    while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
at() { # at CORE COMMAND…: on this core, or anywhere when there is one core or no taskset
    local core=$1
    shift
    if [ "${#cores[@]}" -ge 2 ]; then exec taskset -c "$core" "$@"; fi
    exec "$@"
}

set -m # a process group of its own: Ctrl-C is the ladder's, which still needs its target
(at "${cores[1]:-}" "$torr" target delay --delay 5ms --capacity 32 >"$said") &
target=$!
set +m
for _ in $(seq 600); do
    url=$(sed -n 's/^listening on //p' "$said")
    [ -n "$url" ] && break
    kill -0 "$target" 2>/dev/null || { echo "demo: the target did not start" >&2; exit 1; }
    sleep 0.1
done
[ -n "$url" ] || { echo "demo: the target does not say where it listens" >&2; exit 1; }

printf 'target: torr target delay --delay 5ms --capacity 32   (at most 6,400 requests/s)\n'
printf 'ladder: torr ladder --levels auto -z 2s --slo "p95 < 15ms" %s\n\n' "$url"
ended=0
(at "${cores[0]:-}" "$torr" ladder --levels auto -z 2s --warmup 500ms --slo 'p95 < 15ms' \
    -n demo -d "$folder" "$url") </dev/null || ended=$?
# 1 says that the SLO broke at the lowest level: the verdict of a slow machine, not a failure.
[ "$ended" -le 1 ] || exit "$ended"
printf '\nopen %s in a browser\n' "$PWD/$folder/latest/report.html"
