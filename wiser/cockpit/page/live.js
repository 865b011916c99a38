"use strict";

const RETRY = { first: 500, longest: 8000 }; // milliseconds until the next attempt to connect

/** The connection to the server. Calls `to` with what arrives, in the order in which it was sent:

    to.hear(message), a text message; to.see(message, image), steps with the picture of the last one;
    to.linked(whether), when the connection comes and goes. */
class Live {
  constructor(to) {
    this.to = to;
    this.turn = Promise.resolve();
    this.wait = RETRY.first;
    this.#connect();
  }

  /** Ask for something; while there is no connection, nothing happens. */
  send(order) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(order));
  }

  #connect() {
    const socket = this.socket = new WebSocket(`ws://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.wait = RETRY.first;
      this.to.linked(true);
    });
    socket.addEventListener("message", ({ data }) => {
      this.turn = this.turn.then(() => this.#take(data)).finally(() => {
        if (socket.readyState === WebSocket.OPEN) socket.send("seen"); // the server waits for this before it sends more
      });
    });
    socket.addEventListener("close", () => {
      this.to.linked(false);
      setTimeout(() => this.#connect(), this.wait);
      this.wait = Math.min(RETRY.longest, 2 * this.wait);
    });
  }

  async #take(data) {
    if (typeof data === "string") {
      this.to.hear(JSON.parse(data));
      return;
    }
    const length = new DataView(data).getUint32(0);
    const message = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    const image = await createImageBitmap(new Blob([new Uint8Array(data, 4 + length)], { type: "image/jpeg" }));
    this.to.see(message, image);
  }
}
