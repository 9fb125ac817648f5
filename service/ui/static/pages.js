// What all pages share: a refusal that was put into a page gets the focus, so that it is read.

document.addEventListener("htmx:after:swap", () => {
  const problem = document.querySelector("#problems .problem");
  if (problem) problem.focus();
});
