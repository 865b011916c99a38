"use strict";

const SPEEDS = [[1, "1 step/s"], [2, "2 steps/s"], [5, "half speed"], [10, "real time"], [20, "2×"], [50, "5×"], [0, "fastest"]];

const ROOMY = "(min-width: 641px)"; // screens on which beliefs beside the readings crowd out nothing

/** What one can choose and press, apart from the cars themselves; each becomes an order to the server. */
class Controls {
  /** send takes an order; open = {break(index of a sensor, null for all), share(), help()}; showBeliefs(whether). */
  constructor(send, open, showBeliefs) {
    Object.assign(this, { send, open, showBeliefs, beliefs: false });
    this.part = (id) => document.getElementById(id);
    const pressed = {
      restart: () => this.restart(), play: () => this.toggle(), step: () => send({ do: "step" }), next: () => this.next(),
      surprise: () => send({ do: "surprise" }), "break-all": () => open.break(null), "heal-all": () => send({ do: "heal", sensor: null }),
      predictions: () => this.toggleBeliefs(), share: () => open.share(), help: () => open.help(),
    };
    for (const [id, act] of Object.entries(pressed)) this.part(id).addEventListener("click", act);
    this.part("speed").append(...SPEEDS.map(([speed, name]) => element("option", { value: speed }, name)));
    this.part("speed").addEventListener("change", (event) => send({ do: "speed", speed: Number(event.target.value) }));
    for (const id of ["env", "agent"]) {
      this.part(id).addEventListener("change", (event) => send({ do: "choose", [id]: event.target.value }));
    }
    this.part("seed").addEventListener("change", (event) => send({ do: "choose", seed: Math.max(0, Math.floor(Number(event.target.value))) }));
    this.part("seed").addEventListener("keydown", ({ key, target }) => key === "Enter" && target.blur());
    document.addEventListener("change", ({ target }) => { // chosen with a pointer: the keys mean the cars again
      if (!target.matches(":focus-visible")) target.blur();
    });
    document.addEventListener("keydown", (event) => this.#press(event));
    if (matchMedia(ROOMY).matches) this.toggleBeliefs();
  }

  offer({ envs, agents }) {
    this.agents = agents;
    this.part("env").replaceChildren(...Object.entries(envs).map(([id, name]) => element("option", { value: id }, name)));
  }

  /** Show what is driven. Agents are grouped by whether they were trained for it. */
  showChoice({ env, agent, seed }) {
    const group = (label, names) => names.length
      ? [element("optgroup", { label }, ...names.map((name) => element("option", { value: name }, name)))] : [];
    const names = Object.keys(this.agents);
    this.part("agent").replaceChildren(
      ...group("trained for this task", names.filter((name) => this.agents[name] === env)),
      ...group("trained for something else", names.filter((name) => this.agents[name] !== env)));
    Object.assign(this.part("env"), { value: env });
    Object.assign(this.part("agent"), { value: agent });
    Object.assign(this.part("seed"), { value: seed });
    this.seed = seed;
  }

  showState({ paused, speed, over, told, faults }) {
    Object.assign(this, { paused, speed });
    const nearest = SPEEDS.find(([value]) => value === speed) ?? [speed, `${speed} steps/s`];
    if (!SPEEDS.includes(nearest)) this.part("speed").append(element("option", { value: speed }, nearest[1]));
    this.part("speed").value = String(speed);
    this.part("play").setAttribute("aria-label", paused ? "Go on" : "Pause");
    this.part("transport").classList.toggle("playing", !paused);
    this.part("transport").classList.toggle("over", over);
    this.part("play").disabled = this.part("step").disabled = over;
    this.part("heal-all").disabled = !Object.keys(faults).length;
    this.tell(over ? "Both episodes are over: restart (r), or the next one (n)." : told);
  }

  tell(text, wrong = false) {
    this.part("told").textContent = this.part("told").title = text;
    this.part("told").classList.toggle("wrong", wrong);
  }

  restart() {
    this.send({ do: "restart" });
  }

  /** The next episode of the same choice: the next seed. */
  next() {
    this.send({ do: "choose", seed: this.seed + 1 });
  }

  toggle() {
    this.send({ do: "pause", paused: !this.paused });
  }

  toggleBeliefs() {
    this.beliefs = !this.beliefs;
    this.part("predictions").setAttribute("aria-pressed", String(this.beliefs));
    this.showBeliefs(this.beliefs);
  }

  changeSpeed(by) {
    const place = SPEEDS.findIndex(([speed]) => speed === this.speed) + by;
    this.send({ do: "speed", speed: SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, place))][0] });
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, dialog")) return;
    const keys = {
      " ": () => this.toggle(), ArrowRight: () => this.send({ do: "step" }), r: () => this.restart(),
      n: () => this.next(),
      "+": () => this.changeSpeed(1), "=": () => this.changeSpeed(1), "-": () => this.changeSpeed(-1),
      h: () => this.send({ do: "heal", sensor: null }), s: () => this.send({ do: "surprise" }),
      p: () => this.toggleBeliefs(), d: () => this.open.share(), "?": () => this.open.help(), 0: () => this.open.break(null),
    };
    const presses = event.key === " " && event.target.closest("button"); // space means that button
    const act = /^[1-9]$/.test(event.key) ? () => this.open.break(Number(event.key) - 1) : keys[event.key];
    if (!act || presses) return;
    event.preventDefault();
    act();
  }
}
