"use strict";
(() => {
  // every key does what an element of the page does; it is listed if the page has the element
  const click = (what) => () => document.querySelector(what)?.click();
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  let at = null;
  const select = (row) => {
    at?.classList.remove("here");
    at = row;
    row.classList.add("here");
    row.scrollIntoView({ block: "nearest" });
    document.getElementById("said").textContent = row.querySelector("a")?.textContent ?? "";
  };
  const move = (step) => () => {
    const all = rows();
    if (!all.length) return;
    const now = at && all.includes(at) ? all.indexOf(at) : step > 0 ? -1 : all.length;
    select(all[Math.min(all.length - 1, Math.max(0, now + step))]);
  };
  const open = () => {
    const target = at?.dataset.open ?? at?.querySelector("a")?.getAttribute("href");
    if (target) location.assign(target);
  };
  const slide = (step) => () => {
    const slider = document.getElementById("slider");
    step > 0 ? slider.stepUp() : slider.stepDown();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const keys = [
    ["j", "Next row", "[data-row]", move(1)],
    ["k", "Previous row", "[data-row]", move(-1)],
    ["Enter", "Open the row", "[data-row]", open],
    ["[", "Lower the tolerance's value", "#slider", slide(-1)],
    ["]", "Raise the tolerance's value", "#slider", slide(1)],
    ["n", "Next difference", "#next", null],
    ["p", "Previous difference", "#previous", null],
    ["s", "Swap A and B", "[data-key=s]", click("[data-key=s]")],
    ["/", "Search", "#q", () => document.getElementById("q").focus()],
    ["?", "This list", "body", () => help()],
  ];
  const here = () => keys.filter(([, , what]) => document.querySelector(what));
  const dialog = document.getElementById("keys");
  const help = () => {
    const list = dialog.querySelector("dl");
    list.replaceChildren();
    for (const [key, words] of here()) {
      const term = document.createElement("dt");
      term.append(Object.assign(document.createElement("kbd"), { textContent: key }));
      list.append(term, Object.assign(document.createElement("dd"), { textContent: words }));
    }
    dialog.showModal();
  };
  document.getElementById("help-button").addEventListener("click", help);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const field = event.target.closest("input:not([type=range]):not([type=checkbox]), textarea, select");
    if (field) {
      if (event.key === "Escape") field.blur();
      return;
    }
    if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
    const found = here().find(([key]) => key === event.key);
    if (!found || !found[3]) return;
    event.preventDefault();
    found[3]();
  });
})();
