// What all pages share: a refusal that was put into a page gets the focus, and an outcome is brought into view.

document.addEventListener("htmx:after:swap", () => {
  const problem = document.querySelector("main .problem[tabindex]");
  const outcome = document.querySelector("#outcome section");
  if (problem) problem.focus();
  else if (outcome && outcome.getBoundingClientRect().top > innerHeight) outcome.scrollIntoView();
});
