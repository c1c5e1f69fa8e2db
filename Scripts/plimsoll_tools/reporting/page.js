// --- The page -----------------------------------------------------------------------------------------------------

function choose(index) {
  Object.assign(view, { run: index, t0: 0, t1: DATA.runs[index].end, kills: [] });
  if (!appsOf(run()).includes(view.app)) view.app = "";
  build();
  remember();
  document.getElementById("one").scrollIntoView();
}
function pictures(section) {
  if (run().samples.t.length) {
    section.append(html("h2", {}, run().ram.length ? `Footprints by app: resident and compressed pages${run().flash.length ? ", and those on flash" : ""}` : "Memory by app under the ceiling"), timeBar(),
      run().scale === 1 ? "" : html("p", { class: "note" }, `Sizes in pictures and tables are the model's, ${+run().scale.toPrecision(4)} of the device's; those in words are the device's.`),
      html("p", { class: "note" }, html("span", { class: "with-mouse" }, "Drag to zoom, double click to go back; hover a ✕ to see which app was ended, why, and which were spared, click it to keep that. A number upon it counts those that ended together, and a name that has no room is left out."),
        html("span", { class: "with-fingers" }, "Tap a ✕ to see which app was ended, why, and which were spared. Pinch to zoom, drag sideways to move, tap twice for the whole run. A number upon a ✕ counts those that ended together.")));
    memoryPanel(section);
    section.append(view.card, html("h2", {}, "Memory available, warnings"));
    pressurePanel(section);
  } else section.append(timeBar(), view.card);
  if (run().cores) { section.append(html("h2", {}, "Cores, and work that waited for one")); coresPanel(section); }
  if (run().lanes.length) { section.append(html("h2", {}, "States of apps and scenes")); lanesPanel(section); }
}
function build() {
  hideTip();
  view.panels = [];
  view.tables = [];
  view.card = html("div", { id: "pinned" });
  document.getElementById("title").textContent = DATA.title;
  document.getElementById("subtitle").replaceChildren(DATA.subtitle, " ", modeSwitch());
  main.replaceChildren();
  if (DATA.runs.length > 1) compare(main);
  const section = html("section", { id: "one" });
  main.append(section);
  if (DATA.runs.length > 1) section.append(html("h2", {}, run().label), html("div", { class: "tools" }, html("label", {}, "look into ", html("select", { onchange: (event) => choose(+event.target.value) }, ...DATA.runs.map((one, index) => html("option", { value: index, selected: index === view.run ? "" : null }, one.label))))));
  opening(section);
  expectations(section);
  pictures(section);
  const two = html("div", { class: "two" }), left = html("div"), right = html("div");
  section.append(two);
  two.append(left, right);
  left.append(html("h2", {}, "Launch latency by kind"));
  launchPanel(left);
  right.append(html("h2", {}, "Terminations by cause and band"));
  causesPanel(right);
  sizesPanel(right);
  explanations(section);
  section.append(html("h2", {}, "Decisions"));
  decisionsTable(section);
  about(section);
  drawCard();
  greyOthers();
  clearBar();
}
/** Shows what the address says: at first, and when the reader or a link changes it. */
function showAddressed() {
  recall();
  paintMode();
  build();
  if (view.kills.length && !isNarrow()) view.card.scrollIntoView({ block: "nearest" });
}
/** What is scrolled to stands below the bar, however many rows the bar has. */
function clearBar() {
  const bar = main.querySelector(".bar");
  document.documentElement.style.setProperty("--bar", `${bar ? bar.offsetHeight + 8 : 0}px`);
}
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; hideTip(); for (const one of view.panels) one.render(); clearBar(); } });
addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });
addEventListener("hashchange", showAddressed);
addEventListener("pagehide", rememberNow);
showAddressed();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
