"use strict";
(() => {
  document.addEventListener("input", (event) => {
    if (event.target.id === "slider") document.getElementById("value").textContent = event.target.value;
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-submit-on-change]");
    if (form) form.requestSubmit();
  });
})();
