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
  if (request.getResponseHeader("Content-Type")?.startsWith("text/html")) problems.innerHTML = request.responseText;
  else problems.textContent = "The file could not be sent: it is larger than the service takes, or the connection broke.";
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
