"use strict";

/** Make an element. Children are elements or texts; text never becomes markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** The value of a CSS variable, so that drawings follow the theme. */
function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A number for people: about three digits. */
function short(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 100) return value.toFixed(0);
  return size >= 0.1 ? value.toFixed(size >= 10 ? 1 : 2) : value.toPrecision(2);
}

/** sensor_name -> "sensor name", for labels. */
function spoken(name) {
  return name.replaceAll("_", " ");
}

/** How the line of lane k looks in every trace: colours that colour-blind people tell apart, and dashes. */
const LINES = [
  { colour: "--lane-0", dash: [] },
  { colour: "--lane-1", dash: [6, 3] },
  { colour: "--lane-2", dash: [2, 2] },
  { colour: "--lane-3", dash: [9, 3, 2, 3] },
  { colour: "--lane-4", dash: [12, 4] },
];

function lineOf(index) {
  return LINES[index % LINES.length];
}
