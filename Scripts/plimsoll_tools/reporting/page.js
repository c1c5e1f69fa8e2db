"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const main = document.getElementById("main");
const tip = document.getElementById("tip");
const MIB = 1048576, GIB = 1073741824;
const LEVELS = { normal: "#E4E7EA", warning: "#F5A300", critical: "#B2182B" };
const SHADES = { warning: "#FDEFCF", critical: "#F6CFCF" };
const STATES = { active: "#004C8C", inactive: "#74B4E3", background: "#E08A00", suspended: "#D3D7DB" };
// Of ends for want of memory, as in the pictures.
const WANT = "#D6006C";
const KINDS = { cold: ["#0072B2", ""], warm: ["#D55E00", "6 3"], hot: ["#333333", "2 3"] };
const RUNS = ["#0072B2", "#D55E00", "#009E73", "#882255", "#E69F00", "#56B4E9", "#332288", "#7A5C2E"];
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
/** A value in the unit that its measure's name ends with. */
const measured = (n, measure) => n === null ? "" : !measure || measure.endsWith("_bytes") ? bytes(n) : measure.endsWith("_us") ? span(n / 1e6) : measure.endsWith("_ms") ? span(n / 1000) : measure.endsWith("_s") ? span(n) : measure.endsWith("_ppm") ? `${+(n / 10000).toPrecision(3)}%` : String(n);
const span = (s) => s === null || s === undefined ? "unknown" : s < 1 ? `${+(s * 1000).toPrecision(3)} ms` : s < 120 ? `${+s.toPrecision(3)} s` : s < 7200 ? `${+(s / 60).toPrecision(3)} min` : `${+(s / 3600).toPrecision(3)} h`;
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

// --- What is shown ------------------------------------------------------------------------------------------------

const view = { run: 0, t0: 0, t1: 1, pinned: null, panels: [] };
const run = () => DATA.runs[view.run];

function showTip(event, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 10 : event.clientX + 14;
  tip.style.left = Math.max(4, x) + "px";
  tip.style.top = Math.max(4, Math.min(event.clientY + 12, innerHeight - box.height - 6)) + "px";
}
const hideTip = () => { tip.hidden = true; };

/** Who, why, and who was spared. */
function killText(kill, most) {
  const spared = kill.spared.slice(0, most);
  const list = html("ul");
  for (const [app, why] of spared) list.append(html("li", {}, html("b", {}, app), `: ${run().reasons[why]}`));
  if (kill.spared.length + kill.unlisted > spared.length) list.append(html("li", {}, `and ${kill.spared.length + kill.unlisted - spared.length} more`));
  const facts = [["at", clock(kill.t)], ["band", kill.band || "unknown"], ["held", bytes(kill.footprint)], ["off screen for", span(kill.idle)],
    ["last warned", kill.lead === null ? "never" : `${span(kill.lead)} before`]].map((fact) => fact.join(" ")).join(" · ");
  return [html("b", {}, `✕ ${kill.app}`), ` (process ${kill.pid}) ended: ${kill.cause}`, html("div", {}, kill.why), html("div", { class: "note" }, facts),
    kill.spared.length + kill.unlisted ? html("div", {}, "Spared in this decision:", list) : html("div", { class: "note" },
      kill.decided ? "The decision names no other process." : "No decision of the policy: a limit or the process itself ended it.")];
}
/** What a mark of one kill or of several says: how many, then each by itself. */
function killsText(kills, most, spared) {
  if (kills.length === 1) return killText(kills[0], spared);
  const parts = kills.slice(0, most).map((kill) => html("div", { class: "each" }, ...killText(kill, Math.ceil(spared / 4))));
  if (kills.length > most) parts.push(html("div", { class: "note" }, `and ${kills.length - most} more: ${clip(kills.slice(most).map((kill) => kill.app).join(", "), 200)}`));
  const [first, last] = [kills[0], kills[kills.length - 1]].map((kill) => clock(kill.t)), when = first === last ? `at ${first}` : `from ${first} to ${last}`;
  return [html("b", {}, `${kills.length} were ended ${when}`), ...parts];
}
function pin(...kills) {
  view.pinned = kills;
  const card = document.getElementById("pinned");
  if (card) card.replaceChildren(...kills.map((kill) => html("div", { class: "card" }, ...killText(kill, 400))));
}

// --- Pictures over time -------------------------------------------------------------------------------------------

const LEFT = 62, RIGHT = 12;
/** A panel whose horizontal axis is the shared window of time. `draw(frame)` paints; `says(t, y)` explains a place. */
function timePanel(parent, name, height, draw, says) {
  const holder = html("div", { class: "panel" });
  parent.append(holder);
  const panel = { holder, render() {
    const width = Math.max(280, holder.clientWidth);
    const tall = typeof height === "function" ? height() : height;
    const root = document.createElementNS(SVG, "svg");
    for (const [key, value] of [["viewBox", `0 0 ${width} ${tall}`], ["height", tall], ["role", "img"], ["aria-label", name]]) root.setAttribute(key, value);
    const left = width < 560 ? 50 : LEFT, bottom = tall - 22;
    const x = (t) => left + (t - view.t0) / (view.t1 - view.t0) * (width - left - RIGHT);
    const clipId = "clip-" + name.replace(/\W/g, "-");
    const box = svg(svg(root, "defs"), "clipPath", { id: clipId });
    svg(box, "rect", { x: left, y: 0, width: width - left - RIGHT, height: tall });
    for (const t of ticks(view.t0, view.t1, width < 560 ? 4 : 9)) {
      svg(root, "line", { x1: x(t), x2: x(t), y1: 0, y2: bottom, class: "axis" });
      svg(root, "text", { x: Math.min(x(t), width - RIGHT - 10), y: tall - 6, "text-anchor": "middle", class: "quiet" }, clock(t));
    }
    const paint = svg(root, "g", { "clip-path": `url(#${clipId})` });
    draw({ root, paint, x, left, right: width - RIGHT, bottom, width });
    const line = svg(root, "line", { y1: 0, y2: bottom, stroke: "#222", "stroke-dasharray": "2 2", visibility: "hidden", "pointer-events": "none" });
    const band = svg(root, "rect", { y: 0, height: bottom, fill: "#0072b233", visibility: "hidden", "pointer-events": "none" });
    panel.mark = (t) => {
      if (t === null || t < view.t0 || t > view.t1) return line.setAttribute("visibility", "hidden");
      line.setAttribute("x1", x(t)); line.setAttribute("x2", x(t)); line.setAttribute("visibility", "visible");
    };
    follow(root, band, { left, right: width - RIGHT, width }, says);
    holder.replaceChildren(root);
  } };
  view.panels.push(panel);
  panel.render();
}
/** Hover shows and links, a horizontal drag zooms, a double click resets. */
function follow(root, band, frame, says) {
  let from = null;
  const place = (event) => {
    const box = root.getBoundingClientRect();
    const px = Math.max(frame.left, Math.min(frame.right, (event.clientX - box.left) * frame.width / box.width));
    return { px, t: view.t0 + (px - frame.left) / (frame.right - frame.left) * (view.t1 - view.t0), y: event.clientY - box.top };
  };
  root.addEventListener("pointermove", (event) => {
    const { px, t, y } = place(event);
    for (const panel of view.panels) panel.mark(t);
    if (from !== null && Math.abs(px - from.px) > 4) {
      band.setAttribute("x", Math.min(px, from.px)); band.setAttribute("width", Math.abs(px - from.px)); band.setAttribute("visibility", "visible");
    }
    const near = event.target.closest && event.target.closest(".kill");
    if (near) return showTip(event, ...killsText(near.dataset.kill.split(",").map((index) => run().kills[index]), 4, 8));
    const content = says(t, y);
    if (content) showTip(event, ...content); else hideTip();
  });
  root.addEventListener("pointerleave", () => { hideTip(); from = null; band.setAttribute("visibility", "hidden"); for (const panel of view.panels) panel.mark(null); });
  root.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") from = place(event); });
  root.addEventListener("pointerup", (event) => {
    const start = from, stop = place(event);
    from = null;
    band.setAttribute("visibility", "hidden");
    if (start && Math.abs(stop.px - start.px) > 8) zoom(Math.min(start.t, stop.t), Math.max(start.t, stop.t));
  });
  root.addEventListener("dblclick", () => zoom(0, run().end));
}
function zoom(t0, t1) {
  const least = Math.min(0.05, run().end);
  if (t1 - t0 < least) t1 = t0 + least;
  view.t0 = Math.max(0, t0); view.t1 = Math.min(run().end, t1);
  const label = document.getElementById("window");
  if (label) label.textContent = `${clock(view.t0)} to ${clock(view.t1)} of ${clock(run().end)}`;
  for (const panel of view.panels) panel.render();
}
function shades(frame, top) {
  for (const [t0, t1, level] of run().levels) if (SHADES[level] && t1 >= view.t0 && t0 <= view.t1)
    svg(frame.paint, "rect", { x: frame.x(t0), width: Math.max(0.5, frame.x(t1) - frame.x(t0)), y: top, height: frame.bottom - top, fill: SHADES[level] });
}
/** The steps of a series within the window, as a path. */
function steps(frame, times, values, y, close) {
  const first = Math.max(0, at(times, view.t0)), last = Math.min(times.length - 1, at(times, view.t1) + 1);
  let path = "";
  for (let index = first; index <= last; index++) {
    const x = frame.x(times[index]).toFixed(1), height = y(values[index]).toFixed(1);
    path += path ? `H${x}V${height}` : `M${x} ${height}`;
  }
  path += `H${frame.x(Math.max(run().end, times[last])).toFixed(1)}`;
  return close === undefined ? path : `${path}V${close}H${frame.x(times[first]).toFixed(1)}Z`;
}
/** The kills in the window, those together that are too near each other for marks of their own. */
function killGroups(frame) {
  const found = [];
  run().kills.map((kill, index) => ({ kill, index, x: frame.x(kill.t) })).filter(({ kill }) => kill.t >= view.t0 && kill.t <= view.t1).sort((a, b) => a.x - b.x || a.index - b.index).forEach((one) => {
    const last = found[found.length - 1];
    if (last && one.x - last[0].x < 11) last.push(one); else found.push([one]);
  });
  return found;
}
/** A cross for each kill, or one for several with their number upon it. */
function killMarks(frame, y) {
  for (const group of killGroups(frame)) {
    const kills = group.map((one) => one.kill), x = (group[0].x + group[group.length - 1].x) / 2;
    const names = kills.length === 1 ? kills[0].app : `${kills.length} apps, ${kills.map((kill) => kill.app).join(", ")},`;
    const mark = svg(frame.paint, "g", { class: "kill", tabindex: 0, role: "button", "aria-label": `${names} ended at ${clock(kills[0].t)}` });
    mark.dataset.kill = group.map((one) => one.index).join(",");
    for (const at of new Set(group.map((one) => one.x))) svg(mark, "line", { x1: at, x2: at, y1: y + 6, y2: frame.bottom, stroke: "#222", "stroke-width": 0.7, "stroke-dasharray": "1 3" });
    svg(mark, "rect", { x: x - 6, y: y - 18, width: 12, height: 26, fill: "transparent" });
    svg(mark, "path", { d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`, stroke: "#222", "stroke-width": 1.8, fill: "none" });
    if (kills.length > 1) svg(mark, "text", { x, y: y - 7, "text-anchor": "middle", "font-weight": "bold" }, String(kills.length));
    mark.addEventListener("click", () => pin(...kills));
    mark.addEventListener("focus", () => pin(...kills));
  }
}
function memoryPanel(parent) {
  const high = () => Math.max(run().ceiling || 0, ...run().samples.resident) * 1.06 || 1;
  const top = 34;
  let frame = null;
  const y = (value) => frame.bottom - value / high() * (frame.bottom - top);
  timePanel(parent, "memory by app", 340, (given) => {
    frame = given;
    shades(frame, top);
    const times = run().samples.t;
    const base = new Float64Array(times.length);
    for (const layer of run().layers) base.forEach((_, index) => { base[index] += layer.bytes[index]; });
    for (const layer of [...run().layers].reverse()) {
      svg(frame.paint, "path", { d: steps(frame, times, base, y, frame.bottom), fill: layer.colour, stroke: "#fff", "stroke-width": 0.4 });
      base.forEach((_, index) => { base[index] -= layer.bytes[index]; });
    }
    const size = high() >= 2 * GIB ? GIB : MIB, step = 2 ** Math.ceil(Math.log2(high() / size / 6));
    for (let value = 0; value <= high() / size; value += step) svg(frame.root, "text", { x: frame.left - 6, y: y(value * size) + 4, "text-anchor": "end", class: "quiet" }, `${value}${value ? size === GIB ? " GiB" : "" : ""}`);
    svg(frame.root, "text", { x: 2, y: top - 4, class: "quiet" }, size === GIB ? "" : "MiB");
    for (const [level, resident] of Object.entries(run().thresholds)) {
      svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(resident), y2: y(resident), stroke: "#fff", "stroke-width": 3 });
      svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(resident), y2: y(resident), stroke: LEVELS[level], "stroke-width": 1.6, "stroke-dasharray": "7 3" });
    }
    if (run().ceiling) {
      svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(run().ceiling), y2: y(run().ceiling), stroke: "#222", "stroke-width": 2 });
      svg(frame.root, "text", { x: frame.right - 4, y: y(run().ceiling) - 4, "text-anchor": "end", "font-weight": 700 }, `ceiling ${bytes(run().ceiling)}`);
    }
    for (const [t0, t1, level] of run().levels) svg(frame.paint, "rect", { x: frame.x(t0), width: Math.max(0.5, frame.x(t1) - frame.x(t0)), y: 0, height: 8, fill: LEVELS[level] || "#ddd" });
    killMarks(frame, 26);
  }, (t, py) => {
    const index = at(run().samples.t, t);
    if (index < 0) return null;
    const value = (frame.bottom - py) / (frame.bottom - top) * high();
    let sum = 0, hit = null;
    const rows = [];
    for (const layer of run().layers) {
      if (value > sum && value <= sum + layer.bytes[index]) hit = layer.name;
      sum += layer.bytes[index];
      if (layer.bytes[index] > 0) rows.push([layer.name, layer.bytes[index]]);
    }
    const list = html("ul");
    for (const [name, size] of rows.sort((a, b) => b[1] - a[1]).slice(0, 8)) list.append(html("li", {}, name === hit ? html("b", {}, `${name} ${bytes(size)}`) : `${name} ${bytes(size)}`));
    const level = run().levels.find(([t0, t1]) => t >= t0 && t < t1);
    return [html("b", {}, `${clock(t)}  ${bytes(run().samples.resident[index])} resident, ${bytes(run().samples.available[index])} available`), html("div", {}, level ? `pressure ${level[2]}` : ""), list];
  });
  const legend = html("div", { class: "legend" });
  for (const layer of [...run().layers].reverse()) legend.append(html("span", {}, html("i", { style: `background:${layer.colour}` }), layer.name));
  for (const level of ["warning", "critical"]) if (run().thresholds[level]) legend.append(html("span", {}, html("i", { style: `background:${LEVELS[level]}` }), `${level} from ${bytes(run().thresholds[level])}`));
  legend.append(html("span", {}, "✕ process ended by the system"));
  parent.append(legend);
}
function pressurePanel(parent) {
  let frame = null;
  const samples = run().samples, ceiling = run().ceiling || 1;
  const high = Math.min(1, Math.max(0.05, ...samples.available.map((value) => value / ceiling)) * 1.05);
  const y = (share) => frame.bottom - share / high * (frame.bottom - 8);
  timePanel(parent, "memory available", 150, (given) => {
    frame = given;
    shades(frame, 0);
    svg(frame.paint, "path", { d: steps(frame, samples.t, samples.available.map((value) => value / ceiling), y), fill: "none", stroke: "#0072B2", "stroke-width": 1.5 });
    for (const [level, resident] of Object.entries(run().thresholds)) svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(1 - resident / ceiling), y2: y(1 - resident / ceiling), stroke: LEVELS[level], "stroke-width": 1.5, "stroke-dasharray": "7 3" });
    for (const share of roundValues(high, 0.01, 10)) svg(frame.root, "text", { x: frame.left - 6, y: Math.max(10, y(share) + 4), "text-anchor": "end", class: "quiet" }, `${Math.round(share * 100)}%`);
    for (const [index, stall] of run().stalls.entries()) svg(frame.paint, "path", { d: steps(frame, samples.t, stall.values, y), fill: "none", stroke: stallLook(index)[0], "stroke-dasharray": stallLook(index)[1] });
    for (const [t, , level] of run().warnings) if (t >= view.t0 && t <= view.t1) svg(frame.paint, "path", { d: `M${frame.x(t) - 3} ${frame.bottom}l3 -6l3 6z`, fill: LEVELS[level] || "#F5A300" });
  }, (t) => {
    const index = at(samples.t, t);
    if (index < 0) return null;
    const width = (view.t1 - view.t0) / 150;
    const warned = run().warnings.filter(([when]) => Math.abs(when - t) < width).slice(0, 6).map(([when, app, level]) => `▲ ${clock(when)} ${app} warned (${level})`);
    const stalls = run().stalls.map((stall) => `${stall.name} ${(100 * stall.values[index]).toFixed(1)}%`);
    return [html("b", {}, `${clock(t)}  ${(100 * samples.available[index] / ceiling).toFixed(1)}% available`), ...[...stalls, ...warned].map((text) => html("div", {}, text))];
  });
  const legend = html("div", { class: "legend" }, html("span", {}, html("i", { style: "background:#0072B2" }), "available"), html("span", {}, "▲ an app was warned"));
  for (const [index, stall] of run().stalls.entries()) legend.append(html("span", {}, html("i", { style: `background:${stallLook(index)[0]}` }), `time stalled: ${stall.name}`));
  parent.append(legend);
}
const stallLook = (index) => [["#D55E00", "#E69F00", "#7A5C2E", "#332288", "#882255", "#C4B5E8"][index % 6], DASHES[index % 3]];
function lanesPanel(parent) {
  const lanes = run().lanes, row = 16;
  timePanel(parent, "states", () => lanes.length * row + 28, (frame) => {
    lanes.forEach((lane, index) => {
      const y = index * row + 3;
      for (const [t0, t1, state] of lane.spans) if (t1 >= view.t0 && t0 <= view.t1) svg(frame.paint, "rect", { x: frame.x(t0), y, width: Math.max(0.6, frame.x(t1) - frame.x(t0)), height: 8, fill: STATES[state] });
      lane.scenes.slice(0, 3).forEach((scene, place) => {
        for (const [t0, t1, state] of scene) if (t1 >= view.t0 && t0 <= view.t1) svg(frame.paint, "rect", { x: frame.x(t0), y: y + 9 + place * 1.7, width: Math.max(0.6, frame.x(t1) - frame.x(t0)), height: 1.4, fill: STATES[state] });
      });
      for (const t of lane.ends) if (t >= view.t0 && t <= view.t1) svg(frame.paint, "path", { d: `M${frame.x(t) - 3} ${y + 1}l6 6m0 -6l-6 6`, stroke: "#222", "stroke-width": 1.6 });
      for (const t of lane.warned) if (t >= view.t0 && t <= view.t1) svg(frame.paint, "path", { d: `M${frame.x(t) - 3} ${y + 7}l3 -6l3 6z`, fill: "#FFE14D", stroke: "#222", "stroke-width": 0.5 });
      svg(frame.root, "text", { x: frame.left - 4, y: y + 8, "text-anchor": "end", "font-size": 10 }, clip(lane.app, frame.left < 60 ? 7 : 9));
    });
  }, (t, y) => {
    const lane = lanes[Math.floor((y - 1) / row)];
    if (!lane) return null;
    const state = lane.spans.find(([t0, t1]) => t >= t0 && t < t1);
    const launch = [...run().launches].reverse().find((one) => one.app === lane.app && one.t <= t);
    return [html("b", {}, lane.app), ` at ${clock(t)}: ${state ? `${state[2]} since ${clock(state[0])}` : "not running"}`, launch ? html("div", {}, `last launched at ${clock(launch.t)}: ${launch.kind}, ${launch.ms === null ? launch.outcome : span(launch.ms / 1000)}`) : null].filter(Boolean);
  });
  const legend = html("div", { class: "legend" });
  for (const [state, colour] of Object.entries(STATES)) legend.append(html("span", {}, html("i", { style: `background:${colour}` }), state));
  legend.append(html("span", {}, "thin lines: its scenes"), html("span", {}, "▲ warned"), html("span", {}, "✕ ended"));
  if (run().lanesLeftOut) legend.append(html("span", {}, `${run().lanesLeftOut} less eventful apps are left out`));
  parent.append(legend);
}

// --- Pictures without time ----------------------------------------------------------------------------------------

/** A plain panel that is drawn anew when its width changes. */
function panel(parent, name, height, draw) {
  const holder = html("div", { class: "panel" });
  parent.append(holder);
  const own = { holder, mark() {}, render() {
    const width = Math.max(260, holder.clientWidth);
    const root = document.createElementNS(SVG, "svg");
    for (const [key, value] of [["viewBox", `0 0 ${width} ${height}`], ["height", height], ["role", "img"], ["aria-label", name]]) root.setAttribute(key, value);
    draw(root, width, height);
    holder.replaceChildren(root);
  } };
  view.panels.push(own);
  own.render();
}
function logAxis(root, low, high, left, right, bottom, label) {
  const from = Math.log10(low), to = Math.log10(Math.max(high, low * 10));
  const x = (value) => left + (Math.log10(Math.max(value, low)) - from) / (to - from) * (right - left);
  const digits = to - from > 2.2 ? [1] : to - from > 1.2 ? [1, 3] : [1, 2, 5];
  for (let power = Math.floor(from); power <= to; power++) for (const digit of digits) {
    const value = digit * 10 ** power, at = x(value);
    if (Math.log10(value) < from - 1e-9 || Math.log10(value) > to) continue;
    svg(root, "line", { x1: at, x2: at, y1: 6, y2: bottom, class: "axis" });
    svg(root, "text", { x: Math.min(at, right - 14), y: bottom + 14, "text-anchor": "middle", class: "quiet" }, span(value));
  }
  svg(root, "text", { x: (left + right) / 2, y: bottom + 29, "text-anchor": "middle", class: "quiet" }, label);
  return x;
}
/** Distribution functions: [name, colour, dash, launches]. Shares are of all that were tapped: what never came to a
 * first frame is missing at the top. */
function ecdf(parent, name, all) {
  const tapped = all.filter((one) => one[3].length).map(([label, colour, dash, launches]) => [label, colour, dash, launches.filter((launch) => launch.ms !== null).map((launch) => launch.ms).sort((a, b) => a - b), launches.length]);
  const series = tapped.filter((one) => one[3].length);
  if (!series.length) return parent.append(html("p", { class: "note" }, "No launch came to its first frame."));
  panel(parent, name, 230, (root, width) => {
    const left = 44, right = width - 12, bottom = 190, y = (share) => bottom - share * (bottom - 12);
    const every = series.flatMap((one) => [one[3][0], one[3][one[3].length - 1]]);
    const x = logAxis(root, Math.max(0.001, Math.min(...every) / 1300), Math.max(...every) / 800, left, right, bottom, "latency, from the tap to the first active frame");
    for (const share of [0, 0.5, 0.95]) {
      svg(root, "line", { x1: left, x2: right, y1: y(share), y2: y(share), class: "axis" });
      svg(root, "text", { x: left - 5, y: y(share) + 4, "text-anchor": "end", class: "quiet" }, `${share * 100}%`);
    }
    for (const [, colour, dash, values, total] of series) {
      let path = `M${x(values[0] / 1000)} ${bottom}`;
      values.forEach((value, index) => { path += `H${x(value / 1000).toFixed(1)}V${y((index + 1) / total).toFixed(1)}`; });
      svg(root, "path", { d: path, fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash });
    }
  });
  const rank = (values, share) => values[Math.max(0, Math.ceil(values.length * share) - 1)] / 1000;
  const table = html("table", {}, html("tr", {}, ...["", "launches", "lost", "p50", "p95", "p99", "max"].map((head, index) => html("th", { class: index ? "num" : null }, head))));
  for (const [label, colour, , values, total] of tapped) table.append(html("tr", {}, html("td", {}, html("i", { style: `display:inline-block;width:14px;height:3px;margin-right:6px;vertical-align:middle;background:${colour}` }), clip(label, 40)), ...[total, total - values.length, ...[0.5, 0.95, 0.99, 1].map((share) => values.length ? span(rank(values, share)) : "")].map((text) => html("td", { class: "num" }, String(text)))));
  parent.append(html("div", { class: "scroll" }, table));
  if (tapped.some((one) => one[4] > one[3].length)) parent.append(html("p", { class: "note" }, "Lost: the first frame never came. A curve that ends below 100% lacks them, and the percentiles are of the others."));
}
function launchPanel(parent) {
  ecdf(parent, "launch latency by kind", Object.entries(KINDS).map(([kind, [colour, dash]]) => [kind, colour, dash, run().launches.filter((one) => one.kind === kind)]));
}
function causesPanel(parent) {
  const counts = new Map();
  for (const { group, band, want } of run().kills) {
    const key = `${group} · ${band}`, row = counts.get(key) || { group, band: ` · band ${band || "unknown"}`, want, count: 0 };
    counts.set(key, row);
    row.count += 1;
  }
  const rows = [...counts.values()].sort((a, b) => b.count - a.count);
  if (!rows.length) return parent.append(html("p", { class: "note" }, "Nobody was ended by the system."));
  const shown = rows.slice(0, 10);
  panel(parent, "terminations by cause and band", shown.length * 34 + 8, (root, width) => {
    shown.forEach(({ group, band, want, count }, index) => {
      svg(root, "text", { x: 2, y: index * 34 + 13 }, clip(group, Math.max(12, Math.floor(width / 6.4) - band.length)) + band);
      svg(root, "rect", { x: 2, y: index * 34 + 18, width: Math.max(2, (width - 60) * count / rows[0].count), height: 10, fill: want ? WANT : "#56B4E9", stroke: "#666", "stroke-width": 0.5 });
      svg(root, "text", { x: 8 + Math.max(2, (width - 60) * count / rows[0].count), y: index * 34 + 27 }, String(count));
    });
  });
  if (rows.length > shown.length) parent.append(html("p", { class: "note" }, `${rows.length - shown.length} further causes are left out.`));
}
function sizesPanel(parent) {
  const known = run().kills.filter((kill) => kill.footprint !== null && kill.idle !== null);
  if (!known.length) return;
  parent.append(html("p", { class: "note" }, "Footprint against time off screen at each termination; click one to read why." + (known.some((kill) => kill.want) ? " Pink: an allocation found no room." : "")));
  panel(parent, "footprint against time off screen", 230, (root, width) => {
    const left = 56, right = width - 14, bottom = 190, high = Math.max(...known.map((kill) => kill.footprint)) * 1.1;
    const x = logAxis(root, 0.1, Math.max(10, ...known.map((kill) => kill.idle)) * 1.3, left, right, bottom, "off screen before it was ended");
    for (const size of roundValues(high, 1, 2)) svg(root, "text", { x: left - 5, y: bottom - size / high * (bottom - 12) + (size ? 4 : 0), "text-anchor": "end", class: "quiet" }, bytes(size));
    known.forEach((kill) => {
      const mark = svg(root, "circle", { cx: x(kill.idle), cy: bottom - kill.footprint / high * (bottom - 12), r: 4, fill: "#56B4E9cc", stroke: kill.want ? WANT : "#222", "stroke-width": kill.want ? 2 : 0.7, class: "kill" });
      mark.addEventListener("pointermove", (event) => showTip(event, ...killText(kill, 5)));
      mark.addEventListener("pointerleave", hideTip);
      mark.addEventListener("click", () => pin(kill));
    });
  });
}

// --- Tables -------------------------------------------------------------------------------------------------------

function decisionsTable(parent) {
  const rows = run().decisions;
  const leftOut = run().decisionsLeftOut ? `${run().decisionsLeftOut} more decisions in decisions.csv` : "";
  if (!rows.length) return parent.append(html("p", { class: "note" }, `Nothing was done.${leftOut ? ` ${leftOut}.` : ""}`));
  const wanted = html("input", { type: "search", placeholder: "app, action or reason", "aria-label": "search decisions" });
  const only = html("input", { type: "checkbox", id: "only" });
  const body = html("tbody"), count = html("span", { class: "note" });
  const fill = () => {
    const text = wanted.value.toLowerCase();
    const found = rows.filter(([t, , action, app, reason, , , demand]) => (!only.checked || t >= view.t0 && t <= view.t1) && `${action} ${app} ${run().reasons[reason]} ${demand}`.toLowerCase().includes(text));
    count.textContent = `${found.length} of ${rows.length}${found.length > 300 ? ", the first 300 shown" : ""}${leftOut ? `; ${leftOut}` : ""}`;
    body.replaceChildren(...found.slice(0, 300).map(([t, number, action, app, reason, observed, threshold, demand, spared, measure]) => html("tr", {}, html("td", { class: "num" }, clock(t)), html("td", { class: "num" }, number), html("td", {}, action), html("td", {}, clip(app, 30)), html("td", { class: "wrap" }, run().reasons[reason]), html("td", {}, demand), html("td", { class: "num", title: measure }, measured(observed, measure)), html("td", { class: "num", title: measure }, measured(threshold, measure)), html("td", { class: "num" }, String(spared)))));
  };
  wanted.addEventListener("input", fill);
  only.addEventListener("change", fill);
  parent.append(html("div", { class: "tools" }, wanted, html("label", {}, only, " within the window above"), count),
    html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {}, ...["time", "no.", "action", "app", "why", "asked for", "observed", "threshold", "others"].map((head) => html("th", {}, head)))), body)));
  fill();
}
function headline(parent) {
  const box = html("div", { class: "figures" });
  for (const [label, value, bad] of run().headline) box.append(html("div", { class: bad ? "figure bad" : "figure" }, html("b", {}, value), html("span", {}, label)));
  parent.append(box);
}
function about(parent) {
  if (run().notes.length) parent.append(html("h2", {}, "What to know of this run"), html("ul", {}, ...run().notes.map((note) => html("li", {}, note))));
  const summary = html("table", {}, ...run().summary.map(([name, value]) => html("tr", {}, html("td", {}, name), html("td", { class: "num" }, value))));
  parent.append(html("details", {}, html("summary", {}, "Every metric"), html("div", { class: "scroll" }, summary)),
    html("details", {}, html("summary", {}, "Scenario as it was run"), html("pre", {}, run().scenario || "scenario.yaml is missing")),
    html("details", {}, html("summary", {}, "Manifest: host, versions, times"), html("pre", {}, run().manifest || "manifest.json is missing")));
}

// --- Several runs -------------------------------------------------------------------------------------------------

/** By run: the share of its launches whose first frame never came. */
const lostShares = new Map(DATA.runs.map((one) => [one, one.launches.length ? one.launches.filter((launch) => launch.ms === null).length / one.launches.length : 0]));
const leastLost = Math.min(...lostShares.values());
/** A latency of the launches that came is no merit of a run that lost more of them than others. */
const mayBeBest = (one, metric) => !DATA.ofLaunchesThatCame.includes(metric) || lostShares.get(one) <= leastLost;
/** A metric's value, or a mean of it, in its unit. */
const inUnit = (value, unit) => unit === "ms" ? span(value / 1000) : unit === "s" ? span(value) : unit === "byte" ? bytes(value) : unit === "1" ? `${(100 * value).toFixed(1)}%` : String(Number.isInteger(value) ? value : +value.toPrecision(4));
const runLook = (index) => [RUNS[index % RUNS.length], DASHES[Math.floor(index / RUNS.length) % 4]];
function compare(parent) {
  const names = DATA.metrics;
  parent.append(html("h2", {}, `${DATA.runs.length} runs side by side`), html("p", { class: "note" }, "The best of each column is marked; click a run to look into it.", DATA.runs.every((one) => mayBeBest(one, DATA.ofLaunchesThatCame[0])) ? null : " Latencies with a * are of the launches that came, where more were lost than in other runs: they are no merit."));
  const best = names.map(([name, , better]) => better ? Math[better === "low" ? "min" : "max"](...DATA.runs.filter((one) => mayBeBest(one, name)).map((one) => one.values[name]).filter((value) => value !== null)) : null);
  const body = html("tbody", {}, ...DATA.runs.map((one, index) => html("tr", {}, html("td", {}, html("button", { onclick: () => choose(index) }, clip(one.label, 50))), ...names.map(([name, , , unit], column) => {
    const value = one.values[name];
    const text = value === null ? "" : inUnit(value, unit);
    const may = mayBeBest(one, names[column][0]);
    return html("td", { class: value !== null && may && value === best[column] ? "num best" : "num" }, may || !text ? text : `${text}*`);
  }))));
  parent.append(html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {}, html("th", {}, "run"), ...names.map(([, label]) => html("th", { class: "num" }, label)))), body)));
  const two = html("div", { class: "two" }), left = html("div"), right = html("div");
  parent.append(two);
  two.append(left, right);
  left.append(html("h2", {}, "Launch latency"));
  ecdf(left, "launch latency by run", DATA.runs.slice(0, 16).map((one, index) => [one.label, ...runLook(index), one.launches]));
  right.append(html("h2", {}, "What it costs, what it gains"));
  pareto(right);
  heat(parent);
}
/** Two metrics against each other; runs that no other run beats in both form the front. */
function pareto(parent) {
  const options = (chosen) => DATA.metrics.map(([name, label]) => html("option", { value: name, selected: name === chosen ? "" : null }, label));
  const across = html("select", { "aria-label": "across" }, ...options("launch_latency_p95_ms")), up = html("select", { "aria-label": "up" }, ...options("terminations_felt"));
  parent.append(html("div", { class: "tools" }, up, "against", across));
  const place = html("div");
  parent.append(place);
  panel(place, "two metrics against each other", 260, (root, width) => {
    const metric = (select) => DATA.metrics.find(([name]) => name === select.value);
    const [mx, my] = [metric(across), metric(up)];
    const points = DATA.runs.map((one, index) => ({ x: one.values[mx[0]], y: one.values[my[0]], index })).filter((point) => point.x !== null && point.y !== null);
    if (!points.length) return svg(root, "text", { x: width / 2, y: 120, "text-anchor": "middle" }, "no run has both");
    const left = 56, right = width - 16, bottom = 220;
    const scale = (values, low, high) => { const least = Math.min(...values), most = Math.max(...values), pad = (most - least) * 0.08 || Math.abs(most) * 0.1 || 1; return [(value) => low + (value - least + pad) / (most - least + 2 * pad) * (high - low), least, most]; };
    const [x, x0, x1] = scale(points.map((point) => point.x), left, right), [y, y0, y1] = scale(points.map((point) => point.y), bottom, 10);
    for (const value of new Set([x0, x1])) svg(root, "text", { x: x(value), y: bottom + 14, "text-anchor": "middle", class: "quiet" }, inUnit(value, mx[3]));
    for (const value of new Set([y0, y1])) svg(root, "text", { x: left - 4, y: y(value) + 4, "text-anchor": "end", class: "quiet" }, inUnit(value, my[3]));
    svg(root, "path", { d: `M${left} 8V${bottom}H${right}`, fill: "none", class: "axis" });
    svg(root, "text", { x: (left + right) / 2, y: bottom + 30, "text-anchor": "middle", class: "quiet" }, mx[1]);
    const sign = (better) => better === "high" ? -1 : 1;
    const beats = (a, b) => sign(mx[2]) * a.x <= sign(mx[2]) * b.x && sign(my[2]) * a.y <= sign(my[2]) * b.y && (a.x !== b.x || a.y !== b.y);
    const may = (point) => mayBeBest(DATA.runs[point.index], mx[0]) && mayBeBest(DATA.runs[point.index], my[0]);
    const rated = points.filter(may);
    const front = rated.filter((point) => !rated.some((other) => beats(other, point))).sort((a, b) => a.x - b.x || a.y - b.y);
    if (front.length > 1) svg(root, "path", { d: "M" + front.map((point) => `${x(point.x)} ${y(point.y)}`).join("L"), fill: "none", stroke: "#009E73", "stroke-width": 1.5 });
    for (const point of points) {
      const mark = svg(root, "circle", { cx: x(point.x), cy: y(point.y), r: 5, fill: may(point) ? runLook(point.index)[0] : "#fff", stroke: front.includes(point) ? "#222" : may(point) ? "#fff" : runLook(point.index)[0], "stroke-width": front.includes(point) || !may(point) ? 2 : 1, class: "kill" });
      mark.addEventListener("pointermove", (event) => showTip(event, html("b", {}, DATA.runs[point.index].label), html("div", {}, `${mx[1]} ${inUnit(point.x, mx[3])}`), html("div", {}, `${my[1]} ${inUnit(point.y, my[3])}`)));
      mark.addEventListener("pointerleave", hideTip);
      mark.addEventListener("click", () => choose(point.index));
    }
  });
  const redraw = view.panels[view.panels.length - 1];
  for (const select of [across, up]) select.addEventListener("change", () => redraw.render());
  parent.append(html("p", { class: "note" }, "Ringed and joined: no other run is as good in both and better in one.", DATA.runs.every((one) => mayBeBest(one, DATA.ofLaunchesThatCame[0])) ? null : " Hollow: its latency leaves out more lost launches than that of others, and is not rated."));
}
/** Runs that differ in two settings as a grid, the mean of a metric in each cell. */
function heat(parent) {
  const keys = DATA.varied;
  if (keys.length < 2) return;
  parent.append(html("h2", {}, "Two settings, one metric"));
  const select = (label, names, chosen) => html("select", { "aria-label": label }, ...names.map(([value, text]) => html("option", { value, selected: value === chosen ? "" : null }, text)));
  const pairs = keys.map((key) => [key, key]);
  const down = select("down", pairs, keys[0]), across = select("across", pairs, keys[1]), metric = select("metric", DATA.metrics.map(([name, label]) => [name, label]), "launch_latency_p95_ms");
  const place = html("div", { class: "scroll" });
  parent.append(html("div", { class: "tools" }, metric, "by", down, "and", across), place);
  const fill = () => {
    const [, , better, unit] = DATA.metrics.find(([name]) => name === metric.value);
    const order = (key) => [...new Set(DATA.runs.map((one) => one.settings[key] ?? ""))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const rows = order(down.value), columns = order(across.value);
    const mean = (row, column) => { const found = DATA.runs.filter((one) => (one.settings[down.value] ?? "") === row && (one.settings[across.value] ?? "") === column).map((one) => one.values[metric.value]).filter((value) => value !== null); return found.length ? found.reduce((a, b) => a + b, 0) / found.length : null; };
    const grid = rows.map((row) => columns.map((column) => mean(row, column)));
    const values = grid.flat().filter((value) => value !== null), low = Math.min(...values), high = Math.max(...values);
    const colour = (value) => { const share = high > low ? (value - low) / (high - low) : 0.5, bad = better === "high" ? 1 - share : share; return `background:hsl(205 60% ${96 - 52 * bad}%);color:${bad > 0.6 ? "#fff" : "#222"}`; };
    place.replaceChildren(html("table", {}, html("tr", {}, html("th", {}, `${down.value} \\ ${across.value}`), ...columns.map((column) => html("th", { class: "num" }, column))), ...rows.map((row, index) => html("tr", {}, html("th", {}, row), ...grid[index].map((value) => html("td", { class: "num", style: value === null ? null : colour(value) }, value === null ? "" : inUnit(value, unit)))))));
  };
  for (const one of [down, across, metric]) one.addEventListener("change", fill);
  fill();
}

// --- The page -----------------------------------------------------------------------------------------------------

function choose(index) {
  view.run = index;
  build();
  document.getElementById("one").scrollIntoView();
}
function build() {
  view.panels = [];
  view.pinned = [];
  view.t0 = 0;
  view.t1 = run().end;
  document.getElementById("title").textContent = DATA.title;
  document.getElementById("subtitle").textContent = DATA.subtitle;
  main.replaceChildren();
  if (DATA.runs.length > 1) compare(main);
  const section = html("section", { id: "one" });
  main.append(section);
  if (DATA.runs.length > 1) section.append(html("h2", {}, run().label), html("div", { class: "tools" }, html("label", {}, "look into ", html("select", { onchange: (event) => choose(+event.target.value) }, ...DATA.runs.map((one, index) => html("option", { value: index, selected: index === view.run ? "" : null }, one.label))))));
  headline(section);
  if (run().samples.t.length) {
    section.append(html("h2", {}, "Memory by app under the ceiling"), html("div", { class: "tools" }, html("span", { id: "window", class: "note" }, `0:00 to ${clock(run().end)}`), html("button", { onclick: () => zoom(0, run().end) }, "whole run"), html("span", { class: "note" }, "drag to zoom, double click to go back; hover a ✕ to see who, why, and who was spared; a number upon it counts those that ended together")));
    memoryPanel(section);
    section.append(html("div", { id: "pinned" }), html("h2", {}, "Memory available, warnings"));
    pressurePanel(section);
  } else section.append(html("div", { id: "pinned" }));
  if (run().lanes.length) { section.append(html("h2", {}, "States of apps and scenes")); lanesPanel(section); }
  const two = html("div", { class: "two" }), left = html("div"), right = html("div");
  section.append(two);
  two.append(left, right);
  left.append(html("h2", {}, "Launch latency by kind"));
  launchPanel(left);
  right.append(html("h2", {}, "Terminations by cause and band"));
  causesPanel(right);
  sizesPanel(right);
  section.append(html("h2", {}, "Decisions"));
  decisionsTable(section);
  about(section);
}
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; for (const one of view.panels) one.render(); } });
addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });
build();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
