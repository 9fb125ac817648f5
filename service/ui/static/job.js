// Follows a job by the events that the service sends, and shows its end by loading the page again.

import { setColumns } from "./charts.js";
import { percent } from "./written.js";

const live = document.getElementById("live");
const course = document.getElementById("course");
const told = JSON.parse(document.getElementById("told").textContent);
const [seconds, whole, rounds] = [[0], [0], [0]];
let started = null;

// Figures of rounds: of the fit under way, and of the one before it, such as the fold before.
const fits = [new Map(), new Map()];
let fit = null;

function begins(at) {
  return !fit || at.phase !== fit.phase || at.round < fit.round;
}

function showRounds(at) {
  if (!Object.keys(at.metrics ?? {}).length) return;
  if (begins(at)) {
    fits.pop();
    fits.unshift(new Map());
  }
  fit = { phase: at.phase, round: at.round };
  fits[0].set(at.round, at.metrics);
  live.querySelector(".rounds").hidden = false;
  const x = [...new Set(fits.flatMap((one) => [...one.keys()]))].sort((a, b) => a - b);
  for (const figure of live.querySelectorAll(".rounds figure")) {
    const name = figure.id.replace("rounds-", "");
    setColumns(figure, x, fits.map((one) => x.map((round) => figureAt(one, round, name))));
  }
}

// Not every round is told: between two of them the earlier one's figure stands.
function figureAt(fitted, round, name) {
  const known = [...fitted.keys()];
  if (!known.length || round > known.at(-1)) return null;
  const last = known.findLast((one) => one <= round);
  return last === undefined ? null : (fitted.get(last)[name] ?? null);
}

function showCourse(job, at) {
  if (!job.started_at) return;
  started ??= Date.parse(job.started_at);
  const now = Math.max(Date.parse(job.heartbeat_at ?? job.started_at) - started, 0) / 1000;
  if (now < seconds.at(-1)) return;
  seconds.push(now);
  whole.push(at.fraction);
  rounds.push(at.rounds ? at.round / at.rounds : 0);
  setColumns(course, seconds, [whole, rounds]);
}

function show(job) {
  const at = job.progress ?? { fraction: 0, phase: "", round: 0, rounds: 0 };
  document.getElementById("share").textContent = percent(at.fraction, 0);
  const step = at.rounds > 1 ? `, ${at.round} of ${at.rounds}` : "";
  document.getElementById("phase").textContent = (told.phases[at.phase] ?? at.phase) + step;
  live.querySelector("progress").value = at.fraction;
  const waits = job.queue_position ? `, number ${job.queue_position} in the queue` : "";
  document.getElementById("status").textContent = (told.statuses[job.status] ?? job.status) + waits;
  showCourse(job, at);
  showRounds(at);
}

const events = new EventSource(live.dataset.events);
events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
events.addEventListener("done", () => {
  events.close();
  location.reload();
});
