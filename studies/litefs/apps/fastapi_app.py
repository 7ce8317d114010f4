"""FastAPI: one answer in plain text, as the other candidates give it.

uvicorn fastapi_app:app
"""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

app = FastAPI(openapi_url=None)


@app.get("/")
async def hello() -> PlainTextResponse:
    """Answer what every candidate answers; a plain str would be quoted as JSON."""
    return PlainTextResponse("Hello world")
