// Sends a file with its progress, which fetch cannot tell; without this script the form is sent as it is.

const form = document.getElementById("upload");
const file = form.elements.namedItem("file");
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

// What is proposed stands in fields that can be changed; what somebody wrote stays.
function propose(name, text) {
  const field = form.elements.namedItem(name);
  if (!text || (field.value && field.value !== field.dataset.proposed)) return;
  field.value = field.dataset.proposed = text;
  field.closest("details")?.setAttribute("open", "");
}

// Without a column of that name the service would refuse the table once it has read it.
function askForLabel(columns) {
  const field = form.elements.namedItem("label");
  const isThere = columns.includes("label");
  field.required = !isThere;
  field.placeholder = isThere ? "label" : "choose one of its columns";
}

// The cells of a line of CSV; in quotes a comma is a letter like others.
function cellsOf(line) {
  const cell = /("(?:[^"]|"")*"|[^,]*)(,|$)/y;
  const found = [];
  for (let match = cell.exec(line); match; match = match[2] ? cell.exec(line) : null) {
    found.push(/^".*"$/.test(match[1]) ? match[1].slice(1, -1).replaceAll('""', '"') : match[1]);
  }
  return found;
}

// As a field with several names takes one that holds a comma or begins or ends with a space.
function quoted(name) {
  return /[",]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

async function proposeFor(chosen) {
  propose("name", chosen.name.replace(/(\.[A-Za-z]{1,8}){1,2}$/, ""));
  if (!/\.csv$/i.test(chosen.name)) return;
  const [header] = (await chosen.slice(0, 65536).text()).split(/\r?\n/, 1);
  const columns = cellsOf(header.replace(/^\uFEFF/, ""));
  document.getElementById("header").replaceChildren(...columns.map((one) => new Option(one, one)));
  askForLabel(columns);
  const costs = columns.filter((one) => /^costs?_/i.test(one));
  propose("roles.cost", costs.map(quoted).join(", "));
}

file.addEventListener("change", () => file.files.length && proposeFor(file.files[0]));

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
