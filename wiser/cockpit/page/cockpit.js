"use strict";

const ANNOUNCE_EVERY = 1000; // milliseconds: a screen reader needs time to speak

/** The page. What arrives from the server is shown; what is pressed becomes an order. */
class Cockpit {
  constructor() {
    this.part = (id) => document.getElementById(id);
    this.faults = {};
    this.heard = [];
    this.live = new Live(this);
    const send = (order) => this.live.send(order);
    this.breakMenu = new BreakMenu(send);
    this.shareMenu = new ShareMenu();
    const help = new Menu("help-menu");
    this.controls = new Controls(send,
      { break: (k) => this.askHowToBreak(k), share: () => this.shareMenu.open(), help: () => help.open() },
      (on) => document.body.classList.toggle("with-predictions", on));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.episode?.draw());
  }

  linked(whether) {
    this.part("link").dataset.link = whether ? "live" : "lost";
    this.part("link").textContent = whether ? "live" : "no connection, trying again";
    document.body.classList.toggle("lost", !whether);
  }

  hear(message) {
    const takers = {
      catalogue: () => this.#offer(message), episode: () => this.#begin(message),
      state: () => this.#take(message), error: () => this.#complain(message.text),
    };
    takers[message.kind]();
  }

  see({ first, steps }, image) {
    this.episode.add(first, steps, image);
    this.#show();
    this.#listen();
  }

  /** Open the menu of a sensor; null for all of them. */
  askHowToBreak(index) {
    const sensors = this.episode?.about.sensors ?? [];
    const asked = index === null ? sensors : sensors.slice(index, index + 1);
    if (!asked.length) return;
    const able = Object.entries(this.catalogue.faults).filter(([name]) => asked.some(({ faults }) => faults.includes(name)));
    const name = index === null ? null : asked[0].name;
    this.breakMenu.ask(name, Object.fromEntries(able), this.faults[name] ?? null);
  }

  #offer(catalogue) {
    this.catalogue = catalogue;
    this.controls.offer(catalogue);
    this.shareMenu.offer(catalogue.forms);
  }

  #begin(about) {
    this.controls.showChoice(about.choice);
    this.modes = [];
    if (this.episode?.fits(about)) {
      this.episode.restart(about);
      return;
    }
    const send = (order) => this.live.send(order);
    this.episode = new Episode(about, this.catalogue.treatments, {
      onPress: (k) => this.askHowToBreak(k),
      onTreatment: (k, name) => send({ do: "choose", [["left", "right"][k]]: name }),
    });
    this.part("lanes").replaceChildren(...this.episode.views.map((view) => view.root));
    this.part("traces").replaceChildren(...this.episode.traces);
  }

  #take(state) {
    this.faults = state.faults;
    this.controls.showState(state);
    this.#show();
  }

  #complain(text) {
    this.controls.tell(text, true);
    this.controls.showChoice(this.episode.about.choice);
  }

  #show() {
    if (!this.episode?.end) return;
    this.episode.show(this.faults);
    const step = this.episode.end - 1;
    this.part("clock").replaceChildren(
      element("span", {}, "step "), String(step), element("span", {}, ` · ${(step / this.episode.about.stepsPerSecond).toFixed(1)} s`));
  }

  /** Tell a screen reader when the mode of a lane changes, and how it ended. */
  #listen() {
    this.episode.lanes.forEach(({ name, steps }, k) => {
      const step = steps.at(-1);
      const mode = step?.outcome || step?.mode;
      if (!mode || this.modes[k] === mode) return;
      this.modes[k] = mode;
      this.heard.push(`${[`${name}: ${mode}`, `score ${short(step.measure)}`, ...measureTexts(step)].join(", ")}.`);
    });
    if (this.heard.length) {
      this.announcing ??= setTimeout(() => {
        this.part("announcer").textContent = this.heard.splice(0).slice(-4).join(" ");
        this.announcing = null;
      }, ANNOUNCE_EVERY);
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  window.cockpit = new Cockpit();
});
