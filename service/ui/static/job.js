// Follows a job by the events that the service sends, and shows its end by loading the page again.

import { setColumns } from "./charts.js";
import { percent } from "./written.js";

const live = document.getElementById("live");
const figure = document.getElementById("course");
const [seconds, whole, rounds] = [[0], [0], [0]];
let started = null;

function show(job) {
  const at = job.progress ?? { fraction: 0, phase: "", round: 0, rounds: 0 };
  document.getElementById("share").textContent = percent(at.fraction, 0);
  const step = at.rounds > 1 ? `, round ${at.round} of ${at.rounds}` : "";
  const figures = Object.entries(at.metrics ?? {}).map(
    ([name, value]) => `, ${name.replaceAll("_", " ")} ${value.toPrecision(3)}`,
  );
  document.getElementById("phase").textContent = at.phase.replaceAll("_", " ") + step + figures.join("");
  live.querySelector("progress").value = at.fraction;
  const waits = job.queue_position ? `, number ${job.queue_position} in the queue` : "";
  document.getElementById("status").textContent = job.status + waits;
  if (!job.started_at) return;
  started ??= Date.parse(job.started_at);
  const now = Math.max(Date.parse(job.heartbeat_at ?? job.started_at) - started, 0) / 1000;
  if (now < seconds.at(-1)) return;
  seconds.push(now);
  whole.push(at.fraction);
  rounds.push(at.rounds ? at.round / at.rounds : 0);
  setColumns(figure, seconds, [whole, rounds]);
}

const events = new EventSource(live.dataset.events);
events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
events.addEventListener("done", () => {
  events.close();
  location.reload();
});
