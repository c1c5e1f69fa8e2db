"use strict";
// The colours of the system, until the reader chooses; paper is light.
const root = document.documentElement, systemIsDark = matchMedia("(prefers-color-scheme: dark)");
let chosen = new URLSearchParams(location.hash.slice(1)).get("mode");
function paint(printing) {
  root.dataset.mode = printing === true ? "light" : ["light", "dark"].includes(chosen) ? chosen : systemIsDark.matches ? "dark" : "light";
}
systemIsDark.addEventListener("change", paint);
addEventListener("beforeprint", () => { paint(true); for (const one of document.querySelectorAll("details")) one.open = true; });
addEventListener("afterprint", () => paint());
const button = document.getElementById("mode");
button.hidden = false;
button.addEventListener("click", () => { chosen = root.dataset.mode === "dark" ? "light" : "dark"; paint(); });
paint();
root.dataset.ready = String(Math.round(performance.now()));
