"""What planning made of options, read from the plan that a fake engine got."""

from __future__ import annotations

import base64
import json
import re

URL = "http://127.0.0.1:9"


def group_of(fake):
    (group,) = fake.loads[0].plan.as_json()["groups"]
    return group


def requests_of(fake):
    source = group_of(fake)["source"]
    return source["requests"] if "requests" in source else [source["request"]]


def body_of(request):
    return base64.b64decode(request["body"]).decode()


def header_of(request, name):
    return dict(request["headers"]).get(name)


def filled(request):
    """Return the JSON of a body in which each expression is its own name."""
    return json.loads(re.sub(r"\{\{([\w.]+)( \| json)?\}\}", r"\1", body_of(request)))
