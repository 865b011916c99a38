"use strict";

/* One lane: what its agent sees and whom it trusts, at one step. A replay and a live page feed it the same object:

   step = {
     view:     picture or null            a picture of the world for people
     sensors:  one per sensor {
       state:      "trusted" | "masked" | "unhealthy"
       level:      "OK" | "WARN" | "ERROR" | "STALE": what the guard finds, whether or not it trusts the sensor
       late:       seconds by which the guard found it to be late, or 0
       reason:     what is wrong with it, or ""
       fault:      what really breaks it, or ""
       stale:      steps for which it has repeated itself while the world moved on, if known
       reading:    picture, numbers, or null if there is none
       prediction: picture, numbers, or null: what the model believes it shows
     }
     mode:     "grounded" | "denoised" | "predictive" | "fallback"
     blind:    steps without a trusted sensor
     reset:    whether the context was reset
     surprise: nats, or null
     scores:   {name: number or one number per sensor}
     measure:  the running score
     measures: {title: number}            what else adds up, on a live page
     outcome:  how the episode ended, or ""
   }
   picture = {image, x, y, width, height}  a rectangle of anything a canvas can draw
*/

const LARGE = 128; // pictures from this width on are photographs, not pixels to be counted
const STALE_FROM = 5; // steps from which on it is worth a mark
const LIGHTS = { OK: "trusted", WARN: "masked", ERROR: "unhealthy", STALE: "stale" }; // how a level looks

class LaneView {
  /** lane: {name, method, hasView}; index decides the look of its line; a click on a sensor calls onPress(its index),
      and `invitation` says what that does. */
  constructor(sensors, lane, index, measure, onPress, invitation = "Show large") {
    this.tiles = sensors.map((sensor, k) => new Tile(sensor, () => onPress(k), invitation));
    this.mode = element("span", { class: "mode" });
    this.measure = element("output", { class: "measure", title: measure });
    this.note = element("p", { class: "note" });
    this.view = lane.hasView ? element("canvas", { class: "view", role: "img", "aria-label": "view of the world" }) : null;
    this.root = element("article", { class: "lane", "aria-label": lane.name },
      element("div", { class: "head" },
        element("h2", {}, lineSample(index), lane.name),
        element("p", { class: "measured" }, this.measure, ` ${measure}`)),
      element("div", { class: "status" }, this.mode, element("span", { class: "method" }, lane.method && `method ${lane.method}`), this.note),
      ...(this.view ? [this.view] : []),
      element("div", { class: "tiles" }, ...this.tiles.map((tile) => tile.root)));
  }

  show(step) {
    if (this.view) paintPicture(this.view, step.view);
    step.sensors.forEach((sensor, k) => this.tiles[k].show(sensor));
    this.mode.dataset.mode = step.mode;
    this.mode.textContent = modeText(step);
    this.measure.textContent = step.measure === null ? "–" : step.measure.toFixed(Math.abs(step.measure) < 10 ? 2 : 0);
    this.note.textContent = step.outcome;
  }

  /** Show one sensor large; null for none. */
  enlarge(index) {
    this.tiles.forEach((tile, k) => tile.root.classList.toggle("main", k === index));
  }
}

class Tile {
  constructor(sensor, onPress, invitation) {
    Object.assign(this, { sensor, invitation });
    const { width, height } = sensor;
    this.reading = element("canvas", { class: "reading", "aria-hidden": "true", width, height });
    this.prediction = element("canvas", { class: "prediction", "aria-hidden": "true", width, height });
    this.fault = element("span", { class: "fault" });
    this.level = element("b");
    this.detail = element("span", { class: "detail" });
    this.light = element("span", { class: "light" }, element("i"),
      element("span", { class: "word" }, this.level, " ", this.detail));
    this.button = element("button", { type: "button", class: "pictures" }, this.reading, this.prediction);
    this.button.addEventListener("click", onPress);
    this.root = element("figure", { class: "tile", "data-sensor": sensor.name },
      this.button, this.fault,
      element("figcaption", {},
        element("span", { class: "name", title: sensor.name }, spoken(sensor.name)), this.light));
  }

  show(sensor) {
    const { state, fault, reading, prediction } = sensor;
    const level = shownLevel(sensor);
    this.root.dataset.state = state;
    this.light.dataset.state = LIGHTS[level];
    this.level.textContent = level;
    this.detail.textContent = shortly(level, sensor);
    this.light.title = describeLight(level, sensor);
    this.fault.textContent = fault;
    this.fault.hidden = !fault;
    const truth = fault ? `; really broken by ${fault}` : "";
    this.button.setAttribute("aria-label", `${spoken(this.sensor.name)}: ${this.light.title}${truth}. ${this.invitation}`);
    this.root.classList.toggle("absent", reading === null);
    paint(this.reading, reading, this.sensor);
    paint(this.prediction, prediction, this.sensor);
  }
}

/** The guard's diagnosis; a sensor that repeats itself while the world moves on is stale, whoever noticed. */
function shownLevel({ state, level, stale }) {
  return stale >= STALE_FROM && state !== "unhealthy" ? "STALE" : level;
}

/** What is worth saying beside a light. */
function shortly(level, { state, reason, late, stale }) {
  if (late > 0) return `${late.toFixed(1)} s late`;
  if (level === "STALE" && stale >= STALE_FROM) return `${stale} steps`;
  if (level === "OK") return "";
  return { trusted: "still used", masked: "masked", unhealthy: reason }[state];
}

/** What a light says, in full. */
function describeLight(level, { state, reason, late, stale }) {
  const behind = late > 0 ? `, ${late.toFixed(1)} seconds late` : "";
  const still = level === "STALE" && stale >= STALE_FROM ? `, the same for ${stale} steps while the world moved on` : "";
  return `${level}: ${state}${reason ? `, ${reason}` : ""}${behind}${still}`;
}

function modeText({ mode, blind, reset }) {
  const since = blind > 1 ? `, ${blind} steps blind` : "";
  return mode + since + (reset ? ", context reset" : "");
}

/** The beginning of a lane's line, as it is drawn in the traces. */
function lineSample(index) {
  return element("i", { class: "line", "data-line": String(index % LINES.length), "aria-hidden": "true" });
}

/** Draw what a sensor says: a picture, or bars for numbers. The canvas has as many pixels as there are to show. */
function paint(canvas, reading, sensor) {
  if (Array.isArray(reading)) paintBars(canvas, reading, sensor);
  else paintPicture(canvas, reading);
}

function paintPicture(canvas, picture) {
  if (picture && !isReady(picture.image)) return; // it is drawn when it has arrived
  const { width, height } = picture ?? { width: canvas.width, height: canvas.height };
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  canvas.classList.toggle("smooth", width > LARGE);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  if (!picture) context.clearRect(0, 0, width, height);
  else context.drawImage(picture.image, picture.x, picture.y, width, height, 0, 0, width, height);
}

function isReady(image) {
  return !(image instanceof HTMLImageElement) || (image.complete && image.naturalWidth > 0);
}

function paintBars(canvas, values, { low, high, width: size }) {
  const gap = 4;
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, size, size);
  const width = Math.floor((size - gap) / values.length);
  context.fillStyle = themed("--lane-2");
  values.forEach((value, k) => {
    if (value === null) return;
    const share = Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
    const height = Math.max(1, Math.round(share * (size - 2 * gap)));
    context.fillRect(gap + k * width, size - gap - height, Math.max(1, width - gap), height);
  });
}
