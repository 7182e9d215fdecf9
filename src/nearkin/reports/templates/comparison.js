(() => {
  const places = [];
  for (const mark of document.querySelectorAll("[data-n]")) {
    const last = places[places.length - 1];
    if (last && last[0].dataset.n === mark.dataset.n) last.push(mark);
    else places.push([mark]);
  }
  const status = document.getElementById("place");
  let at = -1;
  const go = (step) => {
    if (at >= 0) places[at].forEach((mark) => mark.classList.remove("here"));
    at = at < 0 ? (step > 0 ? 0 : places.length - 1) : (at + step + places.length) % places.length;
    places[at].forEach((mark) => mark.classList.add("here"));
    places[at][0].scrollIntoView({ block: "center" });
    status.textContent = `Place ${(at + 1).toLocaleString("en")} of ${places.length.toLocaleString("en")}`;
  };
  document.getElementById("next").addEventListener("click", () => go(1));
  document.getElementById("previous").addEventListener("click", () => go(-1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n" || event.key === "p") go(event.key === "n" ? 1 : -1);
  });
  document.getElementById("tools").hidden = false;
})();
