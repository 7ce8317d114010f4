#!/usr/bin/env bash
# The step of action.yml: installs TORR_PACKAGE, unless it is empty, and runs torr with TORR_ARGUMENTS.
# torr itself adds its summary to the page of the job ($GITHUB_STEP_SUMMARY).
set -euo pipefail

: "${TORR_ARGUMENTS:?the command without torr, such as: run http://localhost:8080/}"
torr=torr
if [ -n "${TORR_PACKAGE:-}" ]; then
    place=$(mktemp -d)
    python3 -m venv "$place"
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check "$TORR_PACKAGE"
    torr="$place/bin/torr"
fi

# Quotes are read as in a shell; nothing is expanded or executed.
words=()
while IFS= read -r -d '' word; do words+=("$word"); done < <(
    python3 -c 'import os, shlex; print("\0".join(shlex.split(os.environ["TORR_ARGUMENTS"])), end="\0")'
)
code=0
# Behind the verb, since what follows a `--` is not for torr.
"$torr" "${words[0]}" --dir "${TORR_DIRECTORY:-_output/torr}" "${words[@]:1}" || code=$?
printf 'exit-code=%s\n' "$code" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
