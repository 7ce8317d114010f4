#!/bin/sh
# Measure the levels of an old wrktest.sh result (.dat) again, and compare both results.
#
#   examples/wrktest_dat.sh old/apiserver.dat http://localhost:8080/healthz
#
# Its lines are: connections, requests/s, mean ms, success in %. torr writes the same.
set -eu
old=${1:?give the old .dat file}
url=${2:?give the URL to fire at}

levels=$(awk '$1 ~ /^[0-9]+$/ { printf "%s%s", comma, $1; comma = "," }' "$old")
torr ladder --levels "$levels" -z "${DURATION:-10s}" -n today "$url"
torr diff "$old" _output/torr/today.dat
ls _output/torr/*.diff.png
