// Numbers and times as text; elements with text and never with markup.

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

const number = (value, digits = 3) =>
  typeof value === "number" && Number.isFinite(value) ? value.toFixed(digits) : "–";

const LONGEST_S = 1e9;
/** h:mm:ss, with so many decimals of a second. */
function clock(seconds, digits = 0) {
  if (typeof seconds !== "number" || !(Math.abs(seconds) < LONGEST_S)) return "–";
  const scale = 10 ** digits;
  const whole = Math.round(Math.abs(seconds) * scale);
  const s = (whole / scale) % 60, minutes = Math.floor(whole / scale / 60);
  const pad = (value) => String(value).padStart(2, "0");
  const rest = s.toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
  return `${seconds < 0 ? "−" : ""}${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${rest}`;
}

function span(seconds) {
  if (typeof seconds !== "number") return "–";
  if (seconds < 120) return `${Number(seconds.toFixed(seconds < 10 ? 2 : 1))} s`;
  return seconds < 7200 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Wall time. */
const duration = (seconds) =>
  seconds < 0.0995 ? `${(seconds * 1000).toFixed(seconds < 0.00995 ? 1 : 0)} ms` : seconds < 9.95 ? `${seconds.toFixed(1)} s` : span(seconds);
const thousands = (value) => (isNumber(value) ? value.toLocaleString("en-US") : "–");
const count = (n, name) => `${thousands(n)} ${name}${n === 1 ? "" : "s"}`;

const STEPS_S = [0.04, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800];

/** The smallest step of an axis whose labels keep `gap` pixels apart. */
const tickStep = (perPixel, gap) =>
  STEPS_S.find((step) => step / perPixel >= gap) ?? STEPS_S[STEPS_S.length - 1];

const tickDigits = (step) => (step >= 1 ? 0 : step >= 0.1 ? 1 : 2);

function byId(id) {
  return document.getElementById(id);
}

/** Text that shows everything it holds: what hides, reorders or breaks it is written by its number. */
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;
const legible = (text) =>
  String(text).replace(HIDDEN, (found) => `⟨${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}⟩`);

/** Text that an address can hold. */
const wellFormed = (text) => text.replace(/\p{Surrogate}/gu, "\ufffd");

/** An element; children are elements or text, and text stays text. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map((child) =>
    child instanceof Node ? child : document.createTextNode(legible(child))));
  return element;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const words = (name) => String(name).replaceAll("_", " ");
