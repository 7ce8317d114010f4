"""Tools that a model may call, from the file of `--tools`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import FileError, require
from torr.messages.say import say
from torr.model.json_input import parse_json_to_send
from torr.model.outside_file import read_text

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions


def tools_member(options: StreamOptions) -> str:
    """Return the tools as a member of a body, empty without any; raise FileError.

    They are sent as the file has them: APIs differ in the form of a tool.
    """
    if options.tools is None:
        return ""
    path = Path(options.tools)
    try:
        tools = parse_json_to_send(read_text(path, f"--tools {path}"))
    except ValueError as error:
        raise FileError(path, 1, str(error)) from error
    require(
        isinstance(tools, list) and bool(tools) and all(isinstance(x, dict) for x in tools),
        say("--tools {path}: not a JSON list of tools", path=path),
        '[{"type": "function", "function": {"name": "f", "parameters": {}}}]',
    )
    # A body is a template, in which two braces would begin an expression.
    return f'"tools":{json.dumps(tools, ensure_ascii=False)}'.replace("{{", '{{"{{"}}')
