#!/bin/sh
# What does a proxy cost? A ladder of the bare server, one through nginx before it, and their diff.
#
#   examples/behind_nginx.sh
#
# BARE_PORT and PROXY_PORT (8080, 8081) must be free. Shorter: DURATION=1s LEVELS=50,100.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bare=${BARE_PORT:-8080}
proxy=${PROXY_PORT:-8081}
work=$(mktemp -d)
servers=
trap 'kill $servers 2>/dev/null || true; wait; rm -rf "$work"' EXIT

go build -C "$here/servers" -o "$work/bare" ./bare
sed "s/8080/$bare/; s/8081/$proxy/" "$here/servers/nginx-proxy.conf" >"$work/nginx.conf"
"$work/bare" -port "$bare" >"$work/log" &
servers=$!
nginx -p "$work" -c nginx.conf &
servers="$servers $!"
sleep 1

ladder() { torr ladder --levels "${LEVELS:-50,200,1000}" -z "${DURATION:-10s}" "$@"; }
ladder -n bare "http://127.0.0.1:$bare/healthz"
ladder -n proxy "http://127.0.0.1:$proxy/healthz"
torr diff _output/torr/bare.dat _output/torr/proxy.dat
