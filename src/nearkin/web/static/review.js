"use strict";
(() => {
  // what stays in place while the page is scrolled begins below the bar, which may have several lines
  const bar = document.querySelector(".bar");
  if (bar) new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar);
  document.addEventListener("input", (event) => {
    if (event.target.id === "slider") document.getElementById("value").textContent = event.target.value;
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-submit-on-change]");
    if (form && !event.target.closest("[data-no-submit]")) form.requestSubmit();
  });
})();
