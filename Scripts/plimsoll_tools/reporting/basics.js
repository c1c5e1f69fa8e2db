"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const main = document.getElementById("main");
const tip = document.getElementById("tip");
const MIB = 1048576, GIB = 1073741824;
// Colours are the style sheet's, so that light and dark need no new drawing.
const INK = "var(--ink)", QUIET = "var(--quiet)", PAPER = "var(--paper)", FILL = "var(--fill)", GOOD = "var(--good)";
const LEVELS = { normal: "var(--normal)", warning: "var(--warning)", critical: "var(--critical)" };
const SHADES = { warning: "var(--shade-warning)", critical: "var(--shade-critical)" };
const STATES = { active: "var(--active)", inactive: "var(--inactive)", background: "var(--background)", suspended: "var(--suspended)", frozen: "var(--frozen)" };
// Of classes of service, by what the user sees of their work.
const CLASSES = { "user-interactive": STATES.active, "user-initiated": STATES.inactive, default: "var(--default)", utility: "var(--utility)", background: STATES.background };
// Of ends for want of memory, as in the pictures.
const WANT = "var(--want)";
const KINDS = { cold: ["var(--run-0)", ""], warm: ["var(--run-1)", "6 3"], hot: [INK, "2 3"] };
const RUNS = [0, 1, 2, 3, 4, 5, 6, 7].map((place) => `var(--run-${place})`);
const DASHES = ["", "7 3", "2 3", "8 3 2 3"];

// --- Small things -------------------------------------------------------------------------------------------------

/** An element with attributes and children; text is never read as markup. */
function html(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
function svg(parent, name, attributes = {}, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
const bytes = (n) => n === null || n === undefined ? "unknown" : Math.abs(n) >= GIB ? `${+(n / GIB).toPrecision(3)} GiB` : `${+(n / MIB).toPrecision(3)} MiB`;
/** A size of the model as that of the device, of which the words speak; pictures and tables have the model's. */
const deviceBytes = (n) => bytes(n === null || n === undefined ? n : n / (run().scale || 1));
/** A value in the unit that its measure's name ends with. */
const measured = (n, measure) => n === null ? "" : !measure || measure.endsWith("_bytes") ? bytes(n) : measure.endsWith("_us") ? seconds(n / 1e6) : measure.endsWith("_ms") ? seconds(n / 1000) : measure.endsWith("_s") ? seconds(n) : measure.endsWith("_ppm") ? `${+(n / 10000).toPrecision(3)}%` : String(n);
/** How long something took, as the program's words and the pictures have it: cut to a tenth of a second. */
function span(s) {
  if (s === null || s === undefined) return "unknown";
  const us = Math.round(s * 1e6), tenths = Math.floor(us / 100000), whole = Math.floor(tenths / 10), minutes = Math.floor(whole / 60), hours = Math.floor(minutes / 60);
  if (us < 1e6) return us ? `${Math.floor(us / 100) / 10} ms` : "0 s";
  return `${hours ? `${hours} h ` : ""}${minutes ? `${minutes % 60} min ` : ""}${whole % 60}.${tenths % 10} s`;
}
/** A measured or mean time in three digits, as the pictures have it. */
const seconds = (s) => s === null || s === undefined ? "unknown" : Math.abs(s) < 0.9995 ? s ? `${+(s * 1000).toPrecision(3)} ms` : "0 s" : Math.abs(s) < 999.5 ? `${+s.toPrecision(3)} s` : Math.abs(s) < 7200 ? `${+(s / 60).toPrecision(3)} min` : `${+(s / 3600).toPrecision(4)} h`;
const clip = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
function clock(s) {
  const whole = Math.floor(s + 1e-9), part = s - whole;
  const two = (n) => String(n).padStart(2, "0");
  const rest = part > 1e-6 && view.t1 - view.t0 < 60 ? "." + String(Math.floor(part * 1000)).padStart(3, "0") : "";
  return (whole >= 3600 ? Math.floor(whole / 3600) + ":" + two(Math.floor(whole / 60) % 60) : Math.floor(whole / 60)) + ":" + two(whole % 60) + rest;
}
function ticks(low, high, most) {
  const units = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
  const step = units.find((unit) => (high - low) / unit <= most) || (high - low) / most;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}
/** Round values from 0 to `high`, three to five of them: steps of 1, 2 or 5 times a power of `base`, at least `unit`. */
function roundValues(high, unit, base) {
  let step = unit;
  for (let power = unit; power <= high; power *= base) for (const times of base === 2 ? [1] : [1, 2, 5]) if (power * times * 2 <= high) step = Math.max(step, power * times);
  const found = [];
  for (let at = 0; at <= high * 1.000001; at += step) found.push(at);
  return found;
}
/** Where in the ascending list the value is, or would be: the last one not above it. */
function at(list, value) {
  let low = 0, high = list.length;
  while (low < high) { const middle = (low + high) >> 1; if (list[middle] <= value) low = middle + 1; else high = middle; }
  return low - 1;
}
/** How wide the text is drawn in the size of a lane's label. */
const pen = document.createElement("canvas").getContext("2d");
function widthOf(text) {
  pen.font = "11px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  return pen.measureText(text).width;
}
const within = (value, low, high) => Math.max(low, Math.min(high, value));
/** A word of a command for a shell. */
const word = (text) => /^[\w.\/:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
