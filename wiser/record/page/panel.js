"use strict";

/** All traces of a run: surprise and measure of every lane large, the scores of each sensor small.

    run: {lanes: [{name, steps}], sensors, measure, bands, scores: names of what is measured for each sensor}
    axis: {length, onSeek} of every chart. Gives the charts, and the elements that hold them. */
function tracePanel({ lanes, sensors, measure, bands, scores }, axis) {
  const broken = (t, k) => lanes.some(({ steps }) => steps[t]?.sensors.some((s, n) => s.fault && (k ?? n) === n));
  const shared = { ...axis, isBroken: (t) => broken(t) };
  const charts = [
    new LineChart("surprise, nats", 150, lanes, (step) => step.surprise, { ...shared, band: bands.surprise, log: true }),
    new LineChart(measure, 150, lanes, (step) => step.measure, shared),
  ];
  const parts = [legend(lanes, Object.keys(bands).length), rowOf("charts", charts)];
  for (const name of scores) {
    const alike = sensors.map((_, k) => (step) => step.scores[name]?.[k] ?? null);
    const each = sensors.map((sensor, k) => new LineChart(spoken(sensor.name), 96, lanes, alike[k],
      { ...shared, isBroken: (t) => broken(t, k), band: bands[`${name}/${sensor.name}`], log: true, alike }));
    parts.push(element("h2", {}, `${spoken(name)} of each sensor`), rowOf("charts small", each));
    charts.push(...each);
  }
  return { charts, parts };
}

function rowOf(kind, charts) {
  return element("div", { class: kind }, ...charts.map((chart) => chart.root));
}

/** What is what in the traces. */
function legend(lanes, hasBands) {
  return element("ul", { class: "key", "aria-label": "Lines and areas in the traces" },
    ...lanes.map((lane, k) => element("li", {}, lineSample(k), lane.name)),
    element("li", {}, element("i", { class: "swatch broken" }), "a sensor is really broken"),
    ...(hasBands ? [element("li", {}, element("i", { class: "swatch band" }), "98 % of clean input")] : []));
}
