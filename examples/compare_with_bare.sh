#!/bin/sh
# What share of a bare server's requests does yours answer? Two ladders and their diff.
#
#   examples/compare_with_bare.sh http://localhost:8080/healthz
#
# The bare server is Go's net/http with the same response: what it gives is the most you can hope for
# on this machine. Fewer and shorter levels: DURATION=1s LEVELS=50,100.
set -eu
url=${1:?give the URL of your server}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
bare=
trap 'kill $bare 2>/dev/null || true; rm -rf "$work"' EXIT

go build -C "$here/servers" -o "$work/bare" ./bare
"$work/bare" -port 0 >"$work/log" &
bare=$!
until grep -q listening "$work/log"; do
    kill -0 $bare
    sleep 0.1
done
bare_url=$(sed -n 's/listening on //p' "$work/log")

ladder() { torr ladder --levels "${LEVELS:-200,500,1000,3000}" -z "${DURATION:-10s}" "$@"; }
ladder -n bare "$bare_url"
ladder -n yours "$url"
torr diff _output/torr/bare.dat _output/torr/yours.dat
