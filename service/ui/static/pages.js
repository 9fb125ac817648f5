// What all pages share: a refusal that was put into a page gets the focus, an outcome is brought into view, and
// a form that is under way is not sent a second time.

document.addEventListener("htmx:after:swap", () => {
  const problem = document.querySelector("main .problem[tabindex]");
  const outcome = document.querySelector("#outcome section");
  if (problem) problem.focus();
  else if (outcome && outcome.getBoundingClientRect().top > innerHeight) outcome.scrollIntoView();
});

const underWay = new WeakSet();
document.addEventListener("htmx:before:request", ({ target }) => target.matches("form") && underWay.add(target));
document.addEventListener("htmx:finally:request", ({ target }) => underWay.delete(target));
document.addEventListener(
  "submit",
  (event) => {
    if (!underWay.has(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);
