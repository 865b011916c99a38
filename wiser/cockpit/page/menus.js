"use strict";

const FORMS = {
  html: "a page that replays it: one file, no server",
  mp4: "a film",
  gif: "a small film that moves in issues and slides",
  npz: "the recording itself, for Python",
  rrd: "for the Rerun viewer",
};

/** A dialog that closes with its cross, Escape, or a click beside it. */
class Menu {
  constructor(id) {
    this.root = document.getElementById(id);
    this.root.querySelector(".close").addEventListener("click", () => this.root.close());
    this.root.addEventListener("click", (event) => event.target === this.root && this.root.close());
  }

  open() {
    if (!document.querySelector("dialog[open]")) this.root.showModal();
  }
}

/** How to break or heal one sensor, or all of them. */
class BreakMenu extends Menu {
  /** send: takes an order. */
  constructor(send) {
    super("break-menu");
    this.send = send;
    this.part = (id) => document.getElementById(id);
    this.part("intensity").addEventListener("input", () => this.#showIntensity());
    this.part("intensity").addEventListener("change", () => this.fault && this.#break(this.fault)); // it is broken: more, or less
    this.part("faults").addEventListener("keydown", (event) => this.#move(event));
    this.part("heal").addEventListener("click", () => {
      this.send({ do: "heal", sensor: this.sensor });
      this.root.close();
    });
  }

  /** sensor: its name, null for all. faults: {name: description} that can break it. now: [fault, intensity] or null. */
  ask(sensor, faults, now) {
    Object.assign(this, { sensor, fault: now?.[0] ?? null });
    this.part("break-title").textContent = sensor ? spoken(sensor) : "all sensors";
    this.part("break-now").textContent = now ? `Broken by ${now[0]}, on both sides.` : "Break it on both sides:";
    this.part("heal").disabled = Boolean(sensor) && !now;
    if (now) this.part("intensity").value = now[1];
    this.#showIntensity();
    this.part("faults").replaceChildren(...Object.entries(faults).map(([name, about]) => this.#button(name, about)));
    this.part("fault-about").textContent = "";
    this.open();
    (this.part("faults").querySelector("[aria-pressed=true]") ?? this.part("faults").firstElementChild)?.focus();
  }

  #button(name, about) {
    const made = element("button", { type: "button", "aria-label": `${name}: ${about}`, "aria-pressed": String(name === this.fault) }, name);
    const describe = () => { this.part("fault-about").textContent = about; };
    made.addEventListener("focus", describe);
    made.addEventListener("pointerenter", describe);
    made.addEventListener("click", () => {
      this.#break(name);
      this.root.close();
    });
    return made;
  }

  #break(fault) {
    this.send({ do: "break", sensor: this.sensor, fault, intensity: Number(this.part("intensity").value) });
  }

  #showIntensity() {
    this.part("intensity-value").textContent = this.part("intensity").value;
  }

  /** Arrows walk through the faults. */
  #move(event) {
    const all = [...this.part("faults").children];
    const columns = all.filter((one) => one.offsetTop === all[0].offsetTop).length;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    const next = by && all[all.indexOf(document.activeElement) + by];
    if (!by) return;
    event.preventDefault();
    next?.focus();
  }
}

/** The episode so far as a file. */
class ShareMenu extends Menu {
  constructor() {
    super("share-menu");
    this.status = document.getElementById("share-status");
  }

  offer(forms) {
    document.getElementById("forms").replaceChildren(...forms.map((form) => {
      const button = element("button", { type: "button", "data-form": form }, element("b", {}, form.toUpperCase()), ` ${FORMS[form] ?? ""}`);
      button.addEventListener("click", () => this.#save(form));
      return button;
    }));
  }

  async #save(form) {
    this.status.textContent = `Writing the ${form.toUpperCase()} file; the cars drive on meanwhile.`;
    try {
      const answer = await fetch(`/episode.${form}`);
      if (!answer.ok) throw new Error(await answer.text());
      const name = /filename="(.*)"/.exec(answer.headers.get("content-disposition"))[1];
      const link = element("a", { href: URL.createObjectURL(await answer.blob()), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      this.status.textContent = `Saved ${name}.`;
    } catch (error) {
      this.status.textContent = `That did not work: ${error.message}`;
    }
  }
}
