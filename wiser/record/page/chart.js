"use strict";

/* What all traces share: an axis of `length` steps that begins with step `first`, a cursor, scrubbing, and the marks of
   the truth. */

const EDGE = { left: 36, right: 12, top: 6, bottom: 18 };

class TimeChart {
  constructor(title, height, length, onSeek) {
    this.height = height;
    this.length = length;
    this.first = 0;
    this.edge = EDGE;
    this.canvas = element("canvas", { role: "img", "aria-label": title });
    this.cursor = element("div", { class: "cursor" });
    this.plot = element("div", { class: "plot" }, this.canvas, this.cursor);
    this.readout = element("span", { class: "readout" });
    this.root = element("figure", { class: "chart" },
      element("figcaption", {}, element("span", {}, title), this.readout), this.plot);
    this.step = 0;
    this.#scrub(onSeek);
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  x(step) {
    const { left, right } = this.edge;
    return left + ((this.width - left - right) * step) / Math.max(1, this.length - 1);
  }

  draw() {
    this.width = this.plot.clientWidth;
    if (!this.width) return;
    const sharp = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(this.width * sharp), height: Math.round(this.height * sharp) });
    this.canvas.style.height = `${this.height}px`;
    const context = this.canvas.getContext("2d");
    context.scale(sharp, sharp);
    context.font = `11px ${themed("--font")}`;
    this.paint(context);
    this.show(this.step);
  }

  show(step) {
    this.step = step;
    if (this.width) this.cursor.style.transform = `translateX(${this.x(step)}px)`;
  }

  #scrub(onSeek) {
    const seek = (event) => {
      const { left, right } = this.edge;
      const share = (event.clientX - this.plot.getBoundingClientRect().left - left) / (this.width - left - right);
      onSeek(Math.round(Math.min(1, Math.max(0, share)) * (this.length - 1)));
    };
    this.plot.addEventListener("pointerdown", (event) => {
      this.plot.setPointerCapture(event.pointerId);
      seek(event);
    });
    this.plot.addEventListener("pointermove", (event) => event.buttons && seek(event));
  }

  /** Ticks below: a round number of steps apart. */
  paintSteps(context) {
    const bottom = this.height - this.edge.bottom;
    const apart = roundStep(this.length / Math.max(2, Math.floor((this.width - this.edge.left) / 70)));
    context.fillStyle = themed("--dim");
    context.textBaseline = "top";
    context.textAlign = "center";
    for (let step = (apart - (this.first % apart)) % apart; step < this.length; step += apart) {
      context.fillText(String(this.first + step), this.x(step), bottom + 5);
      context.fillRect(Math.round(this.x(step)), bottom, 1, 3);
    }
  }

  /** Mark the steps at which isBroken(step) as the truth is marked everywhere: hazard stripes. */
  paintBroken(context, isBroken, top, height) {
    const half = (this.x(1) - this.x(0)) / 2;
    context.fillStyle = hazard(context);
    for (const [start, stop] of runs(this.length, isBroken)) {
      const from = Math.max(this.edge.left, this.x(start) - half);
      const to = Math.min(this.width - this.edge.right, this.x(stop) + half);
      context.fillRect(from, top, to - from, height);
    }
  }
}

/** The nearest of 1, 2, 5, 10, 20, ... from above. */
function roundStep(least) {
  const size = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((k) => k * size).find((step) => step >= least * 0.999);
}

/** Stretches [first, last] of steps at which a condition holds. */
function runs(length, holds) {
  const found = [];
  for (let step = 0; step < length; step += 1) {
    if (!holds(step)) continue;
    if (found.length && found.at(-1)[1] === step - 1) found.at(-1)[1] = step;
    else found.push([step, step]);
  }
  return found;
}

function hazard(context) {
  const size = 8;
  const tile = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const brush = tile.getContext("2d");
  brush.fillStyle = themed("--hazard-soft");
  brush.fillRect(0, 0, size, size);
  brush.strokeStyle = themed("--hazard-stripe");
  brush.lineWidth = 1.5;
  brush.beginPath();
  for (const offset of [-size, 0, size]) {
    brush.moveTo(offset - 2, size + 2);
    brush.lineTo(offset + size + 2, -2);
  }
  brush.stroke();
  return context.createPattern(tile, "repeat");
}
