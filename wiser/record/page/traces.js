"use strict";

/* Traces over time. They read the steps of a lane (see lane.js) as far as there are any, so that a live page can draw
   again while they grow. */

const STRIP = 18; // height of one sensor in the trust chart
const LOG_FROM = 100; // largest / smallest value from which on a logarithmic axis helps

/** Which sensors one lane trusts, a strip for each. */
class TrustChart extends TimeChart {
  constructor(title, sensors, steps, length, onSeek) {
    super(title, sensors.length * STRIP + 26, length, onSeek);
    Object.assign(this, { sensors, steps });
  }

  draw() {
    this.edge = { ...EDGE, left: Math.min(108, this.plot.clientWidth / 2), top: 4 }; // names leave room for the strips
    super.draw();
  }

  paint(context) {
    const colours = { trusted: themed("--trusted"), masked: themed("--masked"), unhealthy: themed("--unhealthy") };
    const heights = { trusted: 8, masked: 2, unhealthy: 5 };
    this.sensors.forEach((sensor, k) => {
      const middle = this.edge.top + STRIP * (k + 0.5);
      context.fillStyle = themed("--ink");
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillText(fitted(context, spoken(sensor.name), this.edge.left - 8), 0, middle);
      this.paintBroken(context, (t) => Boolean(this.steps[t]?.sensors[k].fault), middle - STRIP / 2 + 1, STRIP - 2);
      for (const [state, colour] of Object.entries(colours)) {
        context.fillStyle = colour;
        for (const [start, stop] of runs(this.steps.length, (t) => this.steps[t].sensors[k].state === state)) {
          const half = Math.max(0.5, (this.x(1) - this.x(0)) / 2);
          const from = Math.max(this.edge.left, this.x(start) - half);
          context.fillRect(from, middle - heights[state] / 2, this.x(stop) + half - from, heights[state]);
        }
      }
    });
    this.paintSteps(context);
  }
}

/** Lines of several lanes: valueOf(step object) is a number or null.

    isBroken(step): where to mark the truth. band: [low, high] of clean input. log: whether the axis may be
    logarithmic. alike: the valueOf of all charts that are to have the same axis. */
class LineChart extends TimeChart {
  constructor(title, height, lanes, valueOf, { length, onSeek, isBroken, band = null, log = false, alike = [valueOf] }) {
    super(title, height, length, onSeek);
    Object.assign(this, { lanes, valueOf, band, isBroken, log, alike });
    this.numbers = lanes.map((lane, k) => element("span", { class: "number", "data-line": String(k % LINES.length) }));
    this.readout.append(...this.numbers);
  }

  show(step) {
    super.show(step);
    this.lanes.forEach((lane, k) => {
      const at = lane.steps[Math.min(step, lane.steps.length - 1)];
      this.numbers[k].textContent = at ? short(this.valueOf(at)) : "";
    });
  }

  paint(context) {
    const series = this.lanes.map((lane) => lane.steps.map(this.valueOf));
    const all = this.alike.flatMap((valueOf) => this.lanes.flatMap((lane) => lane.steps.map(valueOf)));
    const scale = chooseScale([...all, ...(this.band ?? [])], this.log, this.edge.top, this.height - this.edge.bottom);
    const inside = [this.edge.left, this.edge.top, this.width - this.edge.left - this.edge.right];
    this.paintBroken(context, this.isBroken, this.edge.top, this.height - this.edge.top - this.edge.bottom);
    if (this.band) this.#paintBand(context, scale, inside);
    this.#paintValues(context, scale);
    this.paintSteps(context);
    series.forEach((values, k) => {
      this.numbers[k].hidden = values.every((value) => value === null); // a score that this lane never measures
      this.#paintLine(context, values, scale, lineOf(k));
    });
    context.setLineDash([]);
  }

  #paintBand(context, scale, [left, , width]) {
    const [low, high] = this.band.map((value) => scale.y(value));
    context.fillStyle = themed("--band");
    context.fillRect(left, high, width, Math.max(1, low - high));
    context.fillStyle = themed("--trusted");
    context.fillRect(left, high, width, 1);
  }

  #paintValues(context, scale) {
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of scale.ticks) {
      const y = Math.round(scale.y(tick));
      context.fillStyle = themed("--line");
      context.fillRect(this.edge.left, y, this.width - this.edge.left - this.edge.right, 1);
      context.fillStyle = themed("--dim");
      context.fillText(String(Number(tick.toPrecision(3))), this.edge.left - 6, y);
    }
  }

  #paintLine(context, values, scale, { colour, dash }) {
    context.strokeStyle = themed(colour);
    context.lineWidth = 1.6;
    context.setLineDash(dash);
    context.beginPath();
    let down = false;
    values.forEach((value, step) => {
      if (value === null || value === undefined) down = false;
      else {
        context[down ? "lineTo" : "moveTo"](this.x(step), scale.y(value));
        down = true;
      }
    });
    context.stroke();
  }
}

/** Where values lie between bottom and top, linear or logarithmic, and which of them to name. */
function chooseScale(values, mayBeLog, top, bottom) {
  const known = values.filter((value) => value !== null && value !== undefined);
  const positive = known.filter((value) => value > 0).sort((a, b) => a - b);
  let low = Math.min(0, ...known), high = Math.max(...known, low + (known.length ? 1e-9 : 1));
  const typical = positive[Math.floor(positive.length * 0.02)];
  if (!mayBeLog || low < 0 || !positive.length || high / typical < LOG_FROM) {
    high += 0.05 * (high - low);
    const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
    const apart = roundStep((high - low) / 3);
    return { y, ticks: range(Math.ceil(low / apart), Math.floor(high / apart)).map((k) => k * apart) };
  }
  [low, high] = [Math.log10(typical), Math.log10(high)];
  const y = (value) => bottom - ((Math.max(low, Math.log10(Math.max(value, 1e-12))) - low) / (high - low)) * (bottom - top);
  const apart = Math.max(1, Math.round((high - low) / 4));
  return { y, ticks: range(Math.ceil(low), Math.floor(high)).filter((k) => k % apart === 0).map((k) => 10 ** k) };
}

function range(first, last) {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => first + k);
}

/** Text cut so that it fits. */
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let kept = text.length - 1;
  while (kept > 1 && context.measureText(`${text.slice(0, kept)}…`).width > width) kept -= 1;
  return `${text.slice(0, kept)}…`;
}
