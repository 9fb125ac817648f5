// Numbers as the server writes them (service/ui/rendering.py): a half goes away from zero.

const grouped = (text) => {
  const [whole, fraction] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction === undefined ? "" : `.${fraction}`);
};

export function number(amount, digits = 4) {
  if (amount === null || amount === undefined || Number.isNaN(amount)) return "–";
  if (amount === 0 || Math.abs(amount) >= 1) return grouped(amount.toFixed(2));
  const exponent = Number(amount.toExponential().split("e")[1]);
  return grouped(amount.toFixed(Math.min(digits - 1 - exponent, 12)));
}

export const count = (amount) => (Number.isInteger(amount) ? grouped(String(amount)) : number(amount));

export function percent(share, digits = 1) {
  return share === null || Number.isNaN(share) ? "–" : `${grouped((100 * share).toFixed(digits))} %`;
}

// Two decimals, and below a tenth as many as show two digits.
export function cash(amount) {
  if (amount === 0 || Math.abs(amount) >= 0.1) return grouped(amount.toFixed(2));
  const exponent = Number(amount.toExponential().split("e")[1]);
  return grouped(amount.toFixed(Math.min(1 - exponent, 12)));
}

export const money = (amount, currency) =>
  amount === null || Number.isNaN(amount) ? "–" : (currency ? `${currency}\u00a0` : "") + cash(amount);

export function written(amount, kind, currency) {
  if (amount === null || amount === undefined) return "–";
  if (kind === "money") return money(amount, currency);
  if (kind === "percent") return percent(amount);
  if (kind === "time") return new Date(amount * 1000).toISOString().slice(0, 16).replace("T", " ");
  return Number.isInteger(amount) ? count(amount) : number(amount);
}
