// What all pages share: a refusal that was put into a page gets the focus, an outcome is brought into view, and
// a form that is under way says so and is not sent a second time.

document.addEventListener("htmx:after:swap", () => {
  const problem = document.querySelector("main .problem[tabindex]");
  const outcome = document.querySelector("#outcome section, #problems section.told");
  if (problem) problem.focus();
  else if (outcome && outcome.getBoundingClientRect().top > innerHeight) outcome.scrollIntoView();
});

const underWay = new WeakSet();
const buttonOf = (one) => (one.matches("form") ? one.querySelector("button:not([type=button])") : one);
document.addEventListener("htmx:before:request", ({ target }) => {
  if (!target.matches("form, button")) return;
  underWay.add(target);
  buttonOf(target)?.setAttribute("aria-busy", "true");
});
document.addEventListener("htmx:finally:request", ({ target }) => {
  if (!underWay.delete(target)) return;
  buttonOf(target)?.removeAttribute("aria-busy");
});
document.addEventListener(
  "submit",
  (event) => {
    if (!underWay.has(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);
