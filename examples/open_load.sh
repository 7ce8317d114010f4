#!/bin/sh
# Visitors do not wait for each other: send RATE requests a second, whatever comes back, at random
# moments as visitors do, and ask what they feel.
#
#   RATE=500 examples/open_load.sh http://localhost:8080/
#
# Response time counts from the moment that a request was due, service time from when it was sent.
# Where the two part, requests queued for a connection. Exit code 1: the SLO is broken.
set -eu
url=${1:?give the URL to fire at}

torr run --rate "${RATE:-1000}" --arrivals poisson -c "${CONNECTIONS:-100}" \
    -z "${DURATION:-30s}" --slo 'p99 < 250ms' --slo 'success >= 99%' -n open "$url"
