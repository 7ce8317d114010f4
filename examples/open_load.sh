#!/bin/sh
# Send RATE requests per second at random times (open loop), whether responses arrive or not, and
# check the response time against an SLO.
#
#   RATE=500 examples/open_load.sh http://localhost:8080/
#
# The response time begins when a request was due, the service time when it was sent. If they differ,
# requests waited for a connection. Exit code 1: the SLO is broken.
set -eu
url=${1:?give the URL to fire at}

torr run --rate "${RATE:-1000}" --arrivals poisson -c "${CONNECTIONS:-100}" \
    -z "${DURATION:-30s}" --slo 'p99 < 250ms' --slo 'success >= 99%' -n open "$url"
