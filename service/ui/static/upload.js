// Sends a file with its progress, which fetch cannot tell; without this script the form is sent as it is.

const form = document.getElementById("upload");
const sending = document.getElementById("sending");

function tell(share) {
  sending.hidden = false;
  sending.querySelector("progress").value = share;
  document.getElementById("sent").textContent = share < 1 ? `${Math.floor(100 * share)} %` : "– sent; reading the rows …";
}

function answered(request) {
  const address = request.getResponseHeader("HX-Redirect");
  if (address) {
    location.href = address;
    return;
  }
  sending.hidden = true;
  form.querySelector("button").disabled = false;
  const problems = document.getElementById("problems");
  const kind = request.getResponseHeader("Content-Type") ?? "";
  if (kind.startsWith("text/html")) problems.innerHTML = request.responseText;
  else if (kind.includes("json")) problems.textContent = `It was refused: ${JSON.parse(request.responseText).detail}.`;
  else problems.textContent = "The file could not be sent: the connection broke. Try again.";
  problems.querySelector(".problem")?.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  form.querySelector("button").disabled = true;
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.upload.addEventListener("progress", (one) => one.lengthComputable && tell(one.loaded / one.total));
  request.upload.addEventListener("load", () => tell(1));
  request.addEventListener("loadend", () => answered(request));
  request.send(new FormData(form));
});
