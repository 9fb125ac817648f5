// Draws each <figure class="chart"> from the JSON it holds, and writes the same numbers as a table on request.
/* global uPlot */

import { written } from "./written.js";

const HEIGHT = 240;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const drawn = new Map();

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// uPlot wants axes that rise; of curves that go back (never ours) only the order of points would matter.
function columns(chart) {
  return [chart.x, ...chart.lines.map((line) => line.values)];
}

function series(chart, line, place) {
  const stroke = line.quiet ? colour("--quiet") : colour(`--line-${(place % 4) + 1}`);
  const found = {
    label: line.label,
    stroke,
    width: line.quiet ? 1 : 2,
    dash: line.quiet ? [4, 4] : DASHES[place % 4],
    points: { show: line.points, size: 8 },
    value: (_, amount) => written(amount, line.written, chart.currency),
  };
  if (line.points) found.width = 1;
  if (line.steps) found.paths = uPlot.paths.stepped({ align: 1 });
  if (line.bars) {
    // Narrower from class to class, so that all of them are seen.
    const share = 0.85 / (1 + place);
    found.paths = uPlot.paths.bars({ size: [share, 80 * share] });
    found.fill = `${stroke}55`;
    found.dash = [];
    found.points = { show: false };
  }
  return found;
}

function axis(chart, label, kind) {
  const short = (amount) => {
    // Marks of an axis lie closer together than amounts are told.
    const one = written(amount, kind === "money" ? "number" : kind, null);
    return one.includes(".") && !one.includes("%") ? one.replace(/\.?0+$/, "") : one;
  };
  return {
    label,
    labelSize: 22,
    stroke: colour("--quiet"),
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    grid: { stroke: colour("--grid"), width: 1 },
    ticks: { stroke: colour("--grid"), width: 1 },
    values: (_, amounts) => amounts.map(short),
  };
}

function options(chart, width, state) {
  let place = 0;
  const lines = chart.lines.map((line) => series(chart, line, line.quiet ? 0 : place++));
  const unit = chart.lines[0].written === "money" && chart.currency ? chart.currency : "";
  const horizontal = axis(chart, chart.x_label, chart.x_written);
  if (chart.categories) {
    // Of a range its beginning is enough; the legend says all of it.
    const short = (name) => (name ?? "").split(" to ")[0].slice(0, 12);
    horizontal.values = (_, amounts) => amounts.map((one) => short(chart.categories[one]));
    horizontal.space = 70;
  }
  if (chart.x_written === "time") horizontal.space = 130;
  const vertical = { ...axis(chart, unit, chart.lines[0].written), size: 64 };
  if (!unit) delete vertical.label;
  return {
    width,
    height: HEIGHT,
    scales: {
      x: {
        time: false,
        ...rangeOf(chart),
      },
      y: { range: chart.square ? [0, 1] : amountsOf(chart) },
    },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    axes: [horizontal, vertical],
    series: [
      {
        label: "at",
        value: (_, amount) =>
          chart.categories ? (chart.categories[amount] ?? "–") : written(amount, chart.x_written, null),
      },
      ...lines,
    ],
    hooks: { draw: [(plot) => mark(plot, state.marked)] },
  };
}

function rangeOf(chart) {
  if (chart.square) return { range: [0, 1] };
  if (chart.categories) return { range: [-0.6, chart.x.length - 0.4] };
  return { range: pointsBetween };
}

// Numbers may come later, so a range is worked out anew each time.
function pointsBetween(plot, low, high) {
  const [points] = plot.data;
  if (points.length !== 1) return [low ?? 0, high ?? 1];
  // Around a single point uPlot would show all from nought to twice as much.
  const half = Math.max(Math.abs(points[0]) * 1e-4, 1);
  return [points[0] - half, points[0] + half];
}

// Bars stand on nought.
function amountsOf(chart) {
  const foot = chart.lines.some((line) => line.bars) ? 0 : NaN;
  return (_, low, high) => {
    if (low === null || (low === 0 && high === 0)) return [0, 1];
    return uPlot.rangeNum(foot < low ? foot : low, foot > high ? foot : high, 0.1, true);
  };
}

function mark(plot, at) {
  if (at === null || at === undefined) return;
  const x = Math.round(plot.valToPos(at, "x", true));
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour("--line-2");
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

function draw(figure) {
  const state = drawn.get(figure);
  const place = figure.querySelector(".plot");
  const width = place.clientWidth;
  if (!width) return;
  state.plot?.destroy();
  state.plot = new uPlot(options(state.chart, width, state), columns(state.chart), place);
}

// The table can be long: it is written when it is opened.
function tabulate(figure) {
  const { chart } = drawn.get(figure);
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const name of [chart.x_label, ...chart.lines.map((line) => line.label)]) {
    const cell = document.createElement("th");
    cell.textContent = name;
    cell.className = "n";
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  chart.x.forEach((x, row) => {
    const line = body.insertRow();
    const cells = [chart.categories ? chart.categories[x] : written(x, chart.x_written, null)];
    for (const one of chart.lines) cells.push(written(one.values[row], one.written, chart.currency));
    for (const text of cells) {
      const cell = line.insertCell();
      cell.className = "n";
      cell.textContent = text;
    }
  });
  figure.querySelector(".scroll").replaceChildren(table);
}

const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const figure = target.closest("figure");
    const state = drawn.get(figure);
    if (state && (!state.plot || Math.abs(state.plot.width - target.clientWidth) > 1)) draw(figure);
  }
});

/** Draw all charts in an element; those that are drawn already stay. */
export function drawAll(root = document) {
  for (const figure of root.querySelectorAll("figure.chart")) {
    if (drawn.has(figure)) continue;
    const chart = JSON.parse(figure.querySelector("script").textContent);
    drawn.set(figure, { chart, plot: null, marked: null });
    draw(figure);
    observer.observe(figure.querySelector(".plot"));
    figure.querySelector("details").addEventListener("toggle", (event) => event.target.open && tabulate(figure));
  }
}

/** Mark a place on the horizontal axis of a chart. */
export function markAt(figure, x) {
  const state = drawn.get(figure);
  if (!state) return;
  state.marked = x;
  state.plot?.redraw(false);
}

/** Give a chart other numbers. */
export function setColumns(figure, x, lines) {
  const state = drawn.get(figure);
  state.chart.x = x;
  lines.forEach((values, place) => (state.chart.lines[place].values = values));
  if (state.plot) state.plot.setData(columns(state.chart));
  else draw(figure);
  if (figure.querySelector("details").open) tabulate(figure);
}

drawAll();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const figure of drawn.keys()) draw(figure);
});
document.addEventListener("htmx:after:swap", () => drawAll());
