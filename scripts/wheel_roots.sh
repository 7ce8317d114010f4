#!/usr/bin/env bash
# Makes two small Debian systems below build/roots, where scripts/check_wheels.py tries the wheels too:
#
#   newest    Debian unstable for this processor: the newest Python, the newest C library
#   aarch64   Debian stable for aarch64, run by qemu-user
#
# It needs root, debootstrap and a server of Debian's packages (DEBIAN, unless debootstrap knows one). The
# kernel is told to run programs for aarch64 with the qemu of the first system (binfmt_misc), until the
# next boot: qemu before 8 lacks epoll_pwait2, which the engine calls.
set -euo pipefail
cd "$(dirname "$0")/.."

server=${DEBIAN:-}
roots=build/roots
mkdir -p "$roots"

if [ ! -x "$roots/newest/usr/bin/python3" ]; then
    rm -rf "$roots/newest"
    debootstrap --variant=minbase --include=python3-venv,python3-pip,qemu-user sid "$roots/newest" ${server:+"$server"}
fi

if [ "$(uname -m)" = x86_64 ]; then
    formats=/proc/sys/fs/binfmt_misc
    [ -e "$formats/register" ] || mount -t binfmt_misc none "$formats"
    if [ ! -e "$formats/qemu-aarch64" ]; then
        # The head of an ELF file for aarch64, the bits of it that count, and F: qemu is opened now, so
        # that it is found from inside of any root.
        magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
        mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
        printf '%s' ":qemu-aarch64:M::$magic:$mask:$PWD/$roots/newest/usr/bin/qemu-aarch64:F" >"$formats/register"
    fi
    if [ ! -x "$roots/aarch64/usr/bin/python3" ]; then
        rm -rf "$roots/aarch64"
        debootstrap --arch=arm64 --variant=minbase --include=python3-venv,python3-pip stable "$roots/aarch64" ${server:+"$server"}
    fi
fi
