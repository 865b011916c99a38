"use strict";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const LONGEST_PAUSE = 250; // milliseconds between two drawings that count as time: a hidden page does not play on
const ANNOUNCE_AFTER = 500; // milliseconds of rest before a screen reader is told where we are

/** The page: lanes above, traces below, a time line to move through them. */
class Replay {
  constructor(data) {
    this.recording = unpack(data, () => this.#redrawSoon());
    this.step = 0;
    this.speed = 1;
    this.playing = null;
    this.part = (id) => document.getElementById(id);
    this.#describe();
    this.#buildStrip();
    this.#buildLanes();
    this.#buildTraces();
    this.#buildTransport();
    this.enlarge(this.recording.lanes.some((lane) => lane.hasView) ? null : 0);
    this.seek(0);
  }

  /** Show a step. A lane that is over by then stays at its last one. */
  seek(step) {
    this.step = Math.min(this.recording.length - 1, Math.max(0, Math.round(step)));
    this.recording.lanes.forEach(({ steps }, k) => this.views[k].show(steps[Math.min(this.step, steps.length - 1)]));
    for (const chart of this.charts) chart.show(this.step);
    const seconds = (this.step / this.recording.about.steps_per_second).toFixed(1);
    this.part("time").value = this.step;
    this.part("time").setAttribute("aria-valuetext", `step ${this.step}, ${seconds} seconds`);
    this.part("clock").replaceChildren(
      element("span", {}, "step "), `${this.step} of ${this.recording.length - 1}`, element("span", {}, ` · ${seconds} s`));
    clearTimeout(this.announcing);
    if (!this.playing) this.announcing = setTimeout(() => this.#announce(), ANNOUNCE_AFTER);
  }

  play() {
    if (this.step === this.recording.length - 1) this.seek(0);
    let last = performance.now(), exact = this.step;
    const advance = (now) => {
      exact += (Math.min(now - last, LONGEST_PAUSE) / 1000) * this.recording.about.steps_per_second * this.speed;
      last = now;
      if (Math.floor(exact) !== this.step) this.seek(Math.floor(exact));
      if (this.step === this.recording.length - 1) this.pause();
      else this.playing = requestAnimationFrame(advance);
    };
    this.playing = requestAnimationFrame(advance);
    this.#showPlaying();
  }

  pause() {
    cancelAnimationFrame(this.playing);
    this.playing = null;
    this.#showPlaying();
    this.seek(this.step);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Go somewhere because somebody asked to: playing ends. */
  jump(step) {
    if (this.playing) this.pause();
    this.seek(step);
  }

  /** Play faster (1) or slower (-1). */
  changeSpeed(by) {
    const place = SPEEDS.indexOf(this.speed) + by;
    this.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, place))];
    this.part("speed").value = String(this.speed);
  }

  /** Show one sensor large in all lanes, or none. */
  enlarge(sensor) {
    for (const view of this.views) view.enlarge(sensor);
  }

  showPredictions(on) {
    this.part("predictions").setAttribute("aria-pressed", String(on));
    document.body.classList.toggle("with-predictions", on);
  }

  #describe() {
    const { task, agent, seeds, command } = this.recording.about;
    const named = [["task", task], ["agent", agent], [seeds.length > 1 ? "seeds" : "seed", seeds.join(", ")]];
    this.part("about").textContent = named.filter(([, value]) => value).map((pair) => pair.join(" ")).join(" · ");
    this.part("command").hidden = !command;
    this.part("command").querySelector("code").textContent = command;
  }

  /** Where this episode lies among all that were driven, if that is known. */
  #buildStrip() {
    const { sample, lanes, about } = this.recording;
    if (!sample) return;
    this.strip = new EpisodeStrip(sample, lanes, about.measure);
    this.part("sample").append(...this.strip.parts);
    this.part("sample").hidden = false;
    if (this.strip.choices.length > 1) this.part("hint").append(` ${range(1, this.strip.choices.length).join(", ")} choose an episode.`);
  }

  #buildLanes() {
    const { lanes, sensors, about, length } = this.recording;
    const go = (step) => this.jump(step);
    this.views = lanes.map((lane, k) =>
      new LaneView(sensors, lane, k, about.measure, (sensor) => this.enlarge(sensor)));
    this.charts = lanes.map((lane) => new TrustChart("trust over time", sensors, lane.steps, length, go));
    this.views.forEach((view, k) => view.root.append(this.charts[k].root));
    this.part("lanes").style.setProperty("--lanes", lanes.length);
    this.part("lanes").append(...this.views.map((view) => view.root));
    this.part("lanes").scrollLeft = this.part("lanes").scrollWidth; // where not all fit: the last ones, which are to be compared
  }

  #buildTraces() {
    const { lanes, sensors, about, bands, length } = this.recording;
    const run = { lanes, sensors, bands, measure: about.measure, scores: scoreNames(lanes) };
    const { charts, parts } = tracePanel(run, { length, onSeek: (step) => this.jump(step) });
    this.part("traces").append(...parts);
    this.charts.push(...charts);
  }

  #buildTransport() {
    const { lanes, length } = this.recording;
    this.part("time").max = length - 1;
    this.part("time").addEventListener("input", (event) => this.jump(Number(event.target.value)));
    this.part("play").addEventListener("click", () => this.toggle());
    this.part("back").addEventListener("click", () => this.jump(this.step - 1));
    this.part("forward").addEventListener("click", () => this.jump(this.step + 1));
    this.part("speed").append(...SPEEDS.map((speed) => element("option", { value: speed }, `${speed}×`)));
    this.part("speed").value = "1";
    this.part("speed").addEventListener("change", (event) => { this.speed = Number(event.target.value); });
    const believes = lanes.some(({ steps }) => steps[0].sensors.some((sensor) => sensor.prediction));
    this.part("predictions").hidden = !believes;
    this.part("predictions").addEventListener("click", () => this.#togglePredictions());
    document.addEventListener("keydown", (event) => this.#press(event));
    const redraw = () => this.charts.forEach((chart) => chart.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
    const keys = {
      ArrowLeft: () => this.jump(this.step - 1), ArrowRight: () => this.jump(this.step + 1),
      Home: () => this.jump(0), End: () => this.jump(this.recording.length - 1),
      "+": () => this.changeSpeed(1), "=": () => this.changeSpeed(1), "-": () => this.changeSpeed(-1),
      p: () => this.#togglePredictions(), " ": () => this.toggle(),
    };
    if (/^[1-9]$/.test(event.key)) this.strip?.choose(Number(event.key) - 1);
    const presses = event.key === " " && event.target.closest("button, summary"); // space means that button
    if (!keys[event.key] || presses) return;
    event.preventDefault();
    keys[event.key]();
  }

  #togglePredictions() {
    if (!this.part("predictions").hidden) this.showPredictions(!document.body.classList.contains("with-predictions"));
  }

  #showPlaying() {
    this.part("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.part("transport").classList.toggle("playing", Boolean(this.playing));
  }

  #announce() {
    const told = this.recording.lanes.map((lane) => {
      const step = lane.steps[Math.min(this.step, lane.steps.length - 1)];
      const trusted = step.sensors.filter((sensor) => sensor.state === "trusted").length;
      const trust = `${trusted} of ${step.sensors.length} sensors trusted`;
      return [`${lane.name}: ${modeText(step)}`, trust, `${this.recording.about.measure} ${short(step.measure)}`, step.outcome]
        .filter(Boolean).join(", ");
    });
    this.part("announcer").textContent = `Step ${this.step}. ${told.join(". ")}.`;
  }

  #redrawSoon() {
    this.redrawing ??= requestAnimationFrame(() => {
      this.redrawing = null;
      this.seek(this.step);
    });
  }
}

/** Names of the scores that are measured for every sensor. */
function scoreNames(lanes) {
  const names = lanes.flatMap(({ steps }) => Object.entries(steps[0].scores));
  return [...new Set(names.filter(([, value]) => Array.isArray(value)).map(([name]) => name))];
}

document.addEventListener("DOMContentLoaded", () => {
  window.replay = new Replay(JSON.parse(document.getElementById("recording").textContent));
});
