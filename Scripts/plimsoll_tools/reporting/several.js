// --- Several runs -------------------------------------------------------------------------------------------------

/** By run: the share of its launches whose first frame never came. */
const lostShares = new Map(DATA.runs.map((one) => [one, one.launches.length ? one.launches.filter((launch) => launch.ms === null).length / one.launches.length : 0]));
const leastLost = Math.min(...lostShares.values());
/** A latency of the launches that came is no merit of a run that lost more of them than others. */
const mayBeBest = (one, metric) => !DATA.ofLaunchesThatCame.includes(metric) || lostShares.get(one) <= leastLost;
/** A metric's value, or a mean of it, in its unit. */
const inUnit = (value, unit) => unit === "ms" ? seconds(value / 1000) : unit === "s" ? seconds(value) : unit === "byte" ? bytes(value) : unit === "1" ? `${(100 * value).toFixed(1)}%` : String(Number.isInteger(value) ? value : +value.toPrecision(4));
const runLook = (index) => [RUNS[index % RUNS.length], DASHES[Math.floor(index / RUNS.length) % 4]];
/** A cell that says how many of a run's expectations held. */
function claims(one) {
  if (!one.expectations.length) return null;
  const held = one.expectations.filter((claim) => claim[1]).length, open = one.expectations.some((claim) => claim[1] === null);
  const failed = one.expectations.filter((claim) => claim[1] === false).map(([claim, , observed]) => `${claim}: ${observed}`).join("; ");
  return html("td", { class: failed ? "bad" : null, title: failed || null }, open ? "not checked" : `${held} of ${one.expectations.length} held`);
}
function compare(parent) {
  const names = DATA.metrics;
  parent.append(html("h2", {}, `${DATA.runs.length} runs side by side`), html("p", { class: "note" }, "The best of each column is marked; click a run to look into it.", DATA.runs.every((one) => mayBeBest(one, DATA.ofLaunchesThatCame[0])) ? null : " Latencies with a * are of the launches that came, where more were lost than in other runs: they are no merit."));
  const best = names.map(([name, , better]) => better ? Math[better === "lower" ? "min" : "max"](...DATA.runs.filter((one) => mayBeBest(one, name)).map((one) => one.values[name]).filter((value) => value !== null)) : null);
  const body = html("tbody", {}, ...DATA.runs.map((one, index) => html("tr", {}, html("td", {}, html("button", { onclick: () => choose(index) }, clip(one.label, 50))), ...names.map(([name, , , unit], column) => {
    const value = one.values[name];
    const text = value === null ? "" : inUnit(value, unit);
    const may = mayBeBest(one, names[column][0]);
    return html("td", { class: value !== null && may && value === best[column] ? "num best" : "num" }, may || !text ? text : `${text}*`);
  }), claims(one))));
  parent.append(html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {}, html("th", {}, "run"), ...names.map(([, label]) => html("th", { class: "num" }, label)), DATA.runs.some((one) => one.expectations.length) ? html("th", {}, "expectations") : null)), body)));
  const two = html("div", { class: "two" }), left = html("div"), right = html("div");
  parent.append(two);
  two.append(left, right);
  left.append(html("h2", {}, "Launch latency"));
  ecdf(left, "launch latency by run", DATA.runs.slice(0, 16).map((one, index) => [one.label, ...runLook(index), one.launches]));
  // Without metrics nobody knows what to compare.
  if (!names.length) return;
  right.append(html("h2", {}, "What it costs, what it gains"));
  pareto(right);
  heat(parent);
}
/** Two metrics against each other; runs that no other run beats in both form the front. */
function pareto(parent) {
  const names = DATA.metrics.map(([name]) => name);
  const options = (key, usual) => DATA.metrics.map(([name, label]) => html("option", { value: name, selected: name === recalled(key, names, usual) ? "" : null }, label));
  const across = html("select", { "aria-label": "across" }, ...options("map-x", "launch_latency_p95_ms")), up = html("select", { "aria-label": "up" }, ...options("map-y", "terminations_felt"));
  parent.append(html("div", { class: "tools" }, up, "against", across));
  const place = html("div");
  parent.append(place);
  panel(place, "two metrics against each other", 260, (root, width) => {
    const metric = (select) => DATA.metrics.find(([name]) => name === select.value);
    const [mx, my] = [metric(across), metric(up)];
    const all = DATA.runs.map((one, index) => ({ x: one.values[mx[0]], y: one.values[my[0]], index })).filter((point) => point.x !== null && point.y !== null);
    if (!all.length) return svg(root, "text", { x: width / 2, y: 120, "text-anchor": "middle" }, "no run has both");
    const left = 56, right = width - 16, bottom = 220;
    const scale = (values, low, high) => { const least = Math.min(...values), most = Math.max(...values), pad = (most - least) * 0.08 || Math.abs(most) * 0.1 || 1; return [(value) => low + (value - least + pad) / (most - least + 2 * pad) * (high - low), least, most]; };
    const [x, x0, x1] = scale(all.map((point) => point.x), left, right), [y, y0, y1] = scale(all.map((point) => point.y), bottom, 10);
    for (const value of new Set([x0, x1])) svg(root, "text", { x: x(value), y: bottom + 14, "text-anchor": "middle", class: "quiet" }, inUnit(value, mx[3]));
    for (const value of new Set([y0, y1])) svg(root, "text", { x: left - 4, y: y(value) + 4, "text-anchor": "end", class: "quiet" }, inUnit(value, my[3]));
    svg(root, "path", { d: `M${left} 8V${bottom}H${right}`, fill: "none", class: "axis" });
    svg(root, "text", { x: (left + right) / 2, y: bottom + 30, "text-anchor": "middle", class: "quiet" }, mx[1]);
    const sign = (better) => better === "higher" ? -1 : 1;
    const beats = (a, b) => sign(mx[2]) * a.x <= sign(mx[2]) * b.x && sign(my[2]) * a.y <= sign(my[2]) * b.y && (a.x !== b.x || a.y !== b.y);
    const may = (point) => mayBeBest(DATA.runs[point.index], mx[0]) && mayBeBest(DATA.runs[point.index], my[0]);
    const rated = all.filter(may);
    const front = rated.filter((point) => !rated.some((other) => beats(other, point))).sort((a, b) => a.x - b.x || a.y - b.y);
    if (front.length > 1) svg(root, "path", { d: "M" + front.map((point) => `${x(point.x)} ${y(point.y)}`).join("L"), fill: "none", stroke: GOOD, "stroke-width": 1.5 });
    points(root, all.map((point) => {
      const at = { ...point, x: x(point.x), y: y(point.y), told: [html("b", {}, DATA.runs[point.index].label), html("div", {}, `${mx[1]} ${inUnit(point.x, mx[3])}`), html("div", {}, `${my[1]} ${inUnit(point.y, my[3])}`)] };
      at.node = svg(root, "circle", { cx: at.x, cy: at.y, r: 5, fill: may(point) ? runLook(point.index)[0] : PAPER, stroke: front.includes(point) ? INK : may(point) ? PAPER : runLook(point.index)[0], "stroke-width": front.includes(point) || !may(point) ? 2 : 1, class: "kill" });
      return at;
    }), ({ told }) => told, ({ index, told }, event) => { if (event.pointerType === "touch") showTip(event, ...told); else choose(index); });
  });
  const drawn = view.panels[view.panels.length - 1];
  for (const [select, key] of [[across, "map-x"], [up, "map-y"]]) select.addEventListener("change", () => { rememberMap(key, select.value); drawn.render(); });
  parent.append(html("p", { class: "note" }, "Ringed and joined: no other run is as good in both and better in one.", DATA.runs.every((one) => mayBeBest(one, DATA.ofLaunchesThatCame[0])) ? null : " Hollow: its latency leaves out more lost launches than that of others, and is not rated."));
}
/** Runs that differ in two settings as a grid, the mean of a metric in each cell. */
function heat(parent) {
  const keys = DATA.varied;
  if (keys.length < 2) return;
  const isNumber = (key) => DATA.orders[key].numeric;
  const numbers = keys.filter(isNumber), names = keys.filter((key) => !isNumber(key));
  // Of numbers a map shows a course, which names have not; seeds only if there is nothing else.
  const usual = numbers.filter((key) => key !== "seed").length > 1 ? numbers.filter((key) => key !== "seed") : keys;
  const options = (all, chosen) => all.map(([value, text]) => html("option", { value, selected: value === chosen ? "" : null }, text));
  const setting = (label, chosen) => html("select", { "aria-label": label }, ...[["numbers", numbers], ["names and switches", names]].filter(([, some]) => some.length).map(([title, some]) => html("optgroup", { label: title }, ...options(some.map((key) => [key, key]), chosen))));
  const first = recalled("map-down", keys, usual[0]), second = recalled("map-across", keys, usual.find((key) => key !== first));
  const down = setting("rows of the map", first), across = setting("columns of the map", second === first ? usual.find((key) => key !== first) : second);
  const metric = html("select", { "aria-label": "metric of the map" }, ...options(DATA.metrics.map(([name, label]) => [name, label]), recalled("map-metric", DATA.metrics.map(([name]) => name), "launch_latency_p95_ms")));
  const place = html("div", { class: "scroll" }), said = html("p", { class: "note" });
  parent.append(html("h2", {}, "Two settings, one metric"), html("div", { class: "tools" }, metric, "by", down, "and", across), place, said);
  const fill = () => {
    const [, , better, unit] = DATA.metrics.find(([name]) => name === metric.value);
    const of = (one, key) => one.settings[key] ?? "";
    const order = (key) => [...(DATA.runs.some((one) => of(one, key) === "") ? [""] : []), ...DATA.orders[key].values.filter((value) => value !== "")];
    const rows = order(down.value), columns = order(across.value);
    const found = (row, column) => DATA.runs.filter((one) => of(one, down.value) === row && of(one, across.value) === column).map((one) => one.values[metric.value]).filter((value) => value !== null);
    const grid = rows.map((row) => columns.map((column) => { const values = found(row, column); return { count: values.length, mean: values.length ? values.reduce((a, b) => a + b, 0) / values.length : null }; }));
    const values = grid.flat().map((cell) => cell.mean).filter((value) => value !== null), low = Math.min(...values), high = Math.max(...values);
    const colour = (value) => { const share = high > low ? (value - low) / (high - low) : 0.5, bad = better === "higher" ? 1 - share : share; return `background:hsl(205 60% ${96 - 52 * bad}%);color:${bad > 0.6 ? "#fff" : "#222"}`; };
    const cell = ({ mean, count }) => html("td", { class: "num", style: mean === null ? null : colour(mean), title: mean === null ? "no run" : `mean of ${count} ${count === 1 ? "run" : "runs"}` }, mean === null ? "" : inUnit(mean, unit));
    place.replaceChildren(html("table", { id: "map" }, html("tr", {}, html("th", {}, `${down.value} ↓ ${across.value} →`), ...columns.map((column) => html("th", { class: "num" }, column || "not set"))), ...rows.map((row, index) => html("tr", {}, html("th", {}, row || "not set"), ...grid[index].map(cell)))));
    const counts = [...new Set(grid.flat().map((one) => one.count).filter(Boolean))].sort((a, b) => a - b);
    said.textContent = counts.length ? `Each cell is the mean of ${counts.length > 1 ? `${counts[0]} to ${counts[counts.length - 1]}` : counts[0]} ${counts.length === 1 && counts[0] === 1 ? "run" : "runs"}${better ? "; the darker, the worse" : "; the darker, the more"}.` : "No run has this metric.";
  };
  const choose = (select, other, key) => {
    // One setting twice is no map: the other one takes what this one had.
    if (select !== metric && select.value === other.value) { other.value = select.dataset.before; rememberMap(other === down ? "map-down" : "map-across", other.value); }
    for (const one of [down, across]) one.dataset.before = one.value;
    rememberMap(key, select.value);
    fill();
  };
  for (const one of [down, across]) one.dataset.before = one.value;
  down.addEventListener("change", () => choose(down, across, "map-down"));
  across.addEventListener("change", () => choose(across, down, "map-across"));
  metric.addEventListener("change", () => choose(metric, null, "map-metric"));
  fill();
}
