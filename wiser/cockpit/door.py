"""Who may talk to the cockpit: pages that this server delivered itself, and programs on this machine.

Any website can make a browser send requests to this machine, and a name it owns can be pointed here (DNS rebinding).
So a request must name us as we are called, and must not come from another site.
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' {sockets}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Door:
    """Refuses strangers, and tells browsers what the pages behind it may do."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        """`hosts` are our names with the port, such as 127.0.0.1:8765."""
        self.app, self.hosts = app, frozenset(hosts)
        policy = POLICY.format(sockets=" ".join(f"ws://{host}" for host in sorted(self.hosts)))
        self.headers = {
            "content-security-policy": policy,
            "cross-origin-resource-policy": "same-origin",
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cache-control": "no-cache",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        reason = self._objection(Headers(scope=scope), scope["path"])
        if not reason:
            await self.app(scope, receive, self._with_headers(send))
        elif scope["type"] == "websocket":
            await WebSocketClose(1008, reason)(scope, receive, send)
        else:
            await PlainTextResponse(f"Refused: {reason}.\n", 403)(scope, receive, send)

    def _objection(self, headers: Headers, path: str) -> str:
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.hosts:
            return "this server has another name"
        if origin is not None and origin != f"http://{host}":
            return "the request comes from another site"
        if path != "/" and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "the request comes from another site"
        return ""

    def _with_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        return send_with_headers
