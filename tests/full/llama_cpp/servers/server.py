"""Runs llama.cpp's own HTTP server with a model of random weights until it is stopped by SIGTERM.

    python server.py PORT FOLDER [--slots N] [--context TOKENS] [--cache off] …

The model is written into FOLDER. Each slot has so many tokens of context.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

import xllamacpp
from model import write_model


def main() -> None:
    """Serve until SIGTERM."""
    # Blocked before the server's threads begin, so that only this thread receives it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    options = arguments()
    path = options.folder / "model.gguf"
    write_model(path, options.width, options.layers, letters=options.letters)
    server = xllamacpp.Server(parameters(options, path))
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--cache", choices=["off", "on", "q8_0"], default="on")
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--ubatch", type=int, help="tokens computed at once [--batch]")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--letters", action="store_true")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    return parser.parse_args()


def parameters(options: argparse.Namespace, path: Path) -> xllamacpp.CommonParams:
    """Return the parameters of llama-server."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = options.port
    parameters.n_parallel = options.slots
    parameters.n_ctx = options.slots * options.context
    parameters.n_batch, parameters.n_ubatch = options.batch, options.ubatch or options.batch
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = options.threads
    parameters.endpoint_metrics = True
    parameters.endpoint_slots = True
    parameters.warmup = False
    parameters.ui = False
    parameters.verbosity = 1
    parameters.cache_prompt = options.cache != "off"
    if options.cache == "off":
        parameters.cache_ram_mib = 0
    if options.cache == "q8_0":
        parameters.cache_type_k = xllamacpp.ggml_type.GGML_TYPE_Q8_0
    return parameters


if __name__ == "__main__":
    main()
