(() => {
  const find = document.getElementById("find"), found = document.getElementById("found");
  const entries = [...document.querySelectorAll("[data-find]")].map((part) => ({ part, words: part.textContent.toLowerCase() }));
  const folds = [...document.querySelectorAll("details")].map((fold) => ({ fold, wasOpen: fold.open }));
  const apply = () => {
    const wanted = find.value.trim().toLowerCase();
    let n = 0;
    for (const { fold, wasOpen } of folds) fold.open = wasOpen;
    for (const { part, words } of entries) {
      part.hidden = wanted !== "" && !words.includes(wanted);
      n += part.hidden ? 0 : 1;
      const fold = part.parentElement.closest("details");
      if (wanted !== "" && !part.hidden && fold !== null) fold.open = true;
    }
    found.textContent = wanted === "" ? "" : `${n.toLocaleString("en")} of ${entries.length.toLocaleString("en")} entries of this page; the tables beside it hold all documents`;
  };
  find.addEventListener("input", apply);
  document.getElementById("tools").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("tools").hidden = entries.length === 0;
})();
