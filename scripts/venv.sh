#!/usr/bin/env bash
# Makes a virtual environment anew and installs pinned packages into it.
#
#   scripts/venv.sh PYTHON FOLDER PINS
#
# pip installs itself first: the one of an old Python takes three times as long for the rest.
# Python compiles a module when it first imports it, which is sooner than compiling all of them here.
set -euo pipefail
python=$1 folder=$2 pins=$3

install() { "$folder/bin/python" -m pip install --quiet --no-compile --require-hashes -r "$1"; }

"$python" -m venv --clear "$folder"
install "$(dirname "$0")/../requirements/pip.txt"
install "$pins"
