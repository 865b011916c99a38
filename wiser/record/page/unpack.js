"use strict";

const STATES = { t: "trusted", m: "masked", u: "unhealthy" };

/** The packed recording as lanes of step objects (see lane.js); onPicture() is called when a picture has arrived. */
function unpack(data, onPicture) {
  const lanes = data.lanes.map((lane) => unpackLane(lane, data, onPicture));
  return { ...data, lanes, length: Math.max(...lanes.map((lane) => lane.steps.length)) };
}

function unpackLane(lane, { sensors, modes, levels }, onPicture) {
  const open = (packed) => packed && (packed.images ? openSheets(packed, onPicture) : (t) => packed[t]);
  const view = open(lane.view);
  const streams = sensors.map(({ name }, k) => ({
    reading: open(lane.readings[name]),
    prediction: open(lane.predictions[name]),
    at: (t) => ({
      state: STATES[lane.state[k][t]],
      level: levels[lane.level[k][t]],
      late: lane.late[k][t],
      reason: lane.words[lane.reason[k][t]],
      fault: lane.words[lane.fault[k][t]],
      stale: lane.stale[k][t],
      present: lane.present[k][t] === "1",
    }),
  }));
  const resets = new Set(lane.reset);
  const stepAt = (t) => ({
    view: view ? view(t) : null,
    sensors: streams.map(({ reading, prediction, at }) => {
      const facts = at(t);
      return { ...facts, reading: facts.present ? reading(t) : null, prediction: prediction ? prediction(t) : null };
    }),
    mode: modes[lane.mode[t]],
    blind: lane.blind[t],
    reset: resets.has(t),
    surprise: lane.surprise[t],
    scores: Object.fromEntries(Object.entries(lane.scores).map(([name, values]) => [name, values[t]])),
    measure: lane.measure[t],
    outcome: lane.outcome && t === lane.steps - 1 ? `${lane.outcome} at step ${t}` : "",
  });
  const steps = Array.from({ length: lane.steps }, (_, t) => stepAt(t));
  return { name: lane.name, method: lane.method, hasView: Boolean(view), steps };
}

/** Sprite sheets as a function from a step to its picture. */
function openSheets({ width, height, columns, per_sheet: perSheet, images }, onPicture) {
  const loaded = images.map((source) => {
    const image = new Image();
    image.onload = onPicture;
    image.src = source;
    return image;
  });
  return (t) => {
    const cell = t % perSheet;
    const [x, y] = [(cell % columns) * width, Math.floor(cell / columns) * height];
    return { image: loaded[Math.floor(t / perSheet)], x, y, width, height };
  };
}
