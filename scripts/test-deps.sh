#!/usr/bin/env bash
# Installs the programs that tests or benches use, by apt. Without root or apt it prints the command
# that would install them, and ends with 1.
#
#   scripts/test-deps.sh           what `make test` uses
#   scripts/test-deps.sh full      what `make test-full` uses
#   scripts/test-deps.sh versus    what `make versus` needs
#   scripts/test-deps.sh others    load generators that `make versus` uses besides, if apt has them
#   scripts/test-deps.sh --check [tests|full|versus|others]
#                                  prints nothing, ends with 1 if one is missing
set -euo pipefail

# Each entry: a program, and the Debian package that contains it.
tests=("chromium-headless-shell chromium-headless-shell" "mount mount" "nginx nginx" "openssl openssl")
full=("${tests[@]}" "c++ g++" "prometheus prometheus" "postgres postgresql")
full+=("prometheus-node-exporter prometheus-node-exporter" "ip iproute2" "nsenter util-linux")
full+=("nghttpd nghttp2-server" "h2o h2o" "haproxy haproxy")
versus=("nginx nginx-light" "wrk wrk" "openssl openssl")
others=("ab apache2-utils" "h2load nghttp2-client" "nghttpd nghttp2-server")

quiet=
[ "${1:-}" = "--check" ] && { quiet=yes; shift; }
case "${1:-tests}" in
    tests) wanted=("${tests[@]}") ;;
    full) wanted=("${full[@]}") ;;
    versus) wanted=("${versus[@]}") ;;
    others) wanted=("${others[@]}") ;;
    *) printf 'usage: %s [--check] [tests|full|versus|others]\n' "$0" >&2; exit 2 ;;
esac

# Server programs are in /usr/sbin and /usr/lib/postgresql/*/bin, which PATH may not contain.
places="$PATH:/usr/sbin:/sbin$(printf ':%s' /usr/lib/postgresql/*/bin)"
packages=()
for line in "${wanted[@]}"; do
    read -r program package <<<"$line"
    PATH="$places" command -v "$program" >/dev/null || packages+=("$package")
done

[ "${#packages[@]}" -eq 0 ] && exit 0
[ -n "$quiet" ] && exit 1

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    printf 'missing: %s\n    try: sudo apt-get install %s\n' "${packages[*]}" "${packages[*]}" >&2
    exit 1
fi
# Tests start the servers that they need. A server that its package starts would occupy the port.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}"
