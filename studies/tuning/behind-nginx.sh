#!/bin/sh
# The service on a socket in $SCRATCH, and nginx before it with the configuration $1; SIGTERM ends
# both. nginx's workers have the user of this script, which may use the socket.
uvicorn items:app --uds "$SCRATCH/service.sock" --loop uvloop --http httptools \
    --no-access-log --log-level warning &
service=$!
nginx -e stderr -g "user $(id -un) $(id -gn);" -c "$1" &
nginx=$!
trap 'kill "$nginx" "$service"' TERM
wait "$nginx"
wait "$service"
