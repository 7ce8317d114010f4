#!/usr/bin/env bash
# Says which of the tools that `make build` cannot do without is missing, and how to get it.
# Installs nothing. The Python to build with is the first argument, `python3` without one.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:-python3}
needed_node=$(sed -n 's/.*"node": ">=\(.*\)".*/\1/p' web/package.json)
needed_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
missing=0

miss() {
    printf 'missing: %s\n    try: %s\n' "$1" "$2" >&2
    missing=1
}

is_older() { # is_older 1.70 1.88: whether the first version is below the second one
    [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

other_python() { # the newest Python on the PATH that is new enough
    local version
    for version in 3.13 3.12 3.11 3.10; do
        if "python$version" --version >/dev/null 2>&1; then
            printf 'python%s' "$version"
            return
        fi
    done
}

check_python() {
    if ! command -v "$python" >/dev/null; then
        miss "$python" "apt-get install python3 python3-venv, or make PYTHON=/path/to/python build"
    elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
        local other
        other=$(other_python)
        miss "Python 3.10 or newer ($python is $("$python" --version 2>&1))" \
            "make PYTHON=${other:-/path/to/python3.12} build"
    elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        miss "the venv module of $python" "apt-get install python3-venv"
    fi
}

check_rust() {
    local found
    if ! command -v cargo >/dev/null; then
        miss "cargo, the build tool of Rust" "install Rust with rustup: https://rustup.rs"
        return
    fi
    found=$(cargo --version | cut -d ' ' -f 2)
    if is_older "$found" "$needed_rust"; then
        miss "Rust $needed_rust or newer (cargo is $found)" "rustup update"
    fi
}

check_node() {
    local found
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        miss "node and npm, which build the page" "apt-get install nodejs npm, or https://nodejs.org"
        return
    fi
    found=$(node --version)
    if is_older "${found#v}" "$needed_node"; then
        miss "Node $needed_node or newer (node is ${found#v})" "https://nodejs.org"
    fi
}

check_python
check_rust
check_node
command -v cc >/dev/null || miss "cc, which Rust links with" "apt-get install gcc libc6-dev"
exit "$missing"
