// Moves one threshold over the rows of the test part. Counts and money of each threshold are the server's;
// shares are worked out here, from them.

import { markAt } from "./charts.js";
import { count, money, number, percent } from "./written.js";

const table = JSON.parse(document.getElementById("thresholds").textContent);
const slider = document.getElementById("cut");
const outs = Object.fromEntries([...document.querySelectorAll("[data-out]")].map((one) => [one.dataset.out, one]));
const chart = document.getElementById("threshold-cost");

const ratio = (part, whole) => (whole > 0 ? part / whole : NaN);

function show() {
  const at = Number(slider.value);
  const [tp, fp, fn, tn] = ["tp", "fp", "fn", "tn"].map((name) => table[name][at]);
  const [t, cost] = [table.threshold[at], table.cost[at]];
  const rows = tp + fp + fn + tn;
  const cash = (amount) => money(amount, table.currency);
  const texts = {
    tp: count(tp),
    fp: count(fp),
    fn: count(fn),
    tn: count(tn),
    "cost-tp": cash(table.costs.tp[at]),
    "cost-fp": cash(table.costs.fp[at]),
    "cost-fn": cash(table.costs.fn[at]),
    "cost-tn": cash(table.costs.tn[at]),
    cost: cash(cost),
    "above-cheapest": `+ ${cash(cost - table.cost[table.cheapest])}`,
    savings: table.baseline > 0 ? percent(1 - cost / table.baseline) : "–",
    recall: percent(ratio(tp, tp + fn)),
    precision: percent(ratio(tp, tp + fp)),
    fpr: percent(ratio(fp, fp + tn)),
    flagged: percent(ratio(tp + fp, rows)),
    "net-benefit": t < 1 ? number(tp / rows - ((fp / rows) * t) / (1 - t)) : "–",
  };
  for (const [name, text] of Object.entries(texts)) outs[name].textContent = text;
  const told = number(t);
  outs.savings.classList.toggle("loss", table.baseline > 0 && cost > table.baseline);
  document.getElementById("cut-at").textContent = told;
  slider.setAttribute("aria-valuetext", `${told}, costs ${texts.cost}`);
  if (chart) markAt(chart, t);
}

slider.addEventListener("input", show);
document.getElementById("to-cheapest").addEventListener("click", () => {
  slider.value = String(table.cheapest);
  show();
});
show();
