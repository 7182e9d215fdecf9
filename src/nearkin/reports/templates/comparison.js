(() => {
  const marks = [...document.querySelectorAll("[data-n]")];
  const boxes = [...document.querySelectorAll("#kinds input")];
  const status = document.getElementById("place");
  let places = [];
  let at = -1;
  // a mark counts if one of the kinds of its difference is checked
  const isMarked = (mark) => !boxes.length || boxes.some((box) => box.checked && mark.dataset.kinds.split(" ").includes(box.value));
  const gather = () => {
    const byNumber = new Map(); // side by side, the marks of a difference are not neighbours
    at = -1;
    for (const mark of marks) {
      mark.classList.remove("here");
      const marked = isMarked(mark);
      mark.classList.toggle("muted", !marked);
      if (!marked) continue;
      if (!byNumber.has(mark.dataset.n)) byNumber.set(mark.dataset.n, []);
      byNumber.get(mark.dataset.n).push(mark);
    }
    places = [...byNumber.values()];
    for (const view of document.querySelectorAll(".view")) {
      view.classList.toggle("unmarked", !view.querySelector("[data-n]:not(.muted)"));
    }
  };
  const count = () => {
    const n = places.length.toLocaleString("en");
    status.textContent = `${n} ${places.length === 1 ? "place" : "places"}`;
  };
  const go = (step) => {
    if (!places.length) return;
    if (at >= 0) places[at].forEach((mark) => mark.classList.remove("here"));
    at = at < 0 ? (step > 0 ? 0 : places.length - 1) : (at + step + places.length) % places.length;
    places[at].forEach((mark) => mark.classList.add("here"));
    places[at][0].scrollIntoView({ block: "center" });
    const ticks = [...document.querySelectorAll("#strip [data-to]")];
    const number = Number(places[at][0].dataset.n);
    const tick = ticks.filter((one) => Number(one.dataset.to) <= number).pop();
    for (const one of ticks) one.classList.toggle("here", one === tick);
    status.textContent = `Place ${(at + 1).toLocaleString("en")} of ${places.length.toLocaleString("en")}`;
  };
  for (const box of boxes) box.addEventListener("change", () => { gather(); count(); });
  document.getElementById("strip")?.addEventListener("click", (event) => {
    const to = Number(event.target.dataset.to);
    const place = places.findIndex((marks) => Number(marks[0].dataset.n) >= to);
    if (!to || place < 0) return;
    if (at >= 0) places[at].forEach((mark) => mark.classList.remove("here"));
    at = place - 1;
    go(1);
  });
  document.getElementById("next").addEventListener("click", () => go(1));
  document.getElementById("previous").addEventListener("click", () => go(-1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n" || event.key === "p") go(event.key === "n" ? 1 : -1);
  });
  gather();
  document.getElementById("tools").hidden = false;
})();
