"""Stands for ssh to a machine, which is a namespace of this one.

python machine.py serve ADDRESS          run scripts that come over connections to ADDRESS
python machine.py run ADDRESS sh -s      send the standard input as a script, as ssh would do
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading

PORT = 2222
STATE = {"XDG_STATE_HOME": "/tmp/ray/state"}
"""A place that each machine has for itself; all other folders are shared."""


def serve(address):
    """Run scripts until the end."""
    with socket.create_server((address, PORT)) as listener:
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection):
    """Run one script, and reply how it ended."""
    with connection:
        script = connection.makefile("rb").read()
        environment = {**os.environ, **STATE}
        ended = subprocess.run(
            ["sh", "-s"], input=script, capture_output=True, check=False, env=environment
        )
        reply = [ended.returncode, ended.stdout.decode(), ended.stderr.decode()]
        connection.sendall(json.dumps(reply).encode())


def run(address):
    """Have a machine run the script that is the standard input; end as it does."""
    with socket.create_connection((address, PORT)) as connection:
        connection.sendall(sys.stdin.buffer.read())
        connection.shutdown(socket.SHUT_WR)
        code, out, err = json.loads(connection.makefile("rb").read())
    sys.stdout.write(out)
    sys.stderr.write(err)
    return code


if __name__ == "__main__":
    sys.exit(serve(sys.argv[2]) if sys.argv[1] == "serve" else run(sys.argv[2]))
