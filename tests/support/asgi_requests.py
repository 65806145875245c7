"""Requests to an ASGI application without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass
class Answer:
    """What came back."""

    status_code: int
    headers: dict[str, str]
    text: str


def ask_app(
    app: Any, method: str, path: str, headers: Mapping[str, str | None], content: Sequence[bytes] = (b"",)
) -> Answer:
    """One request; its length is said unless the headers say that it is not."""
    said = {"content-length": str(sum(map(len, content))), **headers}
    sent: list[Any] = []
    left = list(content)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": where,
        "query_string": query.encode(),
        "headers": raw(said),
    }
    asyncio.run(app(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(sent[0]["status"], found, body.decode())


def ask_socket(app: Any, headers: Mapping[str, str | None]) -> str:
    """The first message that answers a socket: accepted or closed."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/_nicegui_ws/", "query_string": b"", "headers": raw(headers)}
    asyncio.run(app(scope, receive, send))
    first: str = sent[0]["type"]
    return first


def raw(headers: Mapping[str, str | None]) -> list[tuple[bytes, bytes]]:
    """Headers as they travel."""
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items() if value is not None]
