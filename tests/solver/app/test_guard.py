"""The guard: what a request must have, before anything else of it is looked at."""

from __future__ import annotations

from typing import Any

import pytest
from application import Answer, ask_app, ask_socket

from linkrisk.solver.app.security import HEADERS, SMALL, Access, Guard, Receive, Scope, Send, access_at
from linkrisk.solver.run.errors import UsageError

HOST = "127.0.0.1:8377"
OWN = f"http://{HOST}"
ACCESS = Access(frozenset((HOST, "localhost:8377")), 8377, most=SMALL + 1000)
COOKIE = f"{ACCESS.cookie}={ACCESS.secret}"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Says how much a request has brought; a socket gets back what it has sent."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message["more_body"]
    forwarded = dict(scope["headers"]).get(b"x-forwarded-prefix", b"none")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%d %s" % (size, forwarded)})


def ask(method: str = "GET", path: str = "/", *, content: Any = (b"",), **changed: str | None) -> Answer:
    headers = {
        "host": HOST,
        "cookie": COOKIE,
        **{key.replace("_", "-"): value for key, value in changed.items()},
    }
    return ask_app(Guard(app, ACCESS), method, path, headers, content)


def test_a_request_of_its_own_is_answered_with_a_policy() -> None:
    answer = ask(sec_fetch_site="same-origin", x_forwarded_prefix="//evil.example")
    assert (answer.status_code, answer.text) == (200, "0 none")  # nobody speaks for a proxy
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "http" not in HEADERS["content-security-policy"]
    assert ask("POST", origin=OWN).status_code == 200


TOKEN = "This token is not the one that the terminal shows."
OTHER = "Come here by typing the address: requests of other pages are refused."
SECRET = "Open the address that the terminal shows, with its token."
NAME = "This server has another name."
PAGES = "Requests are taken from this server's own pages only."
ORIGINS = ("http://evil.example", "null", "http://127.0.0.1:9999", f"{OWN}.evil.example")
COOKIES = (None, "", f"{ACCESS.cookie}=wrong", f"other={ACCESS.secret}", "bad cookie=;;=\x01")
REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"cookie": cookie}, SECRET) for cookie in COOKIES),
    *(
        ({"path": f"/?token={token}", "cookie": None}, TOKEN if token else SECRET)
        for token in ("wrong", "", "ü", "a" * 10_000)
    ),
    *(
        ({"host": host}, NAME)
        for host in ("evil.example", "evil.example:8377", "127.0.0.1", "127.0.0.1:80", "")
    ),
    *(({"origin": origin}, PAGES) for origin in ORIGINS),
    *(({"method": "POST", "origin": origin}, PAGES) for origin in (None, *ORIGINS)),
    *(({"sec_fetch_site": site}, OTHER) for site in ("cross-site", "same-site")),
]


@pytest.mark.parametrize(("asked", "message"), REFUSED)
def test_what_is_not_its_own_is_refused(asked: dict[str, Any], message: str) -> None:
    answer = ask(**asked)
    assert (answer.status_code, answer.text) == (403, f"linkrisk: {message}\n")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ({}, "websocket.accept"),
        ({"cookie": None}, "websocket.close"),
        ({"origin": None}, "websocket.close"),
        ({"origin": "http://evil.example"}, "websocket.close"),
        ({"host": "evil.example"}, "websocket.close"),
        ({"sec-fetch-site": "same-site"}, "websocket.close"),
    ],
)
def test_sockets(changed: dict[str, str | None], first: str) -> None:
    headers = {"host": HOST, "cookie": COOKIE, "origin": OWN, **changed}
    assert ask_socket(Guard(app, ACCESS), headers) == first


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address() -> None:
    answer = ask(path=f"/runs?token={ACCESS.token}&a=1", cookie=None)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/runs?a=1"
    assert answer.headers["set-cookie"] == f"{COOKIE}; Path=/; HttpOnly; SameSite=Strict"
    assert ACCESS.secret != ACCESS.token


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("//elsewhere.example/", "/elsewhere.example/"),
        ("/\\elsewhere.example/", "/%5Celsewhere.example/"),
        ("/\r\nX-Evil:1", "/%0D%0AX-Evil%3A1"),
        ("/run/0001-ä", "/run/0001-%C3%A4"),
    ],
)
def test_the_exchange_leads_to_no_other_host(path: str, target: str) -> None:
    answer = ask(path=f"{path}?token={ACCESS.token}")
    assert answer.headers["location"] == target


def test_uploads_have_a_limit_other_requests_a_small_one_and_secrets_are_not_printed() -> None:
    assert ask("POST", "/upload/1", content=[b"x" * ACCESS.most], origin=OWN).text == f"{ACCESS.most} none"
    for path, content in (("/upload/1", [b"x" * (ACCESS.most + 1)]), ("/", [b"x" * (SMALL + 1)])):
        answer = ask("POST", path, content=content, origin=OWN)
        assert answer.status_code == 413
        assert answer.text == (
            "linkrisk: The file is too large: at most 2 MB are taken; start the app with --max-upload.\n"
        )
    pieces = [b"x" * 100_000] * 30  # of a size that is not said
    assert ask("POST", "/upload/1", content=pieces, content_length=None, origin=OWN).status_code == 413
    assert ACCESS.token not in repr(ACCESS)
    assert ACCESS.secret not in repr(ACCESS)


LOOPBACK = ("127.0.0.1", "[::1]", "localhost")
WITH_80 = [f"{name}:80" for name in LOOPBACK]


@pytest.mark.parametrize(
    ("asked", "shown", "hosts"),
    [
        (("127.0.0.1", 8377, None), "127.0.0.1:8377", [f"{name}:8377" for name in LOOPBACK]),
        (("::1", 9000, None), "[::1]:9000", [f"{name}:9000" for name in LOOPBACK]),
        (("192.0.2.7", 8377, None), "192.0.2.7:8377", ["192.0.2.7:8377"]),
        (
            ("0.0.0.0", 8080, "127.0.0.1:80"),
            "127.0.0.1:80",
            [*LOOPBACK, *WITH_80],
        ),
        (("0.0.0.0", 8080, "LocalHost"), "localhost:8080", [f"{name}:8080" for name in LOOPBACK]),
        (("::", 8080, "[2001:db8::1]:443"), "[2001:db8::1]:443", ["[2001:db8::1]:443"]),
    ],
)
def test_a_server_is_called_by_the_address_at_which_it_is_published(asked, shown, hosts) -> None:
    address, access = access_at(*asked, most=SMALL)
    assert (address, sorted(access.hosts)) == (shown, sorted(hosts))
    assert access.cookie == f"linkrisk-{shown.rpartition(':')[2]}"


@pytest.mark.parametrize("address", ["", "http://127.0.0.1", "a b", "a:0", "a:99999", "::1", "*"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError) as raised:
        access_at("0.0.0.0", 8080, address, most=SMALL)
    assert str(raised.value) == (
        f"published_at={address!r} is no address: give a name or number and its port, such as 127.0.0.1:8080"
    )
