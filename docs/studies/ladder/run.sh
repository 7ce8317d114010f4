#!/usr/bin/env bash
# The ladders of docs/studies/ladder-of-an-api-server.md: builds the servers, climbs, sets the
# ladders side by side, takes CPU profiles under load, and keeps what the study cites beside this
# file (or in $KEEP). The client has core 0, the servers core 1. About 20 minutes.
#
#   docs/studies/ladder/run.sh                   # all steps, in the order of `steps`
#   docs/studies/ladder/run.sh proxy diffs       # some of them
#   LEVELS=50,200 DURATION=1s BARE_ROUNDS=1 KEEP=/tmp/try docs/studies/ladder/run.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../../.." && pwd)
servers=$repository/examples/servers
PATH=$repository/.venv/bin:$PATH
steps=(bare logging quiet proxy bare-again logging-auto diffs profiles)
levels=${LEVELS:-200,500,1000,3000,5000,10000,15000,20000,25000,50000}
duration=${DURATION:-10s}
bare_rounds=${BARE_ROUNDS:-3}
rounds=${ROUNDS:-1}
profile_seconds=${PROFILE:-10}
keep=$(realpath -m "${KEEP:-$here}")
work=$(mktemp -d)
cd "$work" # so that kept commands name no temporary place
port=${PORT:-8080} proxy_port=${PROXY_PORT:-8081} profile_port=${PROFILE_PORT:-6060}
started=()

main() {
    (($# > 0)) || set -- "${steps[@]}"
    go build -C "$servers" -o "$work/bin/" ./bare ./slow
    mkdir -p "$keep"
    [[ -e $keep/machine.txt ]] || machine >"$keep/machine.txt"
    echo "$(date -u +%R) commit $(git -C "$repository" describe --always --dirty): $*" \
        >>"$keep/machine.txt"
    local step
    for step in "$@"; do "step_$step"; done
}

step_bare() { rounds=$bare_rounds climb bare "$port" bare; }
step_logging() { climb logging "$port" logging; }
step_quiet() { climb quiet "$port" quiet; }
step_proxy() { climb proxy "$proxy_port" bare nginx_before_bare; }
step_bare-again() { climb bare-again "$port" bare; }
step_logging-auto() { levels=${LOW:-auto} climb logging-auto "$port" logging; }
step_diffs() {
    local pair
    for pair in bare:bare-again bare:logging bare:quiet logging:quiet bare:proxy; do
        side_by_side "${pair%:*}" "${pair#*:}"
    done >"$keep/diffs.txt"
}
step_profiles() {
    profile logging
    profile quiet
}

# What a ladder can be climbed on; the log of every request goes to /dev/null.
bare() { exec taskset -c 1 "$work/bin/bare" -port "$port"; }
gin() { exec taskset -c 1 "$work/bin/slow" -port "$port" -pprof "127.0.0.1:$profile_port" "$@"; }
logging() { gin -middleware=true; }
quiet() { gin -middleware=false; }
nginx_before_bare() {
    sed "s/8080/$port/; s/8081/$proxy_port/" "$servers/nginx-proxy.conf" >"$work/nginx.conf"
    exec taskset -c 1 nginx -p "$work" -c nginx.conf
}

# climb NAME PORT SERVER…: start the servers, climb at PORT, stop them, keep the result.
climb() {
    local name=$1 at=$2
    shift 2
    start "$@"
    taskset -c 0 torr ladder --levels "$levels" -z "$duration" --rounds "$rounds" \
        --slo 'p95 < 500ms' --slo 'success >= 99.9%' \
        -n "$name" -d "$name" "http://127.0.0.1:$at/healthz"
    stop
    keep_ladder "$name"
}

keep_ladder() {
    mkdir -p "$keep/$1"
    cp "$work/$1"/latest/{"$1".dat,"$1"*.png} "$keep/$1/"
    cp "$work/$1/latest/summary.md" "$keep/$1/summary.txt" # no page: its command is not to be run
    # Without slices and histograms, which are most of the file.
    python3 - "$work/$1/latest/result.json" "$keep/$1/result.json" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
for level in result["levels"]:
    level.pop("slices", None)
    level.pop("histograms", None)
with open(sys.argv[2], "w") as kept:
    head = {key: value for key, value in result.items() if key != "levels"}
    kept.write(json.dumps(head)[:-1] + ', "levels": [\n')
    kept.write(",\n".join(map(json.dumps, result["levels"])) + "\n]}\n")
END
}

side_by_side() {
    echo "== $1 against $2"
    torr diff -d diff "$keep/$1" "$keep/$2" | grep -v '^plot'
    echo
    cp "$work/diff/$1_$2".*.png "$keep/"
}

# Where the CPU goes while 1,000 connections fire; the profile comes over its own port.
profile() {
    start "$1"
    taskset -c 0 torr run -q -c 1000 -z "$((profile_seconds + 4))s" -d profile \
        "http://127.0.0.1:$port/healthz" &
    local load=$!
    sleep 3
    PPROF_TMPDIR=$work taskset -c 0 go tool pprof -top -cum -nodecount=60 \
        -seconds "$profile_seconds" "http://127.0.0.1:$profile_port/debug/pprof/profile" \
        >"$keep/profile-$1.txt" 2>/dev/null
    wait $load
    stop
}

start() {
    local server at
    for at in "$port" "$proxy_port" "$profile_port"; do
        ! is_open "$at" || { echo "run.sh: port $at is taken" >&2; exit 1; }
    done
    for server in "$@"; do
        $server >/dev/null 2>>"$work/servers.log" &
        started+=($!)
    done
    [[ $* == *nginx* ]] && at=$proxy_port || at=$port
    until is_open "$at"; do
        kill -0 "${started[@]}"
        sleep 0.1
    done
}

is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

stop() {
    local server
    for server in "${started[@]}"; do
        kill "$server" && wait "$server" || true
    done 2>/dev/null
    started=()
}

machine() {
    date -u +%F
    uname -srm
    echo "$(nproc) cores, $(awk '/MemTotal/ { print int($2 / 1048576) }' /proc/meminfo) GiB"
    grep -m1 'model name' /proc/cpuinfo
    go version
    nginx -v 2>&1 || true
    torr --version
    echo "descriptors: soft $(ulimit -Sn), hard $(ulimit -Hn)"
    sysctl net.core.somaxconn net.ipv4.tcp_max_syn_backlog net.ipv4.ip_local_port_range
}

trap 'stop; rm -rf "$work"' EXIT
main "$@"
