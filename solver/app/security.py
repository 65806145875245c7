"""Access control of the application: one guard for pages, files, uploads and sockets.

Every request has to name this server as its host, come from its own pages, and bring the secret; nothing else
of it is looked at before.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from linkrisk.errors import called
from linkrisk.solver.options.data import LOOPBACK
from linkrisk.solver.run.errors import UsageError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN = "token"
SMALL = 2_000_000
"""Bytes that a request may bring which is no upload."""

POLICY = "; ".join(
    (
        "default-src 'self'",
        # NiceGUI's pages have scripts inside, and Vue compiles their templates: both are out of reach for
        # data, which is only ever sent as JSON and shown as text.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",
        "frame-ancestors 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    )
)
"""Nothing from other hosts, nothing to other hosts."""

HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))


@dataclass(frozen=True)
class Access:
    """Who may ask for what."""

    hosts: frozenset[str]  # what requests may call this server, with its port
    port: int  # in the name of the cookie, as cookies do not know ports
    most: int  # bytes of an upload
    # in the address that is printed, to be shown once by each browser
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    # what it is given for that, as a cookie that scripts cannot read
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def cookie(self) -> str:
        """The cookie's name."""
        return f"linkrisk-{self.port}"


_ADDRESS = re.compile(r"(\[[0-9a-f:.]+\]|[0-9a-z_](?:[0-9a-z._-]*[0-9a-z_])?)(?::(\d{1,5}))?", re.ASCII)


def access_at(host: str, port: int, published: str | None, most: int) -> tuple[str, Access]:
    """The address to open, and who may ask for what there.

    A server is known by the address that it listens at, the loopback one by all of its names; or by the one
    at which it is published: a container listens at all addresses that it has, and is called by none of them.
    """
    name = f"[{host}]" if ":" in host else host
    if published is not None:
        found = _ADDRESS.fullmatch(published.lower())
        if found is None or not 0 < int(found[2] or port) <= _LAST:
            raise UsageError(
                f"{called('published_at', published)} is no address: give a name or number and its port, "
                "such as 127.0.0.1:8080",
                option="published_at",
            )
        name, port = found[1], int(found[2] or port)
    names = {name, *(_LOOPBACK if name in _LOOPBACK else ())}
    hosts = {f"{one}:{port}" for one in names} | (names if port == _HTTP else set())
    return f"{name}:{port}", Access(frozenset(hosts), port, most)


_LOOPBACK = tuple(f"[{name}]" if ":" in name else name for name in LOOPBACK)
_HTTP, _LAST = 80, 65535
"""The port that browsers leave out, and the last one that there is."""


class TooLargeError(Exception):
    """A request has brought more than it may."""


class Guard:
    """Refuses what does not come from this application's own pages, on this machine, with its secret."""

    def __init__(self, app: App, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        refused = self._refused(scope, headers)
        if refused:
            await _refuse(scope, send, *refused)
        elif scope["type"] == "http" and TOKEN in parse_qs(scope["query_string"].decode("latin-1")):
            await self._let_in(scope, send)
        elif not self._known(headers):
            await _refuse(scope, send, 403, "Open the address that the terminal shows, with its token.")
        elif _length(headers) > self._most(scope):
            await _refuse(scope, send, 413, _too_large(self._most(scope)))
        else:
            # What a proxy would say; there is none, and nobody else may say it.
            scope["headers"] = [pair for pair in scope["headers"] if not pair[0].startswith(b"x-forwarded")]
            await self._answer(scope, receive, send)

    def _refused(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str] | None:
        """Why a request is none of this application's own; None for one that may be."""
        host, origin = headers.get("host", []), headers.get("origin", [])
        if len(host) != 1 or host[0].lower() not in self._access.hosts:
            return 403, "This server has another name."
        own = [f"{scheme}://{host[0].lower()}" for scheme in ("http", "https")]
        needed = scope["type"] == "websocket" or scope.get("method") not in _SAFE
        if (needed and not origin) or any(one.lower() not in own for one in origin):
            return 403, "Requests are taken from this server's own pages only."
        # Cookies do not know ports: a page of another server on this machine would bring them too.
        if any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", [])):
            return 403, "Come here by typing the address: requests of other pages are refused."
        return None

    async def _let_in(self, scope: Scope, send: Send) -> None:
        """Take the token out of the address and give the cookie instead."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if not _same(query[TOKEN][0], self._access.token):
            await _refuse(scope, send, 403, "This token is not the one that the terminal shows.")
            return
        rest = urlencode([(key, value) for key, values in query.items() if key != TOKEN for value in values])
        # Two slashes would lead to another host, and to browsers a backslash is one.
        target = "/" + quote(scope["path"].lstrip("/"))
        cookie = f"{self._access.cookie}={self._access.secret}; Path=/; HttpOnly; SameSite=Strict"
        headers = {"location": target + (f"?{rest}" if rest else ""), "set-cookie": cookie}
        await _respond(send, 303, "", headers)

    def _known(self, headers: dict[str, list[str]]) -> bool:
        for given in headers.get("cookie", []):
            try:
                cookies = SimpleCookie(given)
            except CookieError:
                continue
            found = cookies.get(self._access.cookie)
            if found is not None and _same(found.value, self._access.secret):
                return True
        return False

    def _most(self, scope: Scope) -> int:
        return self._access.most if "/upload/" in scope["path"] else SMALL

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, count its body, and add the policy of what pages may load to the answer."""
        left, begun = self._most(scope), False

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise TooLargeError
            return message

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                given = {name for name, _ in message.get("headers", [])}
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [
                    *message.get("headers", []),
                    *(pair for pair in extra if pair[0] not in given),
                ]
            await send(message)

        try:
            await self._app(scope, counted if scope["type"] == "http" else receive, guarded)
        except TooLargeError:
            if not begun:
                await _refuse(scope, send, 413, _too_large(self._most(scope)))


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _length(headers: dict[str, list[str]]) -> int:
    """Declared length of a request; without one it is counted as it arrives."""
    said = headers.get("content-length", ["0"])[0]
    return int(said) if said.isdigit() else 0


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def _too_large(most: int) -> str:
    return f"The file is too large: at most {most / 1e6:,.0f} MB are taken; start the app with --max-upload."


async def _refuse(scope: Scope, send: Send, status: int, reason: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": reason})
    else:
        await _respond(send, status, f"linkrisk: {reason}\n", {"connection": "close"})


async def _respond(send: Send, status: int, text: str, headers: dict[str, str]) -> None:
    body = text.encode()
    every = {
        **HEADERS,
        "content-type": "text/plain; charset=utf-8",
        "content-length": str(len(body)),
        "cache-control": "no-store",
        **headers,
    }
    pairs = [(name.encode(), value.encode()) for name, value in every.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
