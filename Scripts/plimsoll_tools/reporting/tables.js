// --- Tables -------------------------------------------------------------------------------------------------------

function decisionsTable(parent) {
  const rows = run().decisions;
  const leftOut = run().decisionsLeftOut ? `${run().decisionsLeftOut} more decisions in decisions.csv` : "";
  if (!rows.length) return parent.append(html("p", { class: "note" }, `Nothing was done.${leftOut ? ` ${leftOut}.` : ""}`));
  const wanted = html("input", { type: "search", id: "search", value: view.app, placeholder: "app, action or reason", "aria-label": "search decisions" });
  const only = html("input", { type: "checkbox", id: "only" });
  const body = html("tbody"), count = html("span", { class: "note" });
  const fill = () => {
    const text = wanted.value.toLowerCase();
    const found = rows.filter(([t, , action, app, reason, , , demand]) => (!only.checked || t >= view.t0 && t <= view.t1) && `${action} ${app} ${run().reasons[reason]} ${demand}`.toLowerCase().includes(text));
    count.textContent = `${found.length} of ${rows.length}${found.length > 300 ? ", the first 300 shown" : ""}${leftOut ? `; ${leftOut}` : ""}`;
    body.replaceChildren(...found.slice(0, 300).map(([t, number, action, app, reason, observed, threshold, demand, spared, measure]) => html("tr", {}, html("td", { class: "num" }, clock(t)), html("td", { class: "num" }, number), html("td", {}, action), html("td", {}, clip(app, 30)), html("td", { class: "wrap" }, run().reasons[reason]), html("td", {}, demand), html("td", { class: "num", title: measure }, measured(observed, measure)), html("td", { class: "num", title: measure }, measured(threshold, measure)), html("td", { class: "num" }, String(spared)))));
  };
  view.tables.push(fill);
  wanted.addEventListener("input", fill);
  only.addEventListener("change", fill);
  parent.append(html("div", { class: "tools" }, wanted, html("label", {}, only, " within the window above"), count),
    html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {}, ...["time", "no.", "action", "app", "why", "asked for", "observed", "threshold", "others"].map((head) => html("th", {}, head)))), body)));
  fill();
}
/** The scenario's claims and what became of them. */
function expectations(parent) {
  if (!run().expectations.length) return;
  const failed = run().expectations.filter(([, held]) => held === false).length, open = run().expectations.some(([, held]) => held === null);
  // What failed comes first.
  const ranked = [...run().expectations].sort((a, b) => (a[1] !== false) - (b[1] !== false));
  const list = html("ul", { class: "claims" }, ...ranked.map(([claim, held, observed]) => html("li", { class: held === false ? "bad" : held ? "good" : null }, html("b", { "aria-label": held ? "held" : held === false ? "failed" : "open" }, held ? "✓" : held === false ? "✗" : "?"), html("code", {}, claim), html("span", { class: "note" }, held === null ? "not checked" : observed === "" ? "there is no value" : `observed: ${observed}`))));
  const title = open ? "Expectations, which only a run that is over has checked" : `Expectations: ${failed ? `${failed} of ${run().expectations.length} failed` : `all ${run().expectations.length} held`}`;
  parent.append(...(failed || open ? [html("h2", {}, title), list] : [html("details", {}, html("summary", {}, title), list)]));
}
/** What would have saved the ended processes, and who would have paid for it. */
function explanations(parent) {
  const { blocks, note } = run().explained;
  if (!run().kills.length && !blocks.length) return;
  parent.append(html("h2", {}, "What would have saved them, and who would have paid"));
  for (const [place, block] of blocks.entries()) {
    const kill = run().kills[block.kill];
    parent.append(html("details", { open: place === 0 ? "" : null, "data-explained": block.kill }, html("summary", {}, block.head), kill ? html("button", { onclick: () => { showInstant(kill.t); pin([block.kill], true); } }, "show it") : null, ...explanation(block)));
  }
  const told = new Set(blocks.map((block) => block.kill)), rest = run().kills.filter((_, place) => !told.has(place)).length;
  if (note) parent.append(html("p", { class: "note" }, note));
  if (rest) parent.append(html("p", { class: "note" }, `The card of ${rest === 1 ? "the termination" : `each of the ${rest} terminations`}${blocks.length ? " that is not listed here" : ""} names the command that explains it.`));
}
function about(parent) {
  if (run().notes.length) parent.append(html("h2", {}, "What to know of this run"), html("ul", {}, ...run().notes.map((note) => html("li", {}, note))));
  const summary = html("table", {}, ...run().summary.map(([name, value]) => html("tr", {}, html("td", {}, name), html("td", { class: "num" }, value))));
  parent.append(html("details", {}, html("summary", {}, "Every metric"), html("div", { class: "scroll" }, summary)),
    html("details", {}, html("summary", {}, "Scenario as it was run"), html("pre", {}, run().scenario || "scenario.yaml is missing")),
    html("details", {}, html("summary", {}, "Manifest: host, versions, times"), html("pre", {}, run().manifest || "manifest.json is missing")));
}
