(() => {
  const families = [...document.querySelectorAll("details.family")];
  const find = document.getElementById("find"), relation = document.getElementById("relation");
  const status = document.getElementById("found"), tools = document.getElementById("tools");
  const wasOpen = families.map((family) => family.open);
  const idsOf = (part) => [...part.querySelectorAll(".id")].map((id) => id.textContent.toLowerCase());
  const known = families.map((family) => ({
    family,
    ids: idsOf(family).join("\n"),
    members: [...family.querySelectorAll("li.kin")].map((row) => ({ row, ids: idsOf(row).join("\n") })),
  }));
  const apply = () => {
    const wanted = find.value.trim().toLowerCase(), kind = relation.value;
    const isFiltered = wanted !== "" || kind !== "";
    let shown = 0;
    known.forEach(({ family, ids, members }, i) => {
      const ofKind = members.filter(({ row }) => kind === "" || row.dataset.relation === kind);
      const isShown = ids.includes(wanted) && ofKind.length > 0;
      family.hidden = isFiltered && !isShown;
      shown += isShown ? 1 : 0;
      members.forEach(({ row, ids: own }) => {
        row.hidden = kind !== "" && row.dataset.relation !== kind;
        row.classList.toggle("hit", wanted !== "" && own.includes(wanted));
      });
      family.open = isFiltered ? isShown && (wanted !== "" || kind !== "") : wasOpen[i];
    });
    if (!isFiltered) status.textContent = "";
    else if (shown) status.textContent = `${shown.toLocaleString("en")} of ${families.length.toLocaleString("en")} form groups on this page`;
    else status.textContent = "None on this page; families.csv has every form group";
  };
  find.addEventListener("input", apply);
  relation.addEventListener("change", apply);
  document.getElementById("open-all").addEventListener("click", () => {
    const isAnyShut = families.some((family) => !family.hidden && !family.open);
    families.forEach((family) => { if (!family.hidden) family.open = isAnyShut; });
  });
  tools.hidden = false;
})();
