#!/bin/sh
# How many connections can it take, with answers that a user still finds quick?
#
#   examples/ladder_healthz.sh http://localhost:8080/healthz
#
# DURATION=1s LEVELS=50,100,200 gives a first look. Exit code 1: at the lowest level an SLO is broken
# or not shown.
set -eu
url=${1:?give the URL to fire at}

torr ladder \
    --levels "${LEVELS:-200,500,1000,3000,5000,10000}" -z "${DURATION:-10s}" \
    --slo 'p95 < 500ms' --slo 'success >= 99.9%' \
    -n healthz "$url"
