"""The flags of the live page, the same for every verb that has one."""

from __future__ import annotations

from torr.cli.options import RESULT, flag, together
from torr.options import readers

live = together(
    flag("--live", is_flag=True, group=RESULT, help="show it in a browser while it goes on"),
    flag(
        "--live-port",
        type=readers.PORT,
        group=RESULT,
        rare=True,
        help="of the live page; 0: any [8677, or any free one]",
    ),
    flag(
        "--live-host",
        metavar="ADDRESS",
        group=RESULT,
        rare=True,
        help="let others see it, by the URL's token [127.0.0.1]",
    ),
    flag(
        "--live-stay",
        type=readers.DURATION,
        group=RESULT,
        rare=True,
        help="keep it for so long after the end [0s]",
    ),
)
