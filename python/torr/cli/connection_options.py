"""The flags about connections and TLS, which commands that send requests share."""

from __future__ import annotations

from torr.cli.options import CONNECTION, flag, together
from torr.options import readers

connection = together(
    flag(
        "--no-keepalive",
        is_flag=True,
        group=CONNECTION,
        rare=True,
        help="a new connection for each request",
    ),
    flag(
        "--requests-per-connection",
        type=readers.COUNT,
        group=CONNECTION,
        rare=True,
        help="then make it anew [no limit]",
    ),
    flag(
        "--connections-per-second",
        type=readers.RATE,
        group=CONNECTION,
        rare=True,
        help="open the first ones at this rate",
    ),
    flag(
        "--retry-delay",
        type=readers.DURATION,
        default="100ms",
        group=CONNECTION,
        rare=True,
        help="pause after a failed dial [100ms]",
    ),
    flag(
        "--source-address",
        type=readers.ADDRESS,
        multiple=True,
        group=CONNECTION,
        rare=True,
        help="leave from this one (repeatable)",
    ),
    flag(
        "--proxy",
        type=readers.PROXY,
        group=CONNECTION,
        rare=True,
        help="through http://[USER:PASSWORD@]HOST:PORT",
    ),
    flag("-k", "--insecure", is_flag=True, group=CONNECTION, help="accept any certificate"),
    flag(
        "--cacert",
        type=readers.FILE,
        group=CONNECTION,
        rare=True,
        help="trust this PEM file [the machine's list]",
    ),
    flag(
        "--cert", type=readers.FILE, group=CONNECTION, rare=True, help="show this certificate (PEM)"
    ),
    flag(
        "--key", type=readers.FILE, group=CONNECTION, rare=True, help="its private key [in --cert]"
    ),
    flag(
        "--no-tls-resumption",
        is_flag=True,
        group=CONNECTION,
        rare=True,
        help="a full handshake for each connection",
    ),
)
