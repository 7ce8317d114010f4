#!/usr/bin/env bash
# Starts a server at $PORT, or a backend at a free port and a proxy at $PORT before it. Their logs
# are files in $TMPDIR, which are removed. When the script ends, both servers end; when one server
# ends, the script ends.
#
#   PORT=8001 start.sh 'node backend.js'
#   PORT=8001 start.sh 'node backend.js' 'node proxy.js'
set -euo pipefail

logs=$(mktemp -d)
started=()

begin() { # begin PORT COMMAND LOG: in words, as the commands of a matrix are
    # The kernel ends it when this script is killed and cannot.
    PORT=$1 setpriv --pdeathsig TERM $2 >"$logs/$3" &
    started+=($!)
}

finish() {
    trap - TERM INT
    kill "${started[@]}" 2>/dev/null || true
    wait "${started[@]}" 2>/dev/null || true
    rm -rf "$logs"
    exit "$1"
}

url_in() { # the URL that a server says in its log; ends when the server does first
    local url
    until url=$(sed -n 's/^listening on //p;q' "$1") && [ -n "$url" ]; do
        kill -0 "${started[0]}" 2>/dev/null || return 1
        sleep 0.02
    done
    printf '%s' "$url"
}

trap 'finish 0' TERM INT
if [ $# -eq 1 ]; then
    begin "$PORT" "$1" server.log
else
    begin 0 "$1" backend.log
    BACKEND=$(url_in "$logs/backend.log") || { echo "start.sh: no backend" >&2; finish 1; }
    export BACKEND
    begin "$PORT" "$2" proxy.log
fi
wait -n "${started[@]}" || true
echo "start.sh: a server ended by itself" >&2
finish 1
