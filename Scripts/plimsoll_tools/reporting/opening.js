// --- The opening: a sentence, and a card for each app that the user lost, or that was expected to live ------------

const MOST_CARDS = 12, MOST_LINES = 10;
/** Elements behind a fold, so that what comes first stays short. */
const folded = (summary, ...content) => html("details", { class: "all" }, html("summary", {}, summary), ...content);
/** Chooses the app, unless it is the chosen one. */
function selectApp(app) { if (view.app !== app) chooseApp(app); }
/** Shows the kill in the pictures, and its card. */
function showKill(place) {
  const kill = run().kills[place];
  selectApp(kill.app);
  showInstant(kill.t);
  pin([place], true);
}
/** Opens the explanation of the kill, whole, and goes there; without one, its card names the command that explains it. */
function showExplanation(place) {
  const block = document.querySelector(`details[data-explained="${place}"]`);
  if (!block) return showKill(place);
  selectApp(run().kills[place].app);
  for (const one of [block, ...block.querySelectorAll("details")]) one.open = true;
  block.scrollIntoView({ block: "start" });
  block.querySelector("summary").focus({ preventScroll: true });
}
/** What would have saved it: the first sentence of each remedy, or the command that says it. */
function remedies(kill) {
  const block = explanationOf(kill);
  if (!block) return [html("dd", {}, html("code", {}, explainCommand(kill)))];
  const facts = block.short.filter(([label]) => label !== "Why" && label !== "It was" && label !== "For whom"), told = facts.length ? facts : block.facts.filter(([label]) => /^What (saves|would)/.test(label));
  return told.length ? told.map(([label, [first]]) => html("dd", {}, html("b", {}, `${label}: `), first)) : [html("dd", {}, "Nothing that was tried saves it.")];
}
/** How the user felt the end. */
const feltText = (kill) => !kill.felt ? "the user did not miss it, but an expectation failed" : kill.felt === "seen" ? "the user saw it vanish" : `the user wanted it again ${kill.after === null ? "later" : `${span(kill.after).replaceAll(" ", "\u00a0")} later`}`;
/** The card of an app that the user lost, once or more often. */
function lossCard(app, places) {
  const place = places.find((one) => explanationOf(run().kills[one])) ?? places[0], kill = run().kills[place], block = explanationOf(kill);
  const again = places.filter((one) => one !== place);
  const buttons = [html("button", { onclick: () => showKill(place) }, "show it"), block ? html("button", { onclick: () => showExplanation(place) }, "whole explanation") : null];
  return html("article", { class: "loss", "data-app": app },
    html("div", { class: "head" }, html("button", { class: "name", "data-app": app, "aria-pressed": String(app === view.app), onclick: () => chooseApp(app) }, app), html("span", {}, `ended at ${clock(kill.t)}; ${feltText(kill)}`)),
    kill.course ? html("p", {}, kill.course) : null, html("dl", { class: "explanation" }, html("dt", {}, "Why"), html("dd", {}, kill.reason), html("dt", {}, "It held"), html("dd", {}, deviceBytes(kill.footprint)), html("dt", {}, block ? "What would have saved it" : "What would have saved it is not on this page; this tells:"), ...remedies(kill)),
    again.length ? html("div", {}, "Lost again: ", ...again.slice(0, 6).map((one) => html("button", { class: "quiet", onclick: () => showKill(one) }, clock(run().kills[one].t))), again.length > 6 ? ` and ${again.length - 6} more` : null) : null,
    html("div", { class: "tools" }, ...buttons.filter(Boolean)));
}
/** Whether an expectation about the app failed. */
const isExpected = (name) => run().expectations.some(([, held, , app]) => held === false && app === name);
/** Whether the end has a card. */
const hasCard = (kill) => kill.felt || isExpected(kill.app);
/** An end without a card, in one line. */
function endLine(place) {
  const kill = run().kills[place];
  return [kill.t, html("li", { "data-app": kill.app }, html("button", { class: "quiet", onclick: () => showKill(place) }, `${clock(kill.t)} ${clip(kill.app, 40)}`), `: ${kill.reason}; it held ${deviceBytes(kill.footprint)}`)];
}
/** The ends that have no card, in the order of time. */
function otherEnds() {
  const lines = run().kills.flatMap((kill, place) => hasCard(kill) ? [] : [endLine(place)]);
  const crashed = run().crashes.map(([t, app]) => [t, html("li", { "data-app": app }, html("button", { class: "quiet", onclick: () => { selectApp(app); showInstant(t); } }, `${clock(t)} ${clip(app, 40)}`), ": crashed")]);
  const all = [...lines, ...crashed].sort((a, b) => a[0] - b[0]).map(([, line]) => line);
  if (!all.length) return null;
  const isKnown = run().kills.every((kill) => kill.mark !== "ended");
  const title = !lines.length ? "Crashed" : `${isKnown ? "Ended, and not missed" : "Ended"}${crashed.length ? ", or crashed" : ""}`;
  return html("div", { class: "rest" }, html("b", {}, title), html("ul", {}, ...all.slice(0, MOST_LINES)),
    all.length > MOST_LINES ? folded(`${all.length - MOST_LINES} more`, html("ul", {}, ...all.slice(MOST_LINES))) : null);
}
/** What a reader wants to know first; all figures are behind a fold. */
function opening(parent) {
  const lost = new Map();
  run().kills.forEach((kill, place) => { if (hasCard(kill)) lost.set(kill.app, [...(lost.get(kill.app) || []), place]); });
  const first = [...lost].sort(([a], [b]) => isExpected(b) - isExpected(a));
  const cards = first.map(([app, places]) => lossCard(app, places));
  const figures = html("div", { class: "figures" }, ...run().headline.map(([label, value, bad]) => html("div", { class: bad ? "figure bad" : "figure" }, html("b", {}, value), html("span", {}, label))));
  const losses = html("div", { class: "losses" }, ...[...cards.slice(0, MOST_CARDS), otherEnds()].filter(Boolean));
  parent.append(html("div", { class: "opening" }, run().sentence ? html("p", { class: "sentence" }, run().sentence) : null, /^Some ends/.test(run().explained.note) ? html("p", {}, run().explained.note) : null, losses.children.length ? losses : null,
    cards.length > MOST_CARDS ? folded(`${cards.length - MOST_CARDS} more lost apps`, html("div", { class: "losses" }, ...cards.slice(MOST_CARDS))) : null,
    folded("All figures of the run", figures)));
}
