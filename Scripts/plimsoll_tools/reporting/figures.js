// --- Pictures without time ----------------------------------------------------------------------------------------

/** A plain panel that is drawn anew when its width changes. */
function panel(parent, name, height, draw) {
  const holder = html("div", { class: "panel" });
  parent.append(holder);
  const own = { holder, mark() {}, render() {
    hideTip();
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
    svg(root, "text", { x: Math.min(at, right - 14), y: bottom + 14, "text-anchor": "middle", class: "quiet" }, seconds(value));
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
  for (const [label, colour, , values, total] of tapped) table.append(html("tr", {}, html("td", {}, html("i", { style: `display:inline-block;width:14px;height:3px;margin-right:6px;vertical-align:middle;background:${colour}` }), clip(label, 40)), ...[total, total - values.length, ...[0.5, 0.95, 0.99, 1].map((share) => values.length ? seconds(rank(values, share)) : "")].map((text) => html("td", { class: "num" }, String(text)))));
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
  if (!rows.length) return parent.append(html("p", { class: "note" }, "The system ended no process."));
  const shown = rows.slice(0, 10);
  parent.append(html("div", { class: "bars" }, ...shown.map(({ group, band, want, count }) => html("div", {}, html("div", {}, group + band), html("div", { class: "row" }, html("i", { style: `flex-basis:${(100 * count / rows[0].count).toFixed(1)}%;background:${want ? WANT : "var(--run-5)"}` }), html("b", {}, String(count)))))));
  if (rows.length > shown.length) parent.append(html("p", { class: "note" }, `${rows.length - shown.length} further causes are left out.`));
}
/** Small marks in a panel: hovered they speak, clicked they act, and a finger means the nearest. */
function points(root, marks, says, act) {
  const nearest = (event) => {
    const box = root.getBoundingClientRect(), far = (mark) => Math.hypot(mark.x - (event.clientX - box.left) * root.viewBox.baseVal.width / box.width, mark.y - (event.clientY - box.top));
    return marks.filter((mark) => far(mark) <= 22).sort((a, b) => far(a) - far(b))[0];
  };
  for (const mark of marks) {
    mark.node.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") showTip(event, ...says(mark)); });
    mark.node.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hideTip(); });
  }
  root.addEventListener("click", (event) => {
    const mark = marks.find((one) => one.node === event.target) || nearest(event);
    if (mark) act(mark, event); else hideTip();
  });
}
/** Names beside the points of missed apps, then of others, where they lie upon no point and no other name. */
function namePoints(root, marks, left, right) {
  const taken = marks.map(({ x, y }) => [x - 5, x + 5, y - 5, y + 5]);
  for (const { kill, x, y } of [...marks].sort((a, b) => (b.kill.felt !== "") - (a.kill.felt !== ""))) {
    const text = clip(kill.app, 18), wide = widthOf(text) * (kill.felt ? 1.12 : 1) + 2;
    const box = [x + 7, x - 7 - wide].map((from) => [from, from + wide, y - 6, y + 6]).find(([a, b, c, d]) => a >= left && b <= right && taken.every((one) => b <= one[0] || a >= one[1] || d <= one[2] || c >= one[3]));
    if (!box) continue;
    taken.push(box);
    svg(root, "text", { x: box[0], y: y + 4, "font-weight": kill.felt ? 700 : 400, class: view.app && view.app !== kill.app ? "called faded" : "called" }, text);
  }
}
function sizesPanel(parent) {
  const known = run().kills.map((kill, place) => ({ kill, place })).filter(({ kill }) => kill.footprint !== null && kill.idle !== null);
  if (!known.length) return;
  parent.append(html("p", { class: "note" }, "Footprint against time off screen at each termination; click one to read why." + (known.some(({ kill }) => kill.want) ? " Pink: an allocation found no room." : "")));
  panel(parent, "footprint against time off screen", 230, (root, width) => {
    const left = 56, right = width - 14, bottom = 190, high = Math.max(MIB, ...known.map(({ kill }) => kill.footprint)) * 1.1;
    const x = logAxis(root, 0.1, Math.max(10, ...known.map(({ kill }) => kill.idle)) * 1.3, left, right, bottom, "off screen before it was ended");
    for (const size of roundValues(high, 1, 2)) svg(root, "text", { x: left - 5, y: bottom - size / high * (bottom - 12) + (size ? 4 : 0), "text-anchor": "end", class: "quiet" }, bytes(size));
    const marks = known.map(({ kill, place }) => {
      const at = { kill, place, x: x(kill.idle), y: bottom - kill.footprint / high * (bottom - 12) };
      at.node = svg(root, "circle", { cx: at.x, cy: at.y, r: 4, fill: "var(--run-5)", "fill-opacity": 0.8, stroke: kill.want ? WANT : INK, "stroke-width": kill.want ? 2 : 0.7, class: view.app && view.app !== kill.app ? "kill faded" : "kill" });
      at.node.dataset.kill = place;
      at.node.classList.toggle("chosen", isChosen(at.node));
      return at;
    });
    namePoints(root, marks, left, right);
    points(root, marks, ({ kill }) => killText(kill, 5), ({ place }) => pin([place], true));
  });
}
