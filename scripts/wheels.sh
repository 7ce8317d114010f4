#!/usr/bin/env bash
# Builds what is published into dist: wheels for Linux on x86_64 and aarch64, and the source archive.
#
#   scripts/wheels.sh [TARGET …]
#
# A wheel is for all Pythons from 3.10 on (abi3) and for glibc 2.28 or newer (manylinux_2_28): zig
# links against that version, also for other processors. `make build` has built the page before.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu)
tools=build/wheel-tools
python=${PYTHON:-python3}

if [ ! -e "$tools/.pins" ] || [ requirements/wheels.txt -nt "$tools/.pins" ]; then
    scripts/venv.sh "$python" "$tools" requirements/wheels.txt
    touch "$tools/.pins"
fi
# maturin calls zig by its module.
export PATH="$PWD/$tools/bin:$PATH"

mkdir -p dist
rm -f dist/torr-*
for target in "${targets[@]}"; do
    if ! rustc --print target-libdir --target "$target" | xargs test -d; then
        rustup target add "$target" || {
            printf 'missing: the Rust standard library for %s\n    try: rustup target add %s\n' "$target" "$target" >&2
            exit 1
        }
    fi
    maturin build --release --strip --locked --zig --compatibility manylinux_2_28 --target "$target" --out dist
done
maturin sdist --out dist
ls -l dist
