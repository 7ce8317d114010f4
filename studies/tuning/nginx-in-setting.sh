#!/bin/sh
# Starts nginx and the service as a trial of tune-nginx.toml does, with the values in $SETTING.
set -e
python write_items.py "$DATABASE"
# Each value is a word.
# shellcheck disable=SC2086
python fill.py nginx.conf $SETTING >"$SCRATCH/nginx.conf"
exec sh behind-nginx.sh "$SCRATCH/nginx.conf"
