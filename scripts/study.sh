#!/usr/bin/env bash
# Makes the environment of a study under build/studies, where it is not there yet, and runs its
# files: tune*.toml by `torr tune`, then matrix*.toml by `torr compare`, or short.toml alone with
# SHORT=1.
#
#   scripts/study.sh litefs                  LiteFS and FastAPI in six deployments
#   scripts/study.sh proxy                   a backend and a proxy before it, in Express and in Go
#   scripts/study.sh healthz                 net/http and gin, with and without logging
#   scripts/study.sh tuning                  the best settings of uvicorn, nginx and llama.cpp
#   scripts/study.sh NAME --prepare          makes the environment alone
#   scripts/study.sh NAME -- COMMAND…        runs a command in it
#   scripts/study.sh NAME FLAG…              flags of torr, such as --plan
#   scripts/study.sh NAME matrix.toml FLAG…  one file alone, such as with --resume
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
torr=${TORR:-$root/.venv/bin/torr}
python=${PYTHON:-python3}

name=${1:-}
study=$root/studies/$name
place=$root/build/studies/$name
runs=${RUNS:-$root/_output/torr} # where runs are written

main() {
    known
    check_tools
    mkdir -p "$place"
    "prepare_$name"
    export PATH="$place/bin:$study:$PATH"
    case "${1:-}" in
        --prepare) return ;;
        --) shift && exec "$@" ;;
    esac
    measure "$@"
}

known() {
    local each
    for each in litefs proxy healthz tuning; do [ "$name" = "$each" ] && return; done
    printf 'usage: %s litefs|proxy|healthz|tuning [--prepare | -- COMMAND… | FILE FLAG…]\n' "$0" >&2
    exit 2
}

check_tools() {
    local missing=
    case "$name" in
        litefs | tuning) "$python" -c 'import ensurepip, venv' 2>/dev/null ||
            miss "$python with its venv module" "apt-get install python3 python3-venv" ;;&
        tuning) PATH="$PATH:/usr/sbin" command -v nginx >/dev/null ||
            miss "nginx, which stands before uvicorn" "apt-get install nginx-light" ;;
        proxy)
            command -v node >/dev/null || miss "node, which runs Express" "apt-get install nodejs"
            command -v npm >/dev/null || miss "npm, which installs Express" "apt-get install npm"
            command -v setpriv >/dev/null || miss "setpriv" "apt-get install util-linux" ;;
    esac
    case "$name" in
        proxy | healthz) command -v go >/dev/null || miss "go, which builds servers" \
            "install Go: https://go.dev/dl" ;;
    esac
    [ -z "$missing" ] || exit 1
}

miss() {
    printf 'missing: %s\n    try: %s\n' "$1" "$2" >&2
    missing=yes
}

prepare_litefs() { install_python "$study/requirements.txt"; }

# FastAPI and uvicorn are those of the other study, llama.cpp's server is that of the tests.
prepare_tuning() {
    install_python "$root/studies/litefs/requirements.txt"
    make --silent -C "$root" build/llama-cpp/.pins
    export PATH=$PATH:/usr/sbin # where nginx is
}

install_python() {
    fresh "$1" && return
    "$root/scripts/venv.sh" "$python" "$place" "$1"
    keep "$1"
}

prepare_proxy() {
    go build -C "$study/go" -o "$place/bin/go-backend" ./backend
    go build -C "$study/go" -o "$place/bin/go-proxy" ./proxy
    export NODE_PATH="$place/node_modules" # the apps stay where they are
    fresh "$study/package-lock.json" && return
    cp "$study/package.json" "$study/package-lock.json" "$place/"
    npm ci --prefix "$place" --ignore-scripts --no-audit --no-fund --loglevel error
    keep "$study/package-lock.json"
}

prepare_healthz() {
    go build -C "$root/examples/servers" -o "$place/bin/" ./bare ./slow
}

# What is installed is known by the pins that it was installed from.
fresh() { cmp --quiet "$1" "$place/.pins"; }
keep() { cp "$1" "$place/.pins"; }

measure() {
    local file code=0 ended files command
    cd "$study"
    shopt -s nullglob
    files=(tune*.toml matrix[.]toml matrix-*.toml) # each a pattern: a file may be missing
    [ -z "${SHORT:-}" ] || files=(short.toml)
    [[ ${1:-} != *.toml ]] || { files=("$1") && shift; }
    [ -x "$torr" ] || { printf 'missing: %s\n    try: make build\n' "$torr" >&2; exit 1; }
    for file in "${files[@]}"; do
        printf '\n== studies/%s/%s\n' "$name" "$file"
        ended=0
        command=compare
        [[ $file != tune* ]] || command=tune
        "$torr" "$command" "$file" -d "$runs" "$@" || ended=$?
        [ "$ended" -ne 130 ] || exit 130 # Ctrl-C is for all of them
        [ -z "${SHORT:-}" ] || all_measured || ended=3
        [ "$ended" -le "$code" ] || code=$ended
    done
    exit "$code"
}

# Whether every candidate came to its load in every cell: what a short run is for. A round that a
# busy machine has spoilt is made good by another one.
all_measured() {
    "$python" - "$runs/latest/result.json" <<'EOF'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    result = json.load(file)
spot = lambda each: (each.get("candidate"), json.dumps(each.get("factors"), sort_keys=True))
came = {spot(level) for level in result["levels"]}
missing = [each["text"] for each in result.get("failures", []) if spot(each) not in came]
print(*missing, sep="\n", end="\n" if missing else "")
sys.exit(bool(missing))
EOF
}

main "${@:2}"
