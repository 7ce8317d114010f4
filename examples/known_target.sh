#!/bin/sh
# Compare torr's times with the log of a target whose delays are known.
#
#   DURATION=10s examples/known_target.sh
set -eu
work=$(mktemp -d)
target=
trap 'kill $target 2>/dev/null || true; rm -rf "$work"' EXIT

torr target delay --bimodal 2ms,50ms,10% --log "$work/truth.csv" >"$work/log" &
target=$!
until grep -q listening "$work/log"; do
    kill -0 $target
    sleep 0.1
done

url=$(sed -n 's/listening on //p' "$work/log")
torr run -c 20 -z "${DURATION:-10s}" --log "$work/seen.csv" -n known "$url"
kill $target && wait $target # its log is complete when it has ended

python3 - "$work" <<'END'
import csv, sys
from statistics import quantiles

def milliseconds(name, start, end):
    with open(f"{sys.argv[1]}/{name}.csv") as lines:
        return [(int(row[end]) - int(row[start])) / 1e6 for row in csv.DictReader(lines)]

truth = milliseconds("truth", "received_ns", "sent_ns")
seen = milliseconds("seen", "sent_ns", "last_byte_ns")
print(f"\n{'':8}{'answers':>9}{'p50':>10}{'p80':>10}{'p95':>10}")
for name, times in ("target", truth), ("torr", seen):
    cut = quantiles(times, n=20)
    print(f"{name:8}{len(times):>9,}" + "".join(f"{cut[i]:>7.2f} ms" for i in (9, 15, 18)))
END
