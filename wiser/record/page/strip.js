"use strict";

const STRIP_HEIGHT = 132;
const STRIP_EDGE = { left: 40, right: 10, top: 8, bottom: 20 };

/** The mark of lane k: shapes tell them apart without colours, and a ring leaves room for a disc of the same height. */
const MARKS = [
  { d: "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0", fill: "none" },
  { d: "M-4-4L4 4M-4 4L4-4", fill: "none" },
  { d: "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", fill: "currentColor" },
  { d: "M0-5L5 4H-5z", fill: "none" },
  { d: "M0-5L5 0L0 5L-5 0z", fill: "none" },
];

/** All episodes of a comparison, a column for each, and links to the pages of those that were recorded.

    sample: {episodes: [{number, scores: one per lane, label, page}] from left to right, sortedBy, shown: a number};
    label and page are empty where nothing was recorded. lanes: [{name}]; the last two are to be compared. */
class EpisodeStrip {
  constructor({ episodes, sortedBy, shown }, lanes, measure) {
    Object.assign(this, { episodes, lanes, measure, shown });
    this.choices = episodes.filter(({ page }) => page).reverse(); // the best first, as one names them
    const here = episodes.find(({ number }) => number === shown);
    this.plot = svg("svg", { role: "img", "aria-label": this.#summary(here) });
    this.parts = [
      element("div", { class: "chosen" },
        element("h2", {}, `One of ${episodes.length} episodes`),
        element("nav", { "aria-label": "Choose an episode" }, ...this.choices.map((episode, k) => this.#button(episode, k))),
        this.#numbers(here)),
      element("figure", { class: "strip" }, this.plot,
        element("figcaption", {}, `${measure} of every episode, sorted by ${sortedBy}`)),
    ];
    new ResizeObserver(() => this.draw()).observe(this.plot.parentElement);
  }

  /** Go to the k-th of the recorded episodes, if there is one. */
  choose(k) {
    if (this.choices[k] && this.choices[k].number !== this.shown) location.assign(address(this.choices[k]));
  }

  draw() {
    const width = this.plot.parentElement.clientWidth;
    const { left, right, top, bottom } = STRIP_EDGE;
    const scale = chooseScale(this.episodes.flatMap(({ scores }) => scores), false, top, STRIP_HEIGHT - bottom);
    const apart = (width - left - right) / this.episodes.length;
    const columns = this.episodes.map((episode, k) => this.#column(episode, left + apart * (k + 0.5), apart, scale));
    this.plot.setAttribute("width", width);
    this.plot.setAttribute("height", STRIP_HEIGHT);
    this.plot.replaceChildren(...scale.ticks.flatMap((tick) => axisTick(tick, scale.y(tick), left, width - right)), ...columns);
  }

  #column(episode, x, width, scale) {
    const here = episode.number === this.shown;
    const [low, high] = episode.scores.slice(-2).map((score) => scale.y(score));
    const parts = [
      svg("title", {}, describeEpisode(episode, this.lanes)),
      svg("rect", { class: "column", x: x - width / 2, y: 1, width, height: STRIP_HEIGHT - STRIP_EDGE.bottom + 3, rx: 5 }),
      svg("line", { class: "gap", x1: x, x2: x, y1: low, y2: high }),
      ...episode.scores.map((score, k) => markOf(k, x, scale.y(score))),
      svg("text", { x, y: STRIP_HEIGHT - 2, "text-anchor": "middle" }, episode.label.split(" ")[0]),
    ];
    if (here || !episode.page) return svg("g", { class: here ? "here" : "" }, ...parts);
    return svg("a", { href: address(episode), tabindex: -1 }, ...parts);
  }

  #button(episode, k) {
    const current = episode.number === this.shown ? { "aria-current": "page" } : {};
    return element("a", { href: address(episode), title: `Press ${k + 1}`, ...current }, episode.label);
  }

  /** What each lane scored here, and on average: the key to the marks at the same time. */
  #numbers(here) {
    const mean = (k) => this.episodes.reduce((sum, { scores }) => sum + scores[k], 0) / this.episodes.length;
    return element("ul", { class: "key" }, ...this.lanes.map(({ name }, k) => element("li", {},
      svg("svg", { class: "sample-mark", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, markOf(k, 0, 0)),
      `${name}: `, element("b", {}, short(here.scores[k])), ` (mean ${short(mean(k))})`)));
  }

  #summary(here) {
    const place = this.episodes.indexOf(here) + 1;
    return `${this.measure} of ${this.episodes.length} episodes. On show, number ${place} from the left: ${describeEpisode(here, this.lanes)}`;
  }
}

function address({ page }) {
  return `./${encodeURIComponent(page)}`;
}

function describeEpisode({ number, scores }, lanes) {
  return `episode ${number + 1}: ${lanes.map(({ name }, k) => `${name} ${short(scores[k])}`).join(", ")}`;
}

function markOf(k, x, y) {
  return svg("path", { ...MARKS[k % MARKS.length], class: "mark", "data-line": k % LINES.length, transform: `translate(${x} ${y})` });
}

function axisTick(value, y, left, right) {
  return [
    svg("line", { class: "tick", x1: left, x2: right, y1: y, y2: y }),
    svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, String(Number(value.toPrecision(3)))),
  ];
}

/** Make a part of a drawing, as `element` makes one of the page. */
function svg(tag, attributes, ...children) {
  const { namespaceURI } = document.querySelector("svg"); // of a button: so the page has no address in it, not even this one
  const made = document.createElementNS(namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
