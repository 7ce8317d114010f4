#!/bin/sh
# A server that breaks off in the middle of every tenth answer: torr counts each failure once, by
# class and reason, keeps an example, and goes on. An SLO turns it into exit code 1.
#
#   examples/faults_are_data.sh           # FAULT=status_503 … `torr target faulty --list`
set -eu
work=$(mktemp -d)
target=
trap 'kill $target 2>/dev/null || true; rm -rf "$work"' EXIT

torr target faulty --fault "${FAULT:-reset_in_body}" --share 10% >"$work/log" &
target=$!
until grep -q listening "$work/log"; do
    kill -0 $target
    sleep 0.1
done

url=$(sed -n 's/listening on //p' "$work/log")
torr run -c 20 -z "${DURATION:-10s}" --slo 'success >= 99%' -n faulty "$url"
