// --- Pictures over time -------------------------------------------------------------------------------------------

const RIGHT = 12;
/** Room for the labels on the left, the same in all panels so that their times are one below the other. */
const leftOf = (width) => width < 560 ? 50 : Math.ceil(within(Math.max(0, ...run().lanes.map((lane) => widthOf(lane.app))) + 10, 62, 180));
/** A panel whose horizontal axis is the shared window of time. `draw(frame)` paints; `says(t, y)` explains a place. */
function timePanel(parent, name, height, draw, says) {
  const holder = html("div", { class: "panel" });
  parent.append(holder);
  const panel = { holder, frame: null, render() {
    const width = Math.max(280, holder.clientWidth);
    const tall = typeof height === "function" ? height(width) : height;
    const root = document.createElementNS(SVG, "svg");
    for (const [key, value] of [["viewBox", `0 0 ${width} ${tall}`], ["height", tall], ["role", "img"], ["aria-label", name]]) root.setAttribute(key, value);
    const left = leftOf(width), bottom = tall - 22;
    const x = (t) => left + (t - view.t0) / (view.t1 - view.t0) * (width - left - RIGHT);
    const clipId = "clip-" + name.replace(/\W/g, "-");
    const box = svg(svg(root, "defs"), "clipPath", { id: clipId });
    svg(box, "rect", { x: left, y: 0, width: width - left - RIGHT, height: tall });
    for (const t of ticks(view.t0, view.t1, width < 560 ? 4 : 9)) {
      const half = widthOf(clock(t)) / 2 + 1;
      svg(root, "line", { x1: x(t), x2: x(t), y1: 0, y2: bottom, class: "axis" });
      svg(root, "text", { x: Math.min(x(t), width - half), y: tall - 6, "text-anchor": "middle", class: "quiet" }, clock(t));
    }
    const paint = svg(root, "g", { "clip-path": `url(#${clipId})` });
    panel.frame = { root, paint, x, left, right: width - RIGHT, bottom, width, marks: [] };
    draw(panel.frame);
    const line = svg(root, "line", { y1: 0, y2: bottom, stroke: INK, "stroke-dasharray": "2 2", visibility: "hidden", "pointer-events": "none" });
    panel.band = svg(root, "rect", { y: 0, height: bottom, fill: "#0072b233", visibility: "hidden", "pointer-events": "none" });
    panel.mark = (t) => {
      if (t === null || t < view.t0 || t > view.t1) return line.setAttribute("visibility", "hidden");
      line.setAttribute("x1", x(t)); line.setAttribute("x2", x(t)); line.setAttribute("visibility", "visible");
    };
    holder.replaceChildren(root);
  } };
  view.panels.push(panel);
  panel.render();
  follow(panel, says);
}
const markAll = (t) => { for (const panel of view.panels) panel.mark(t); };
/** Where in the panel an event is. */
function placeIn(panel, event) {
  const { root, left, right, width } = panel.frame, box = root.getBoundingClientRect();
  const px = within((event.clientX - box.left) * width / box.width, left, right);
  return { px, t: view.t0 + (px - left) / (right - left) * (view.t1 - view.t0), y: event.clientY - box.top };
}
/** The nearest mark of kills that a finger may have meant. */
function markNear(panel, { px, y }) {
  const far = (mark) => Math.max(Math.abs(mark.x - px) / 22, Math.abs(mark.y - y) / 26);
  return panel.frame.marks.filter((mark) => far(mark) <= 1).sort((a, b) => far(a) - far(b))[0];
}
/** Says what is at the place: the kills of a mark, or the panel's own words. */
function speak(panel, says, event, place) {
  markAll(place.t);
  const near = event.target.closest && event.target.closest(".kill");
  const content = near ? killsText(near.dataset.kill.split(",").map((index) => run().kills[index]), 4, 8) : says(place.t, place.y);
  if (content) showTip(event, ...content); else hideTip();
}
/** Hover shows and links, a horizontal drag zooms, a double click resets. Fingers have their own ways. */
function follow(panel, says) {
  let from = null;
  const { holder } = panel;
  holder.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const place = placeIn(panel, event);
    if (from !== null && Math.abs(place.px - from.px) > 4) {
      panel.band.setAttribute("x", Math.min(place.px, from.px)); panel.band.setAttribute("width", Math.abs(place.px - from.px)); panel.band.setAttribute("visibility", "visible");
    }
    speak(panel, says, event, place);
  });
  holder.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "touch") return;
    hideTip(); markAll(null);
    from = null;
    panel.band.setAttribute("visibility", "hidden");
  });
  holder.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") from = placeIn(panel, event); });
  holder.addEventListener("pointerup", (event) => {
    if (event.pointerType === "touch") return;
    const start = from, stop = placeIn(panel, event);
    from = null;
    panel.band.setAttribute("visibility", "hidden");
    if (start && Math.abs(stop.px - start.px) > 8) zoom(Math.min(start.t, stop.t), Math.max(start.t, stop.t));
  });
  holder.addEventListener("dblclick", () => zoom(0, run().end));
  // Two fingers on a touchpad come as a wheel with the control key.
  holder.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomBy(Math.exp(event.deltaY / 100), placeIn(panel, event).t);
  }, { passive: false });
  touch(panel, says);
}
/** Two fingers zoom, one that moves sideways shifts the window or reads along, a tap chooses a kill or reads. */
function touch(panel, says) {
  const fingers = new Map();
  let start = null, moved = false, next = null;
  const begin = () => { start = { t0: view.t0, t1: view.t1, at: [...fingers.values()].map((finger) => ({ x: finger.clientX, t: placeIn(panel, finger).t })) }; };
  const perform = () => {
    const act = next;
    next = null;
    if (act) act();
  };
  const soon = (act) => { if (!next) requestAnimationFrame(perform); next = act; };
  panel.holder.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    // The picture under the finger is drawn anew while it moves.
    try { panel.holder.setPointerCapture(event.pointerId); } catch { /* A finger that is gone already. */ }
    moved = fingers.size > 0;
    fingers.set(event.pointerId, event);
    hideTip();
    begin();
  });
  panel.holder.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch" || !fingers.has(event.pointerId) || !start) return;
    const first = start.at[0];
    fingers.set(event.pointerId, event);
    const [a, b] = [...fingers.values()].map((finger) => finger.clientX), wide = panel.frame.right - panel.frame.left;
    const box = panel.frame.root.getBoundingClientRect(), left = box.left + panel.frame.left * box.width / panel.frame.width;
    if (b !== undefined && start.at[1]) {
      moved = true;
      const scale = (start.at[1].t - first.t) / (b - a);
      if (Math.abs(b - a) > 12 && scale > 0) soon(() => zoom(first.t - (a - left) * scale, first.t - (a - left) * scale + wide * scale));
    } else if (moved || Math.abs(a - first.x) > 8) {
      moved = true;
      if (start.t1 - start.t0 >= run().end) speak(panel, says, event, placeIn(panel, event));
      else { const shift = (first.x - a) * (start.t1 - start.t0) / wide; soon(() => slide(start.t0 + shift, start.t1 + shift)); }
    }
  });
  const end = (event) => {
    if (event.pointerType !== "touch" || !fingers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && !moved && !fingers.size) tap(panel, says, event);
    if (fingers.size) begin(); else { start = null; if (event.type === "pointercancel") { hideTip(); markAll(null); } }
  };
  panel.holder.addEventListener("pointerup", end);
  panel.holder.addEventListener("pointercancel", end);
}
function tap(panel, says, event) {
  const place = placeIn(panel, event), mark = markNear(panel, place);
  if (mark) { markAll(null); pin(mark.places, true); } else speak(panel, says, { pointerType: "touch", target: panel.holder, clientX: event.clientX, clientY: event.clientY }, place);
}
/** Shows this window of time in all panels. */
function zoom(t0, t1) {
  const least = Math.min(0.05, run().end);
  if (t1 - t0 < least) { t0 = (t0 + t1 - least) / 2; t1 = t0 + least; }
  view.t0 = within(t0, 0, run().end - least); view.t1 = within(t1, view.t0 + least, run().end);
  redraw();
}
/** The same length of time elsewhere. */
function slide(t0, t1) {
  const length = Math.min(t1 - t0, run().end), start = within(t0, 0, run().end - length);
  zoom(start, start + length);
}
/** Zooms by the factor around a time; the chosen kill if it is in view, else the middle. */
function zoomBy(factor, around) {
  const chosen = view.kills.map((place) => run().kills[place].t).find((t) => t >= view.t0 && t <= view.t1);
  const t = around ?? chosen ?? (view.t0 + view.t1) / 2, length = Math.min(run().end, (view.t1 - view.t0) * factor);
  const t0 = t - (t - view.t0) * length / (view.t1 - view.t0);
  slide(t0, t0 + length);
}
/** Moves the window if the time is outside of it. */
function showInstant(t) {
  const length = view.t1 - view.t0;
  if (t < view.t0 || t > view.t1) slide(t - length / 2, t + length / 2);
}
function redraw() {
  hideTip();
  const label = document.getElementById("window");
  if (label) label.textContent = windowText();
  for (const panel of view.panels) panel.render();
  for (const fill of view.tables) fill();
  remember();
}
const windowText = () => `${clock(view.t0)} to ${clock(view.t1)} of ${clock(run().end)}`;
/** All apps of a run, by name. */
const appsOf = (one) => [...new Set([...one.lanes.map((lane) => lane.app), ...one.kills.map((kill) => kill.app), ...one.launches.map((launch) => launch.app)])].sort();
/** Shows one app among the others: its layer, its lane, its decisions. */
function chooseApp(app) {
  view.app = app === view.app ? "" : app;
  const select = document.getElementById("app");
  if (select) select.value = view.app;
  greyOthers();
  const search = document.getElementById("search");
  if (search) search.value = view.app;
  redraw();
}
/** Outside the pictures, too, what belongs to other apps than the chosen one is pale. */
function greyOthers() {
  for (const node of document.querySelectorAll(".legend button, .loss, .rest li")) node.classList.toggle("pale", view.app !== "" && node.dataset.app !== view.app);
  for (const key of document.querySelectorAll(".legend button, .loss .name")) key.setAttribute("aria-pressed", String(key.dataset.app === view.app));
}
/** The window, its buttons and the chosen app; it stays on the screen while the pictures scroll. */
function timeBar() {
  const button = (text, label, act) => html("button", { "aria-label": label, title: label, onclick: act }, text);
  const step = (share) => { const length = (view.t1 - view.t0) * share; slide(view.t0 + length, view.t1 + length); };
  const apps = html("select", { id: "app", "aria-label": "app", onchange: () => { view.app = ""; chooseApp(apps.value); } }, html("option", { value: "" }, "all apps"), ...appsOf(run()).map((app) => html("option", { value: app, selected: app === view.app ? "" : null }, clip(app, 40))));
  return html("div", { class: "tools bar" }, html("span", { id: "window", class: "note" }, windowText()), html("span", { class: "group" }, button("+", "zoom in", () => zoomBy(0.5)), button("−", "zoom out", () => zoomBy(2)), button("◀", "earlier", () => step(-0.5)), button("▶", "later", () => step(0.5)), button("whole run", "the whole run", () => zoom(0, run().end))), apps);
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
const NAME_ROW = 14;
/** Rows above the marks that are kept free for names. */
const nameRows = () => run().kills.length ? 2 : 0;
/** What a mark may be called, the longest first; apps that the user missed come first. */
function markNames(kills) {
  const apps = [...new Set([...kills].sort((a, b) => (b.felt !== "") - (a.felt !== "")).map((kill) => kill.app))], first = clip(apps[0], 24);
  const whose = new Set(kills.map((kill) => kill.for || "")), [one] = whose;
  if (apps.length === 1) return whose.size === 1 && one && one !== apps[0] ? [`${first}, for ${clip(one, 24)}`, first] : [first];
  return [apps.map((app) => clip(app, 24)).join(", "), `${first} and ${apps.length - 1} more`, `${first} +${apps.length - 1}`];
}
/** Where a name fits above its mark: upon no other name, and upon no line from a mark to a name above. */
function roomFor(frame, { x, isFelt }, text, placed) {
  const wide = widthOf(text) * (isFelt ? 1.12 : 1) + 6, from = within(x - wide / 2, frame.left, Math.max(frame.left, frame.right - wide)), to = from + wide;
  const meets = (row) => (one) => row === one.row ? from < one.to && to > one.from : row > one.row ? x + 2 > one.from && x - 2 < one.to : one.x + 2 > from && one.x - 2 < to;
  const row = to > frame.right + 1 ? -1 : Array.from({ length: nameRows() }, (_, number) => number).findIndex((one) => !placed.some(meets(one)));
  return row < 0 ? null : { x, from, to, row, text };
}
/** Names above the marks, those of missed apps first; a mark of several says as many of them as there is room for. */
function nameMarks(frame, marks, y) {
  const order = [...marks].sort((a, b) => b.isFelt - a.isFelt || a.x - b.x), placed = new Map();
  for (const mark of order) {
    const short = roomFor(frame, mark, markNames(mark.kills).at(-1), [...placed.values()]);
    if (short) placed.set(mark, short);
  }
  for (const mark of order.filter((one) => placed.has(one))) {
    const others = [...placed].flatMap(([one, place]) => one === mark ? [] : [place]);
    const found = markNames(mark.kills).slice(0, -1).map((text) => roomFor(frame, mark, text, others)).find(Boolean);
    if (found) placed.set(mark, found);
  }
  for (const [{ node, isFelt }, { x, from, row, text }] of placed) {
    const base = y - NAME_ROW * row;
    if (row) svg(node, "line", { x1: x, x2: x, y1: base + 3, y2: y + 3, stroke: QUIET, "stroke-width": 0.6 });
    svg(node, "text", { x: from + 3, y: base, class: "called", "font-weight": isFelt ? 700 : 400 }, text);
  }
}
/** The colour of an end's cross. On the disc of an end that the user missed it is that of the paper. */
const crossOf = (kind) => ({ felt: PAPER, unfelt: QUIET })[kind] || INK;
/** A cross for each kill, or one for several with their number upon it, upon a disc if the user missed any of them; names above. */
function killMarks(frame, y) {
  const marks = [];
  for (const group of killGroups(frame)) {
    const kills = group.map((one) => one.kill), places = group.map((one) => one.index), x = (group[0].x + group[group.length - 1].x) / 2;
    const names = kills.length === 1 ? kills[0].app : `${kills.length} apps, ${kills.map((kill) => kill.app).join(", ")},`;
    const mark = svg(frame.paint, "g", { class: "kill", tabindex: 0, role: "button", "aria-label": `${names} ended at ${clock(kills[0].t)}` });
    mark.dataset.kill = places.join(",");
    mark.classList.toggle("chosen", isChosen(mark));
    mark.classList.toggle("faint", view.app !== "" && !kills.some((kill) => kill.app === view.app));
    for (const at of new Set(group.map((one) => one.x))) svg(mark, "line", { x1: at, x2: at, y1: y + 6, y2: frame.bottom, stroke: INK, "stroke-width": 0.7, "stroke-dasharray": "1 3" });
    svg(mark, "rect", { x: x - 6, y: y - 18, width: 12, height: 26, fill: "transparent" });
    const isFelt = kills.some((kill) => kill.mark === "felt");
    if (isFelt) svg(mark, "circle", { cx: x, cy: y, r: 6.5, fill: INK });
    svg(mark, "path", { d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`, stroke: crossOf(isFelt ? "felt" : kills[0].mark), "stroke-width": 1.8, fill: "none", "pointer-events": "all" });
    if (kills.length > 1) svg(mark, "text", { x, y: y - 8, "text-anchor": "middle", "font-weight": "bold" }, String(kills.length));
    frame.marks.push({ x, y, places });
    marks.push({ x, kills, node: mark, isFelt });
    mark.addEventListener("click", () => pin(places, true));
    mark.addEventListener("focus", () => { if (mark.matches(":focus-visible")) pin(places); });
    mark.addEventListener("keydown", (event) => { if (event.key === "Enter") pin(places, true); });
  }
  nameMarks(frame, marks, y - 22);
}
/** Layers of memory over time. Below a ceiling, it and the thresholds are drawn; without one the layers are footprints. */
function stackPanel(parent, name, height, layers, isUnder) {
  const sums = new Float64Array(run().samples.t.length);
  for (const layer of layers) sums.forEach((_, index) => { sums[index] += layer.bytes[index]; });
  const most = sums.reduce((a, b) => Math.max(a, b), 0);
  const high = () => (isUnder ? Math.max(run().ceiling || 0, ...run().samples.resident) : most) * 1.06 || 1;
  const named = NAME_ROW * nameRows(), top = 34 + named, flash = isUnder ? [] : run().flash, appNames = new Set(appsOf(run()));
  let frame = null;
  const y = (value) => frame.bottom - value / high() * (frame.bottom - top);
  timePanel(parent, name, height + named, (given) => {
    frame = given;
    // An app without a layer of its own is in the one of the small apps. Where no layer is an app's, none is pale.
    const isAlone = layers.some((layer) => layer.name === view.app), isOther = (layer) => view.app !== "" && layer.name !== view.app && (isAlone || appNames.has(layer.name));
    shades(frame, top);
    const times = run().samples.t;
    const base = Float64Array.from(sums);
    for (const layer of [...layers].reverse()) {
      const d = steps(frame, times, base, y, frame.bottom);
      // Each layer lies upon those above it, down to the bottom: no colour of theirs may shine through a pale one.
      if (isOther(layer)) svg(frame.paint, "path", { d, fill: PAPER });
      svg(frame.paint, "path", { d, fill: layer.colour, stroke: "var(--seam)", "stroke-width": 0.4, class: isOther(layer) ? "faded" : "" });
      base.forEach((_, index) => { base[index] -= layer.bytes[index]; });
    }
    if (flash.length) for (const [stroke, width] of [[PAPER, 3.4], ["var(--flash)", 1.8]]) svg(frame.paint, "path", { d: steps(frame, times, flash, y), fill: "none", stroke, "stroke-width": width });
    const size = high() >= 2 * GIB ? GIB : MIB, step = 2 ** Math.ceil(Math.log2(high() / size / (height < 300 ? 4 : 6)));
    for (let value = 0; value <= high() / size; value += step) svg(frame.root, "text", { x: frame.left - 6, y: y(value * size) + 4, "text-anchor": "end", class: "quiet" }, `${value}${value ? size === GIB ? " GiB" : "" : ""}`);
    svg(frame.root, "text", { x: 2, y: top - 4, class: "quiet" }, [size === GIB ? "" : "MiB", (run().scale || 1) === 1 ? "" : `model 1:${+(1 / run().scale).toPrecision(3)}`].filter(Boolean).join(", "));
    for (const [level, resident] of Object.entries(isUnder ? run().thresholds : {})) {
      svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(resident), y2: y(resident), stroke: PAPER, "stroke-width": 3 });
      svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(resident), y2: y(resident), stroke: LEVELS[level], "stroke-width": 1.6, "stroke-dasharray": "7 3" });
    }
    if (isUnder && run().ceiling) {
      svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(run().ceiling), y2: y(run().ceiling), stroke: INK, "stroke-width": 2 });
      svg(frame.root, "text", { x: frame.right - 4, y: y(run().ceiling) - 4, "text-anchor": "end", "font-weight": 700 }, `ceiling ${bytes(run().ceiling)}`);
    }
    for (const [t0, t1, level] of run().levels) svg(frame.paint, "rect", { x: frame.x(t0), width: Math.max(0.5, frame.x(t1) - frame.x(t0)), y: 0, height: 8, fill: LEVELS[level] || FILL });
    killMarks(frame, 26 + named);
  }, (t, py) => {
    const index = at(run().samples.t, t);
    if (index < 0) return null;
    const value = (frame.bottom - py) / (frame.bottom - top) * high();
    let sum = 0, hit = null;
    const rows = [];
    for (const layer of layers) {
      if (value > sum && value <= sum + layer.bytes[index]) hit = layer.name;
      sum += layer.bytes[index];
      if (layer.bytes[index] > 0) rows.push([layer.name, layer.bytes[index]]);
    }
    const list = html("ul");
    for (const [name, size] of rows.sort((a, b) => b[1] - a[1]).slice(0, 8)) list.append(html("li", {}, name === hit ? html("b", {}, `${name} ${bytes(size)}`) : `${name} ${bytes(size)}`));
    const level = run().levels.find(([t0, t1]) => t >= t0 && t < t1);
    const sizes = isUnder ? `${bytes(run().samples.resident[index])} resident, ${bytes(run().samples.available[index])} available` : `${bytes(sums[index])} of footprints${flash.length ? `, ${bytes(flash[index])} of it on flash` : ""}`;
    return [html("b", {}, `${clock(t)}  ${sizes}`), html("div", {}, level ? `pressure ${level[2]}` : ""), list];
  });
}
/** On a device with a compressor two panels: footprints, which count compressed pages, and what is in RAM. */
function memoryPanel(parent) {
  const parts = run().ram;
  stackPanel(parent, parts.length ? "footprints by app" : "memory by app", parts.length ? 300 : 340, run().layers, !parts.length);
  const key = (layer) => html("span", {}, html("i", { style: `background:${layer.colour}` }), layer.name);
  const legend = html("div", { class: "legend" });
  for (const layer of [...run().layers].reverse()) legend.append(appsOf(run()).includes(layer.name) ? html("button", { "aria-pressed": String(layer.name === view.app), "data-app": layer.name, onclick: () => chooseApp(layer.name) }, html("i", { style: `background:${layer.colour}` }), layer.name) : key(layer));
  if (run().flash.length) legend.append(key({ name: "on flash: a part of these", colour: "var(--flash)" }));
  let last = legend;
  if (parts.length) {
    parent.append(legend, html("h2", {}, "In RAM, under the ceiling"));
    stackPanel(parent, "in RAM", 190, parts, true);
    last = html("div", { class: "legend" });
    for (const layer of [...parts].reverse()) last.append(key(layer));
  }
  for (const level of ["warning", "critical"]) if (run().thresholds[level]) last.append(html("span", {}, html("i", { style: `background:${LEVELS[level]}` }), `${level} from ${bytes(run().thresholds[level])}`));
  last.append(...endKeys(run().kills.map((kill) => kill.mark)));
  parent.append(last);
}
function pressurePanel(parent) {
  let frame = null;
  const samples = run().samples, ceiling = run().ceiling || 1;
  const high = Math.min(1, Math.max(0.05, ...samples.available.map((value) => value / ceiling)) * 1.05);
  const y = (share) => frame.bottom - share / high * (frame.bottom - 8);
  timePanel(parent, "memory available", 150, (given) => {
    frame = given;
    shades(frame, 0);
    svg(frame.paint, "path", { d: steps(frame, samples.t, samples.available.map((value) => value / ceiling), y), fill: "none", stroke: "var(--run-0)", "stroke-width": 1.5 });
    for (const [level, resident] of Object.entries(run().thresholds)) svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(1 - resident / ceiling), y2: y(1 - resident / ceiling), stroke: LEVELS[level], "stroke-width": 1.5, "stroke-dasharray": "7 3" });
    for (const share of roundValues(high, 0.01, 10)) svg(frame.root, "text", { x: frame.left - 6, y: Math.max(10, y(share) + 4), "text-anchor": "end", class: "quiet" }, `${Math.round(share * 100)}%`);
    for (const [index, stall] of run().stalls.entries()) svg(frame.paint, "path", { d: steps(frame, samples.t, stall.values, y), fill: "none", stroke: stallLook(index)[0], "stroke-dasharray": stallLook(index)[1] });
    for (const [t, app, level] of run().warnings) if (t >= view.t0 && t <= view.t1) svg(frame.paint, "path", { d: `M${frame.x(t) - 3} ${frame.bottom}l3 -6l3 6z`, fill: LEVELS[level] || LEVELS.warning, class: view.app && view.app !== app ? "faded" : "" });
  }, (t) => {
    const index = at(samples.t, t);
    if (index < 0) return null;
    const width = (view.t1 - view.t0) / 150;
    const warned = run().warnings.filter(([when]) => Math.abs(when - t) < width).slice(0, 6).map(([when, app, level]) => `▲ ${clock(when)} ${app} warned (${level})`);
    const stalls = run().stalls.map((stall) => `${stall.name} ${(100 * stall.values[index]).toFixed(1)}%`);
    return [html("b", {}, `${clock(t)}  ${(100 * samples.available[index] / ceiling).toFixed(1)}% available`), ...[...stalls, ...warned].map((text) => html("div", {}, text))];
  });
  const legend = html("div", { class: "legend" }, html("span", {}, html("i", { style: "background:var(--run-0)" }), "available"), html("span", {}, "▲ an app was warned"));
  for (const [index, stall] of run().stalls.entries()) legend.append(html("span", {}, html("i", { style: `background:${stallLook(index)[0]}` }), `time stalled: ${stall.name}`));
  parent.append(legend);
}
/** The steps of the cores' times that the picture has room for: several as their mean where they are too narrow. */
function coreSteps(frame) {
  const { t: times, step, classes } = run().cores, room = (frame.right - frame.left) / 2;
  const each = Math.max(1, Math.ceil((view.t1 - view.t0) / step / room));
  const mean = (values) => times.flatMap((_, index) => index % each ? [] : [values.slice(index, index + each).reduce((sum, value, _, all) => sum + value / all.length, 0)]);
  return { t: times.filter((_, index) => index % each === 0), step: step * each,
    classes: each === 1 ? classes : classes.map((one) => ({ ...one, given: mean(one.given), waiting: one.waiting.length ? mean(one.waiting) : [] })) };
}
/** The share of the cores that each class was given, below it the pieces of work that waited, above it the launches. */
function coresPanel(parent) {
  const { count, classes } = run().cores, waits = classes.some((one) => one.waiting.length);
  const most = (key) => Math.max(...shown.t.map((_, index) => shown.classes.reduce((sum, one) => sum + (one[key][index] || 0), 0)));
  let frame = null, shown = null, high = 1, deep = 1;
  const top = 14, tall = 110, low = waits ? 76 : 0;
  const shareY = (share) => top + tall - share / high * tall, waitY = (pieces) => top + tall + 12 + (low - 12) * (1 - pieces / deep / 1.05);
  const stack = (key, y) => {
    const base = new Float64Array(shown.t.length), layers = shown.classes.filter((one) => one[key].length);
    for (const one of layers) base.forEach((_, index) => { base[index] += one[key][index]; });
    for (const one of [...layers].reverse()) {
      svg(frame.paint, "path", { d: steps(frame, shown.t, base, y, y(0)), fill: CLASSES[one.name] });
      base.forEach((_, index) => { base[index] -= one[key][index]; });
    }
    svg(frame.paint, "line", { x1: frame.left, x2: frame.right, y1: y(0), y2: y(0), stroke: QUIET, "stroke-width": 0.7 });
  };
  timePanel(parent, "cores", top + tall + low + 22, (given) => {
    frame = given;
    shown = coreSteps(frame);
    high = [0.1, 0.25, 0.5].find((limit) => limit >= most("given") - 0.001) || 1;
    deep = Math.max(0.01, most("waiting"));
    stack("given", shareY);
    for (const part of [0, 0.5, 1]) svg(frame.root, "text", { x: frame.left - 6, y: shareY(part * high) + 4, "text-anchor": "end", class: "quiet" }, `${+(part * high * 100).toFixed(1)}%`);
    if (waits) {
      stack("waiting", waitY);
      for (const pieces of roundValues(deep, 10 ** Math.floor(Math.log10(deep) - 0.31), 10).slice(1)) svg(frame.root, "text", { x: frame.left - 6, y: waitY(pieces) + 4, "text-anchor": "end", class: "quiet" }, String(+pieces.toFixed(4)));
    }
    launchMarks(frame);
  }, (t) => {
    const index = at(shown.t, t), list = html("ul");
    if (index < 0) return null;
    for (const one of shown.classes) {
      const waiting = one.waiting[index] || 0;
      if (one.given[index] > 0 || waiting > 0) list.append(html("li", {}, `${one.name}: ${percent(one.given[index])}${waiting > 0 ? `, ${+waiting.toPrecision(2)} waiting` : ""}`));
    }
    const busy = shown.classes.reduce((sum, one) => sum + one.given[index], 0), near = 4 * (view.t1 - view.t0) / (frame.right - frame.left);
    const tapped = run().launches.filter((launch) => t >= launch.t - near && t <= launch.t + (launch.ms || 0) / 1000 + near).slice(0, 6);
    return [html("b", {}, `${clock(t)}  ${+(busy * count).toPrecision(2)} of ${count} ${count === 1 ? "core" : "cores"} busy`), ` (mean of ${seconds(shown.step)})`, list, ...tapped.map((launch) => html("div", {}, launchText(launch)))];
  });
  const legend = html("div", { class: "legend" });
  for (const one of [...classes].reverse()) legend.append(html("span", {}, html("i", { style: `background:${CLASSES[one.name]}` }), `${one.name} (${one.meaning}): worked ${seconds(one.givenAll)}${one.waitedAll ? `, waited ${seconds(one.waitedAll)}` : ""}`));
  if (run().launches.length) legend.append(html("span", {}, "━○ launch, from the tap to the first frame"));
  legend.append(html("span", {}, waits ? "below: how many pieces of work wait" : "no work waited for a core"));
  parent.append(legend);
}
/** A bar from each tap to the first frame, which is a circle; a launch that never came is a stroke. */
function launchMarks(frame) {
  for (const launch of run().launches) {
    const x = frame.x(launch.t), end = frame.x(launch.t + (launch.ms || 0) / 1000);
    if (end < frame.left || x > frame.right) continue;
    const mark = svg(frame.paint, "g", { class: view.app && view.app !== launch.app ? "launch faded" : "launch" });
    if (launch.ms === null) { svg(mark, "line", { x1: x, x2: x, y1: 2, y2: 10, stroke: QUIET, "stroke-width": 1.5 }); continue; }
    svg(mark, "line", { x1: x, x2: end, y1: 6, y2: 6, stroke: INK, "stroke-width": 1.6 });
    svg(mark, "circle", { cx: end, cy: 6, r: 2.6, fill: PAPER, stroke: INK, "stroke-width": 1.1 });
  }
}
const percent = (share) => `${+(100 * share).toPrecision(3)}%`;
const launchText = (launch) => `${launch.app}: ${launch.kind} launch, ${launch.ms === null ? launch.outcome : seconds(launch.ms / 1000)}${launch.wait ? `, waited ${seconds(launch.wait / 1000)} for a core` : ""}`;
const stallLook = (index) => [RUNS[[1, 4, 7, 6, 3, 5][index % 6]], DASHES[index % 3]];
/** The lane's end at this time as a kill's place, -1 if the app ended by itself. */
const killAt = (app, t) => run().kills.findIndex((kill) => kill.app === app && Math.abs(kill.t - t) < 1e-6);
function lanesPanel(parent) {
  // On a phone a name stands above its lane, whole; elsewhere beside it.
  const lanes = run().lanes, rowOf = (width) => width < 560 ? 30 : 16;
  let row = 16;
  timePanel(parent, "states", (width) => lanes.length * rowOf(width) + 28, (frame) => {
    row = rowOf(frame.width);
    const above = row - 16;
    lanes.forEach((lane, index) => {
      const y = index * row + 3 + above, isChosen = lane.app === view.app;
      const place = svg(frame.paint, "g", { class: view.app && !isChosen ? "faded" : "" });
      if (isChosen) svg(place, "rect", { x: 0, y: index * row, width: frame.width, height: row, fill: FILL });
      for (const [t0, t1, state] of lane.spans) if (t1 >= view.t0 && t0 <= view.t1) svg(place, "rect", { x: frame.x(t0), y, width: Math.max(0.6, frame.x(t1) - frame.x(t0)), height: 8, fill: STATES[state] });
      lane.scenes.slice(0, 3).forEach((scene, number) => {
        for (const [t0, t1, state] of scene) if (t1 >= view.t0 && t0 <= view.t1) svg(place, "rect", { x: frame.x(t0), y: y + 9 + number * 1.7, width: Math.max(0.6, frame.x(t1) - frame.x(t0)), height: 1.4, fill: STATES[state] });
      });
      for (const [t, kind] of lane.ends) if (t >= view.t0 && t <= view.t1) laneEnd(frame, place, lane, t, kind, y);
      for (const t of lane.warned) if (t >= view.t0 && t <= view.t1) svg(place, "path", { d: `M${frame.x(t) - 3} ${y + 7}l3 -6l3 6z`, fill: "#FFE14D", stroke: "#222", "stroke-width": 0.5, "pointer-events": "none" });
      const most = above ? 60 : 40, name = svg(frame.root, "text", { x: above ? 4 : frame.left - 4, y: above ? y - 4 : y + 8, "text-anchor": above ? "start" : "end", class: view.app && !isChosen ? "lane faded" : "lane", "font-weight": isChosen ? 700 : 400 }, clip(lane.app, most));
      // A name that is longer than the room for it is drawn closer, not cut.
      const room = above ? frame.width - 8 : frame.left - 6;
      if (widthOf(clip(lane.app, most)) > room) { name.setAttribute("textLength", room); name.setAttribute("lengthAdjust", "spacingAndGlyphs"); }
      name.addEventListener("click", () => chooseApp(lane.app));
    });
  }, (t, y) => {
    const lane = lanes[Math.floor((y - 1) / row)];
    if (!lane) return null;
    const state = lane.spans.find(([t0, t1]) => t >= t0 && t < t1);
    const launch = [...run().launches].reverse().find((one) => one.app === lane.app && one.t <= t);
    return [html("b", {}, lane.app), ` at ${clock(t)}: ${state ? `${state[2]} since ${clock(state[0])}` : "not running"}`, launch ? html("div", {}, `last launched at ${clock(launch.t)}: ${launch.kind}, ${launch.ms === null ? launch.outcome : seconds(launch.ms / 1000)}`) : null].filter(Boolean);
  });
  const legend = html("div", { class: "legend" });
  const isFrozen = lanes.some((lane) => lane.spans.some(([, , state]) => state === "frozen"));
  for (const [state, colour] of Object.entries(STATES)) if (state !== "frozen" || isFrozen) legend.append(html("span", {}, html("i", { style: `background:${colour}` }), state));
  legend.append(html("span", {}, "thin lines: its scenes"), html("span", {}, "▲ warned"), ...endKeys(lanes.flatMap((lane) => lane.ends.map(([, kind]) => kind))));
  if (run().lanesLeftOut) legend.append(html("span", {}, `${run().lanesLeftOut} less eventful apps are left out`));
  parent.append(legend);
}
/** Kinds of ends, each with its sign and its name. */
const ENDS = { felt: ["⊗", "ended, and missed by the user"], unfelt: ["✕", "ended, not missed"], ended: ["✕", "ended"], crashed: ["★", "crashed"], left: ["|", "quit or done"] };
/** The legend of those kinds that there are. */
const endKeys = (kinds) => Object.entries(ENDS).filter(([kind]) => kinds.includes(kind)).map(([, words]) => html("span", {}, words.join(" ")));
/** An end in its lane: a cross, which tells what the cross above the memory tells; a star for a crash; a stroke if the process quit or was done. */
function laneEnd(frame, place, lane, t, kind, y) {
  const kill = killAt(lane.app, t), x = frame.x(t);
  const line = (d, look) => { for (const [stroke, more] of [[PAPER, 2], look]) svg(place, "path", { d, stroke, "stroke-width": 1.4 + more, fill: "none", "pointer-events": "none", class: `end-${kind}` }); };
  if (kind === "left") return line(`M${x} ${y - 1}v10`, [INK, 0]);
  if (kind === "crashed") return svg(place, "text", { x, y: y + 9, "text-anchor": "middle", class: "end-crashed" }, "★");
  const shape = `M${x - 3} ${y + 1}l6 6m0 -6l-6 6`;
  if (kind === "felt") svg(place, "circle", { cx: x, cy: y + 4, r: 5.5, fill: INK, stroke: PAPER, "pointer-events": "none" }); else line(shape, [crossOf(kind), 0]);
  const mark = svg(place, "path", { d: shape, stroke: crossOf(kind), "stroke-width": 1.6, fill: "none", "pointer-events": "all", class: `end-${kind}` });
  if (kill < 0) return;
  mark.classList.add("kill");
  mark.dataset.kill = kill;
  mark.classList.toggle("chosen", isChosen(mark));
  frame.marks.push({ x, y: y + 4, places: [kill] });
  mark.addEventListener("click", () => pin([kill], true));
}
