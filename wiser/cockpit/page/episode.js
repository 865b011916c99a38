"use strict";

const WINDOW = 300; // steps on the time axis
const DRAW_EVERY = 250; // milliseconds between two drawings of the charts: they need not keep up with the cars

/** One episode on the page: both lanes now, and their traces as far as the window reaches.

    about: what the server says of an episode. treatments: {name: what it does}. onPress(index of a sensor) when its picture
    is pressed, onTreatment(lane, name) when another treatment is chosen. */
class Episode {
  constructor(about, treatments, { onPress, onTreatment }) {
    this.about = about;
    this.lanes = about.lanes.map((lane) => ({ ...lane, hasView: Boolean(lane.places.view), steps: [] }));
    this.views = this.lanes.map((lane, k) =>
      new LaneView(about.sensors, lane, k, about.measure, onPress, "Break or heal"));
    this.reasons = this.views.map((view) => {
      const why = element("p", { class: "why" });
      view.root.querySelector(".status").after(why);
      return why;
    });
    this.measures = this.views.map((view) => {
      const line = element("span", { class: "measures" });
      view.root.querySelector(".measured").append(line);
      return line;
    });
    this.views.forEach((view, k) => view.root.querySelector(".method").replaceChildren(
      treatmentSelect(treatments, this.lanes[k], (name) => onTreatment(k, name))));
    const { charts, parts } = tracePanel({ ...about, lanes: this.lanes }, { length: WINDOW, onSeek: () => {} });
    const trust = this.lanes.map((lane) =>
      new TrustChart(`trust, ${lane.name}`, about.sensors, lane.steps, WINDOW, () => {}));
    this.charts = [...charts, ...trust];
    const [legend, large, ...small] = parts;
    this.traces = [legend, large, rowOf("charts", trust), ...small];
    this.inSight = new Set();
    const sight = new IntersectionObserver((seen) => this.#look(seen));
    for (const { root } of this.charts) sight.observe(root);
    if (!this.lanes.some((lane) => lane.hasView)) for (const view of this.views) view.enlarge(0);
    this.clear();
  }

  /** Whether another episode can be shown in the same places. */
  fits(about) {
    const form = ({ lanes, sensors, scores, bands, measure }) => JSON.stringify([lanes, sensors, scores, bands, measure]);
    return form(about) === form(this.about);
  }

  /** Show another episode that fits. */
  restart(about) {
    this.about = about;
    this.clear();
  }

  clear() {
    for (const lane of this.lanes) lane.steps.length = 0;
    this.first = this.end = 0; // of the window, and one after its last step
  }

  /** Add steps from number `first` on, each with the facts of every lane; the picture is that of the last. */
  add(first, steps, image) {
    if (first !== this.end) this.clear();
    if (!this.end) this.first = first;
    for (const facts of steps) {
      this.lanes.forEach((lane, k) => facts[k] && lane.steps.push(facts[k]));
    }
    this.end = first + steps.length;
    while (this.end - this.first > WINDOW) {
      for (const lane of this.lanes) lane.steps.shift();
      this.first += 1;
    }
    this.image?.close();
    this.image = image;
  }

  /** Draw where the cars are now. faults: {sensor: what is switched on}, which may not have shown yet. */
  show(faults) {
    this.lanes.forEach((lane, k) => {
      const step = lane.steps.at(-1);
      if (!step || !this.image) return;
      this.views[k].show(this.#withPictures(step, lane, faults));
      this.views[k].root.classList.toggle("over", Boolean(step.outcome));
      this.measures[k].replaceChildren(...measureTexts(step).map((text) => element("span", {}, text)));
      this.reasons[k].textContent = this.reasons[k].title = reasonText(step, this.about.sensors);
    });
    this.drawing ??= setTimeout(() => this.draw(), DRAW_EVERY);
  }

  /** Draw the charts on the screen; the others when they come into sight. */
  draw() {
    clearTimeout(this.drawing);
    this.drawing = null;
    for (const chart of this.charts.filter(({ root }) => this.inSight.has(root))) {
      chart.first = this.first;
      chart.step = this.end - this.first - 1;
      chart.draw();
    }
  }

  #look(seen) {
    for (const { target, isIntersecting } of seen) this.inSight[isIntersecting ? "add" : "delete"](target);
    this.draw();
  }

  #withPictures(step, { places, steps }, faults) {
    const cut = (place) => place && { image: this.image, x: place[0], y: place[1], width: place[2], height: place[3] };
    const sensors = step.sensors.map((sensor, k) => ({
      ...sensor,
      fault: sensor.fault || (faults[this.about.sensors[k].name] && !step.outcome ? "next step" : ""),
      reading: sensor.present ? cut(places.readings[k]) ?? sensor.reading : null,
      prediction: cut(places.predictions[k]) ?? sensor.prediction ?? null,
    }));
    const outcome = step.outcome && `${step.outcome} at step ${this.first + steps.length - 1}`;
    return { ...step, view: cut(places.view), sensors, outcome };
  }
}

/** lane.meaning: what the chosen method, such as auto, has come to. */
function treatmentSelect(treatments, lane, onChange) {
  const named = (name) => name === lane.method && name !== lane.meaning ? `${name}: ${lane.meaning}` : name;
  const label = `Treatment on the ${lane.name} side`;
  const select = element("select", { "aria-label": label, title: treatments[lane.method] ?? "" },
    ...Object.entries(treatments).map(([name, about]) => element("option", { value: name, title: about }, named(name))));
  select.value = lane.method;
  select.addEventListener("change", () => onChange(select.value));
  return select;
}

/** What has added up besides the score, such as "cost 3". */
function measureTexts({ measures }) {
  return Object.entries(measures).map(([name, value]) => `${name} ${Number.isInteger(value) ? value : short(value)}`);
}

/** Why sensors are not trusted: each reason once, and first, for names are what can be cut. */
function reasonText(step, sensors) {
  const why = new Map();
  step.sensors.forEach(({ state, reason }, k) => {
    if (state !== "trusted") why.set(reason, [...(why.get(reason) ?? []), spoken(sensors[k].name)]);
  });
  return [...why].map(([reason, names]) => `${reason}: ${names.join(", ")}`).join("; ");
}
