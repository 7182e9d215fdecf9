"use strict";
(() => {
  // every key does what an element of the page does; it is listed if the page has the element
  const click = (what) => () => document.querySelector(what)?.click();
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  let at = null;
  let isGoing = false; // g was pressed, and the next key names a screen
  const select = (row) => {
    at?.classList.remove("here");
    at = row;
    row.classList.add("here");
    row.scrollIntoView({ block: "nearest" });
    document.getElementById("said").textContent = row.querySelector("a")?.textContent ?? "";
    row.querySelector("[data-pick]")?.click();
  };
  const move = (step) => () => {
    const all = rows();
    if (!all.length) return;
    const now = at && all.includes(at) ? all.indexOf(at) : step > 0 ? -1 : all.length;
    select(all[Math.min(all.length - 1, Math.max(0, now + step))]);
  };
  const open = () => {
    const target = at?.dataset.open ?? document.querySelector("#comparison [data-open]")?.getAttribute("href") ?? at?.querySelector("a")?.getAttribute("href");
    if (target) location.assign(target);
  };
  const act = (key) => () => at?.querySelector(`[data-act=${key}]`)?.click();
  const slide = (step) => () => {
    const slider = document.getElementById("slider");
    step > 0 ? slider.stepUp() : slider.stepDown();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  };
  // of a page with groups, what changes a decision at once needs Alt: words typed into no field must change nothing
  const keys = [
    ["j", "Skip to the next document", "[data-key=j]", click("[data-key=j]")],
    ["k", "Back to the previous document (also Shift+Enter)", "[data-key=k]", click("[data-key=k]")],
    ["Enter", "Save, and open the next document that is not done", "#code", () => panel.requestSubmit()],
    ["j", "Next row", "[data-row]", move(1)],
    ["k", "Previous row", "[data-row]", move(-1)],
    ["Enter", "Open the row", "[data-row]", open],
    ["J", "Next group", "[data-key=J]", click("[data-key=J]")],
    ["K", "Previous group", "[data-key=K]", click("[data-key=K]")],
    [" ", "Tick the row", "[data-row] input[type=checkbox]", () => at?.querySelector("input[type=checkbox]")?.click()],
    ["Alt+X", "Split the row's document off", "[data-act=x]", act("x")],
    ["h", "History of the document or group", "[data-key=h]", click("[data-key=h]")],
    ["f", "Choose a file", "#file", click("#file")],
    ["a", "Store the file as new", "[data-key=a]", click("[data-key=a]")],
    ["v", "Store the file as a version of the row's document", "[data-act=v]", act("v")],
    ["x", "Reject the file", "[data-key=x]", click("[data-key=x]")],
    ["a", "Accept the row's pair", "[data-act=a]", act("a")],
    ["x", "Reject the row's pair", "[data-act=reject]", act("reject")],
    ["r", "Resolve the row's conflict as proposed", "[data-act=r]", act("r")],
    ["Alt+P", "Make the row's document the principal", "[data-act=p]", act("p")],
    ["m", "Unite with another group", "[name=other]", () => document.querySelector("[name=other]").focus()],
    ["c", "Tag", "#tag", () => document.getElementById("tag").focus()],
    ["1–9", "Set the tag beside the digit", "[data-quick]", null],
    ["Alt+U", "Undo the activity that is shown on top", ".done [data-key=u]", click(".done [data-key=u]")],
    ["Alt+U", "Undo the row's activity or decision", "[data-act=u]", act("u")],
    ["d", "Groups that changed, or documents to look at", "[data-key=d]", click("[data-key=d]")],
    ["e", "Representatives only", "[data-key=e]", click("[data-key=e]")],
    ["o", "Download the overlay", "[data-key=o]", click("[data-key=o]")],
    ["Escape", "Cancel", "[data-key=Escape]", click("[data-key=Escape]")],
    ["[", "Lower the tolerance's value", "#slider", slide(-1)],
    ["]", "Raise the tolerance's value", "#slider", slide(1)],
    ["n", "Next difference", "#next", null],
    ["p", "Previous difference", "#previous", null],
    ["s", "Swap A and B", "[data-key=s]", click("[data-key=s]")],
    ["b", "Side by side, or in one text", "[data-key=b]", click("[data-key=b]")],
    ["g", "Go to a screen: press g, then its key (below)", "[data-go]", () => (isGoing = true)],
    ["/", "Search", "#q", () => document.getElementById("q").select()],
    ["?", "Show this list", "body", () => help()],
  ];
  // the panel of the fields that a reviewer sets: its keys come first
  const panel = document.getElementById("code");
  const code = (pressed) => {
    if (pressed === "Enter" && panel) return () => panel.requestSubmit();
    const choice = panel?.querySelector(`[data-code="${CSS.escape(pressed)}"]`);
    if (!choice) return null;
    if (choice.type === "text") return () => choice.focus();
    return () => (choice.type === "radio" && choice.checked && !choice.required ? (choice.checked = false) : choice.click());
  };
  const here = () => keys.filter(([, , what]) => document.querySelector(what));
  const dialog = document.getElementById("keys");
  const help = () => {
    const list = dialog.querySelector("dl");
    list.replaceChildren();
    for (const [key, words] of here()) {
      const term = document.createElement("dt");
      term.append(Object.assign(document.createElement("kbd"), { textContent: key === " " ? "Space" : key }));
      list.append(term, Object.assign(document.createElement("dd"), { textContent: words }));
    }
    for (const link of document.querySelectorAll("[data-go]")) {
      const term = document.createElement("dt");
      for (const key of ["g", link.dataset.go]) term.append(Object.assign(document.createElement("kbd"), { textContent: key }), " ");
      list.append(term, Object.assign(document.createElement("dd"), { textContent: link.textContent }));
    }
    dialog.showModal();
  };
  at = document.querySelector("[data-row][data-here]");
  at?.classList.add("here");
  document.addEventListener("click", (event) => {
    const row = event.target.closest("[data-pick]")?.closest("[data-row]");
    if (row && row !== at) {
      at?.classList.remove("here");
      at = row;
      row.classList.add("here");
    }
  });
  document.getElementById("help-button").addEventListener("click", help);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || dialog.open) return;
    // macOS writes another character with Alt: there the place of the key counts
    const letter = /^[a-z]$/i.test(event.key) ? event.key.toUpperCase() : event.code.replace("Key", "");
    const pressed = event.altKey ? `Alt+${letter}` : event.key;
    const field = event.target.closest("input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select");
    if (field) {
      if (event.key === "Escape") field.blur();
      return;
    }
    if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
    const coded = isGoing ? null : event.key === "Enter" && event.shiftKey ? panel && click("[data-key=k]") : code(pressed);
    if (coded) {
      event.preventDefault();
      coded();
      return;
    }
    const goal = isGoing && document.querySelector(`[data-go="${CSS.escape(pressed)}"]`);
    isGoing = false;
    if (goal) {
      event.preventDefault();
      goal.click();
      return;
    }
    if (/^[1-9]$/.test(pressed)) click(`[data-quick="${pressed}"]`)();
    const found = here().find(([key]) => key === pressed);
    if (!found || !found[3]) return;
    event.preventDefault();
    found[3]();
  });
})();
