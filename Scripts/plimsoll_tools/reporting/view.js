// --- What is shown ------------------------------------------------------------------------------------------------

/** `kills` are the places of the kills on the card; `maps` what the comparison's pictures show; `tables` fill those
 * that follow the window and the chosen app. */
const view = { run: 0, t0: 0, t1: 1, kills: [], app: "", mode: "", maps: {}, panels: [], tables: [], card: null };
const run = () => DATA.runs[view.run];
const isNarrow = () => innerWidth < 600;

// --- The view in the address --------------------------------------------------------------------------------------

let remembering = 0;
/** Writes the view behind the address's #, soon: browsers allow few changes at once. */
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(rememberNow, 200);
}
function rememberNow() {
  clearTimeout(remembering);
  const parts = new URLSearchParams();
  if (view.run) parts.set("run", view.run + 1);
  if (view.t0 > 0 || view.t1 < run().end) { parts.set("from", +view.t0.toFixed(6)); parts.set("to", +view.t1.toFixed(6)); }
  if (view.kills.length) parts.set("kill", view.kills.map((place) => run().kills[place].pid).join(","));
  if (view.app) parts.set("app", view.app);
  if (view.mode) parts.set("mode", view.mode);
  for (const [name, chosen] of Object.entries(view.maps)) parts.set(name, chosen);
  const wanted = parts.toString();
  if (wanted !== location.hash.slice(1)) try { history.replaceState(null, "", wanted ? `#${wanted}` : location.pathname + location.search); } catch { /* A page without an address of its own. */ }
}
/** The view that the address names; what does not fit these runs is left at its default. */
function recall() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const whole = Number(parts.get("run") || 1);
  view.run = Number.isInteger(whole) && DATA.runs[whole - 1] ? whole - 1 : 0;
  const [from, to] = ["from", "to"].map((name) => parts.has(name) ? Number(parts.get(name)) : NaN);
  const fits = from >= 0 && to > from && from < run().end;
  [view.t0, view.t1] = fits ? [from, Math.min(to, run().end)] : [0, run().end];
  const pids = (parts.get("kill") || "").split(",");
  view.kills = run().kills.flatMap((kill, place) => pids.includes(String(kill.pid)) ? [place] : []);
  view.app = appsOf(run()).includes(parts.get("app")) ? parts.get("app") : "";
  view.mode = ["light", "dark"].includes(parts.get("mode")) ? parts.get("mode") : "";
  view.maps = {};
  for (const [name, chosen] of parts) if (name.startsWith("map-")) view.maps[name] = chosen;
}
/** A choice of a comparison's picture that the address remembers: the one in it if there is such an option. */
const recalled = (name, options, usual) => options.includes(view.maps[name]) ? view.maps[name] : usual;
function rememberMap(name, chosen) { view.maps[name] = chosen; remember(); }

// --- Light and dark -----------------------------------------------------------------------------------------------

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
function paintMode(printing) {
  document.documentElement.dataset.mode = printing === true ? "light" : view.mode || (systemIsDark.matches ? "dark" : "light");
}
systemIsDark.addEventListener("change", paintMode);
addEventListener("beforeprint", () => paintMode(true));
addEventListener("afterprint", () => paintMode());
function modeSwitch() {
  const select = html("select", { "aria-label": "colours", onchange: () => { view.mode = select.value; paintMode(); remember(); } },
    ...[["", "colours of the system"], ["light", "light"], ["dark", "dark"]].map(([value, text]) => html("option", { value, selected: value === view.mode ? "" : null }, text)));
  return select;
}

// --- Tooltip ------------------------------------------------------------------------------------------------------

/** Beside the mouse; above a finger, which would hide it. */
function showTip(event, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), isTouch = event.pointerType === "touch";
  const x = isTouch ? event.clientX - box.width / 2 : event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 10 : event.clientX + 14;
  const above = event.clientY - box.height - 26;
  const y = isTouch ? (above >= 4 ? above : event.clientY + 30) : event.clientY + 12;
  tip.style.left = within(x, 4, Math.max(4, innerWidth - box.width - 4)) + "px";
  tip.style.top = within(y, 4, Math.max(4, innerHeight - box.height - 6)) + "px";
}
const hideTip = () => { tip.hidden = true; };
// A tooltip speaks of a place in a picture: it goes when the picture moves, changes or is left.
addEventListener("scroll", hideTip, { passive: true, capture: true });
addEventListener("blur", hideTip);
document.addEventListener("pointerdown", (event) => { if (!event.target.closest || !event.target.closest(".panel")) hideTip(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") { hideTip(); unpin(); } });

// --- A kill in words ----------------------------------------------------------------------------------------------

const explanationOf = (kill) => run().explained.blocks.find((block) => run().kills[block.kill] === kill);
/** Labelled sentences, but for those that `without` names. */
function factList(facts, without) {
  const list = html("dl", { class: "explanation" });
  for (const [label, lines] of facts) if (!without.includes(label)) list.append(html("dt", {}, label), ...lines.map((line) => html("dd", {}, line.startsWith("plimsoll ") ? html("code", {}, line) : line)));
  return list;
}
/** An explanation: what matters most, and everything behind a fold. */
function explanation(block, without = []) {
  if (!block.short.length) return [factList(block.facts, without)];
  return [factList(block.short, without), block.facts.length ? html("details", { class: "all" }, html("summary", {}, "Everything: who was spared, the policy's numbers, whole prices, and what was tried in vain"), factList(block.facts, [])) : null];
}
/** The command that explains a kill. */
const explainCommand = (kill) => `plimsoll explain ${word(run().explained.folder)} --app ${word(kill.app)} --at ${+kill.t.toFixed(6)}s`;
/** What would have saved it, as far as the page knows; else the command that says it. The card has the rest already. */
function saving(kill) {
  const block = explanationOf(kill);
  if (block) return html("div", {}, ...explanation(block, ["Why", "It was", "What it was", "Why then", "Why this one", "For whom", "Spared", "Passed over"]));
  return html("div", { class: "note" }, "What would have saved it: ", html("code", {}, explainCommand(kill)));
}
/** Who, why, and who was spared; on the card (`isCard`) also what would have saved it. */
function killText(kill, most, isCard) {
  const spared = kill.spared.slice(0, most);
  const list = html("ul");
  for (const [app, why] of spared) list.append(html("li", {}, html("b", {}, app), `: ${run().reasons[why]}`));
  if (kill.spared.length + kill.unlisted > spared.length) list.append(html("li", {}, `and ${kill.spared.length + kill.unlisted - spared.length} more`));
  const facts = [["at", clock(kill.t)], ["band", kill.band || "unknown"], ["held", deviceBytes(kill.footprint)], ["off screen for", span(kill.idle)],
    ["last warned", kill.lead === null ? "never" : kill.lead === undefined ? "unknown" : `${span(kill.lead)} before`],
    ["for", kill.for === kill.app ? "itself" : kill.for === undefined ? "unknown" : kill.for || "nobody"]].map((fact) => fact.join(" ")).join(" · ");
  const block = isCard ? null : explanationOf(kill), saved = block && block.facts.find(([label]) => /^What (saves|would)/.test(label));
  return [html("b", {}, `✕ ${kill.app}`), ` (process ${kill.pid}) ended: ${kill.cause}`, html("div", {}, kill.why), html("div", { class: "note" }, facts),
    isCard ? saving(kill) : null, saved ? html("div", {}, html("b", {}, `${saved[0]}: `), saved[1][0]) : null,
    kill.spared.length + kill.unlisted ? html("div", {}, "Spared in this decision:", list) : html("div", { class: "note" },
      kill.decided ? "The decision names no other process." : "No decision of the policy: a limit or the process itself ended it.")].filter(Boolean);
}
/** What a mark of one kill or of several says: how many, then each by itself. */
function killsText(kills, most, spared) {
  if (kills.length === 1) return killText(kills[0], spared);
  const parts = kills.slice(0, most).map((kill) => html("div", { class: "each" }, ...killText(kill, Math.ceil(spared / 4))));
  if (kills.length > most) parts.push(html("div", { class: "note" }, `and ${kills.length - most} more: ${clip(kills.slice(most).map((kill) => kill.app).join(", "), 200)}`));
  const [first, last] = [kills[0], kills[kills.length - 1]].map((kill) => clock(kill.t)), when = first === last ? `at ${first}` : `from ${first} to ${last}`;
  return [html("b", {}, `${kills.length} were ended ${when}`), ...parts];
}

// --- The card of the chosen kills ---------------------------------------------------------------------------------

/** Shows the kills on the card: below the memory picture, on a phone at the bottom of the screen. */
function pin(places, comesIntoView) {
  view.kills = places;
  drawCard();
  for (const mark of document.querySelectorAll("[data-kill]")) mark.classList.toggle("chosen", isChosen(mark));
  if (comesIntoView && places.length) {
    hideTip();
    view.card.scrollTop = 0;
    if (!isNarrow()) view.card.scrollIntoView({ block: "nearest" });
  }
  remember();
}
const unpin = () => { if (view.kills.length) pin([]); };
const isChosen = (mark) => mark.dataset.kill.split(",").some((place) => view.kills.includes(+place));
function drawCard() {
  if (!view.card) return;
  const kills = view.kills.map((place) => run().kills[place]);
  view.card.replaceChildren();
  document.body.classList.toggle("hascard", kills.length > 0);
  if (!kills.length) return;
  const last = run().kills.length - 1;
  const go = (place) => { showInstant(run().kills[place].t); pin([place], true); };
  const button = (text, label, place) => html("button", { "aria-label": label, disabled: place < 0 || place > last ? "" : null, onclick: () => go(place) }, text);
  const count = kills.length === 1 ? `${view.kills[0] + 1} of ${last + 1}` : `${kills.length} of ${last + 1}`;
  view.card.append(html("div", { class: "tools", role: "toolbar" }, button("◀", "previous termination", view.kills[0] - 1), html("span", { class: "note" }, count), button("▶", "next termination", view.kills[view.kills.length - 1] + 1), html("button", { class: "close", "aria-label": "close the card", onclick: unpin }, "close")),
    ...kills.map((kill) => html("div", { class: "card" }, ...killText(kill, 400, true))));
}
