"use strict";
// Surfaces that can be turned. Those of one figure turn together: drag one, or focus it and use the arrow keys.

const HALF = 0.5, TALL = 0.34, STEP = 5, SWAY = 12, PERIOD = 9000;
const radians = (degrees) => degrees * Math.PI / 180;
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Screen position of a point of the unit box, and how far away it is, seen from `view`. */
function project([u, v, w], view) {
  const a = radians(view.azimuth), e = radians(view.elevation);
  const right = u * Math.cos(a) - v * Math.sin(a), away = u * Math.sin(a) + v * Math.cos(a);
  return { x: right, y: -(w * Math.cos(e) + away * Math.sin(e)), away };
}

/** Colour of a share between 0 and 1. */
function shade(shades, share) {
  const place = Math.min(Math.max(share, 0), 1) * (shades.length - 1), low = Math.min(Math.floor(place), shades.length - 2);
  const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16), rest = place - low;
  const mixed = [0, 1, 2].map((i) => Math.round(part(shades[low], i) * (1 - rest) + part(shades[low + 1], i) * rest));
  return `rgb(${mixed})`;
}

/** Where a value lies on an axis of the box, from -half to half. */
const along = (value, [low, high], half) => half * (2 * (value - low) / (high - low) - 1);
const ends = (values) => [values[0], values[values.length - 1]];

class Drawing {
  constructor(canvas, surface, scale, view) {
    Object.assign(this, { canvas, surface, scale, view, pen: canvas.getContext("2d") });
  }

  draw() {
    const { canvas, pen } = this, density = devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas;
    if (!width) return;
    canvas.width = width * density;
    canvas.height = height * density;
    pen.setTransform(density, 0, 0, density, 0, 0);
    this.ink = getComputedStyle(canvas).color;
    this.place = (point) => {
      const seen = project(point, this.view), size = Math.min(width * 0.56, height * 0.72);
      return { x: width / 2 + 10 + seen.x * size, y: height * 0.48 + seen.y * size, away: seen.away };
    };
    // The walls behind the surface depend on where it is seen from.
    const azimuth = radians(this.view.azimuth);
    this.back = { u: HALF * (Math.sign(Math.sin(azimuth)) || 1), v: HALF * (Math.sign(Math.cos(azimuth)) || 1) };
    this.walls();
    this.quads();
    this.labels();
  }

  height(value) {
    return along(value, [this.scale.low, this.scale.high], TALL);
  }

  path(points, closed = false) {
    this.pen.beginPath();
    points.map(this.place).forEach(({ x, y }) => this.pen.lineTo(x, y));
    if (closed) this.pen.closePath();
  }

  walls() {
    const { pen, back: { u, v } } = this;
    pen.strokeStyle = this.ink;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.25;
    const floor = [[-HALF, -HALF], [HALF, -HALF], [HALF, HALF], [-HALF, HALF]];
    this.path(floor.map(([x, y]) => [x, y, -TALL]), true);
    pen.stroke();
    for (const height of [-TALL, TALL, ...this.scale.ticks.map((tick) => this.height(tick))]) {
      this.path([[u, -v, height], [u, v, height], [-u, v, height]]);
      pen.stroke();
    }
    for (const [x, y] of [[u, -v], [u, v], [-u, v]]) {
      this.path([[x, y, -TALL], [x, y, TALL]]);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  quads() {
    const { pen, surface: { x, y, z }, scale } = this, found = [];
    const point = (i, j) => [along(x[i], ends(x), HALF), along(y[j], ends(y), HALF), this.height(z[i][j])];
    for (let i = 0; i + 1 < x.length; i++) {
      for (let j = 0; j + 1 < y.length; j++) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], heights = corners.map(([a, b]) => z[a][b]);
        if (heights.includes(null)) continue;
        const points = corners.map(([a, b]) => point(a, b)), mean = heights.reduce((sum, h) => sum + h) / 4;
        const away = points.reduce((sum, p) => sum + this.place(p).away, 0);
        found.push({ points, away, share: (mean - scale.low) / (scale.high - scale.low) });
      }
    }
    pen.lineWidth = 0.7;
    for (const { points, share } of found.sort((a, b) => b.away - a.away)) {
      this.path(points, true);
      pen.fillStyle = shade(scale.shades, share);
      pen.fill();
      pen.globalAlpha = 0.55;
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  labels() {
    const { surface: { x, y }, scale, back: { u, v } } = this, below = -TALL - 0.02;
    this.pen.font = `${Math.max(9, Math.min(12, this.canvas.clientWidth / 28))}px ${getComputedStyle(this.canvas).fontFamily}`;
    this.pen.fillStyle = this.ink;
    this.axis("intensity", ends(x), (t) => [along(t, [0, 1], HALF), -v, below], [0, -v]);
    this.axis("proportion", ends(y), (t) => [-u, along(t, [0, 1], HALF), below], [-u, 0]);
    const left = [[u, -v], [-u, v]].sort((a, b) => this.place([...a, 0]).x - this.place([...b, 0]).x)[0];
    for (const tick of scale.ticks) {
      const at = this.place([...left, this.height(tick)]);
      this.text(String(tick).replace("-", "−"), at.x - 5, at.y, "right");
    }
  }

  /** Name and both ends of an axis along a front edge of the floor, pushed out of the box. */
  axis(name, [low, high], edge, outwards) {
    const out = this.place([...outwards.map((side) => side * 1.3), -TALL]), middle = this.place([...outwards, -TALL]);
    const push = { x: out.x - middle.x, y: out.y - middle.y }, align = push.x < 0 ? "right" : "left";
    for (const [t, text, far] of [[0.08, low, 0.5], [0.5, name, 1], [0.92, high, 0.5]]) {
      const at = this.place(edge(t));
      this.text(text, at.x + push.x * far * 0.6, at.y + push.y * far * 0.6 + 7, align);
    }
  }

  /** Beside x, but never beyond the edge of the picture. */
  text(value, x, y, align) {
    Object.assign(this.pen, { textAlign: "left", textBaseline: "middle" });
    const { width } = this.pen.measureText(value), left = align === "right" ? x - width : x;
    this.pen.fillText(value, Math.max(1, Math.min(left, this.canvas.clientWidth - width - 1)), y);
  }
}

class Turntable {
  constructor(host) {
    this.scale = JSON.parse(host.querySelector("script").textContent);
    this.rest = { azimuth: 220, elevation: 26 };
    this.view = { ...this.rest };
    host.style.setProperty("--columns", this.scale.columns);
    this.drawings = this.scale.surfaces.map((surface) => this.add(host, surface));
    host.insertAdjacentHTML("beforeend", '<p class="hint">Drag a surface, or focus it and use the arrow keys, to turn all of them.</p>');
    host.parentElement.classList.add("turned");
    new ResizeObserver(() => this.draw()).observe(host);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new IntersectionObserver(([entry]) => { this.visible = entry.isIntersecting; if (this.visible) this.sway(); }).observe(host);
  }

  add(host, surface) {
    const figure = host.appendChild(document.createElement("figure"));
    const canvas = figure.appendChild(document.createElement("canvas"));
    figure.appendChild(document.createElement("figcaption")).textContent = surface.title;
    const heights = surface.z.flat().filter((height) => height !== null).map(Math.round);
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${surface.title}: scores from ${Math.min(...heights)} to ${Math.max(...heights)}`);
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) this.turn(-event.movementX * 0.6, event.movementY * 0.4);
    });
    const keys = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };
    canvas.addEventListener("keydown", (event) => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      this.turn(...keys[event.key]);
    });
    return new Drawing(canvas, surface, this.scale, this.view);
  }

  turn(azimuth, elevation) {
    this.held = true;
    this.view.azimuth += azimuth;
    this.view.elevation = Math.min(85, Math.max(5, this.view.elevation + elevation));
    this.draw();
  }

  /** Sway gently while in sight, until somebody takes hold. */
  sway() {
    if (this.held || !this.visible || still.matches) return;
    this.view.azimuth = this.rest.azimuth + SWAY * Math.sin(2 * Math.PI * performance.now() / PERIOD);
    this.draw();
    requestAnimationFrame(() => this.sway());
  }

  draw() {
    this.drawings.forEach((drawing) => drawing.draw());
  }
}

document.querySelectorAll(".turntable").forEach((host) => new Turntable(host));
