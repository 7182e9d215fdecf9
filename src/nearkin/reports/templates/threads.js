(() => {
  const threads = [...document.querySelectorAll("details.thread")];
  const find = document.getElementById("find"), kind = document.getElementById("kind");
  const status = document.getElementById("found"), tools = document.getElementById("tools");
  const wasOpen = threads.map((thread) => thread.open);
  const known = threads.map((thread) =>
    [...thread.querySelectorAll("li.mail")].map((row) => ({ row, text: row.textContent.toLowerCase() })));
  const apply = () => {
    const wanted = find.value.trim().toLowerCase(), state = kind.value;
    const isFiltered = wanted !== "" || state !== "";
    let shown = 0;
    threads.forEach((thread, i) => {
      let here = 0;
      known[i].forEach(({ row, text }) => {
        const isHit = text.includes(wanted) && (state === "" || row.dataset.state === state);
        row.hidden = isFiltered && !isHit;
        here += isHit ? 1 : 0;
      });
      thread.hidden = isFiltered && !here;
      thread.open = isFiltered ? here > 0 : wasOpen[i];
      shown += here;
    });
    if (!isFiltered) status.textContent = "";
    else if (shown) status.textContent = `${shown.toLocaleString("en")} mails on this page`;
    else status.textContent = "None on this page; threads.parquet has every mail";
  };
  find.addEventListener("input", apply);
  kind.addEventListener("change", apply);
  tools.hidden = false;
})();
