"""One browser that watches: it is sent the newest when it has seen the last, and its orders are carried out."""

from __future__ import annotations

import asyncio
import json

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from wiser.cockpit.board import Place
from wiser.cockpit.orders import Orders
from wiser.cockpit.simulation import Simulation

IN_FLIGHT = 2  # messages that may be on their way: one is drawn while the next one travels
PATIENCE = 30.0  # seconds after which somebody who sees nothing no longer counts as watching
SEEN = "seen"  # what a viewer sends back for every message it got


class Viewer:
    """Serves a connection until it ends."""

    def __init__(self, socket: WebSocket, simulation: Simulation, orders: Orders, greeting: str) -> None:
        self.socket, self.simulation, self.orders, self.greeting = socket, simulation, orders, greeting
        self._news, self._seen, self._unseen = asyncio.Event(), asyncio.Event(), 0

    async def serve(self) -> None:
        """Send and receive side by side; the first to end ends both."""
        await self.socket.accept()
        loop = asyncio.get_running_loop()
        self.simulation.ask(lambda it: it.watch(1))
        try:
            with self.simulation.board.listening(lambda: loop.call_soon_threadsafe(self._news.set)):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._send)
                    await self._receive()
                    tasks.cancel_scope.cancel()
        except* TimeoutError:
            await self.socket.close(1008, "nothing was seen for too long")
        except* WebSocketDisconnect:
            pass  # it went while something was on its way
        finally:
            self.simulation.ask(lambda it: it.watch(-1))

    async def _send(self) -> None:
        place = Place()
        await self._deliver(self.greeting)
        while True:
            await self._news.wait()
            while self._unseen >= IN_FLIGHT:
                self._seen.clear()
                with anyio.fail_after(PATIENCE):
                    await self._seen.wait()
            self._news.clear()
            for message in self.simulation.board.news(place):
                await self._deliver(message)

    async def _receive(self) -> None:
        while (message := await self.socket.receive())["type"] != "websocket.disconnect":
            text = message.get("text") or ""
            if text == SEEN:
                self._unseen = max(0, self._unseen - 1)  # nobody has seen what was not sent
                self._seen.set()
                continue
            try:
                await asyncio.wrap_future(self.simulation.ask(self.orders.read(text)))
            except ValueError as error:
                await self._deliver(json.dumps({"kind": "error", "text": str(error)}))

    async def _deliver(self, message: str | bytes) -> None:
        self._unseen += 1
        if isinstance(message, str):
            await self.socket.send_text(message)
        else:
            await self.socket.send_bytes(message)
