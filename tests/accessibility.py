"""Accessibility of a page in chromium: axe-core for WCAG 2.1 A and AA, and the size of targets of WCAG 2.2."""

from __future__ import annotations

import json
from pathlib import Path

from chromium import Chromium

_AXE = (Path(__file__).parent / "vendor/axe.min.js").read_text("utf-8")
_RUN = """axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}).then((found) =>
  JSON.stringify({n: found.passes.length, violations: found.violations.map((one) =>
    [one.id, one.nodes.map((node) => node.html.slice(0, 200))])}))"""
# WCAG 2.2, 2.5.8: at least 24 by 24 CSS pixels; or so far apart that circles of 24 pixels do not meet. Links
# in a line with other words, and what is as the browser makes it, are exempt.
_SMALL = """(() => {
  const box = (element) => element.getBoundingClientRect();
  const targets = [...document.querySelectorAll("a[href], button, summary")].filter((one) =>
    one.checkVisibility({visibilityProperty: true, opacityProperty: true}) && !one.closest(".unseen, .skip")
    && box(one).width > 1);
  const centre = (one) => [box(one).x + box(one).width / 2, box(one).y + box(one).height / 2];
  const isSmall = (one) => Math.min(box(one).width, box(one).height) < 24;
  const words = (one) => [...one.childNodes].map((node) => node.nodeType === Node.TEXT_NODE ? node.textContent
    : targets.includes(node) ? "" : words(node)).join("").trim();
  const isInline = (one) => getComputedStyle(one).display === "inline" && words(one.parentElement) !== "";
  const near = (one) => targets.find((other) => {
    if (other === one) return false;
    const [x, y] = centre(one), there = box(other);
    const [toX, toY] = isSmall(other) ? centre(other)
      : [Math.max(there.left, Math.min(x, there.right)), Math.max(there.top, Math.min(y, there.bottom))];
    return Math.hypot(x - toX, y - toY) < (isSmall(other) ? 24 : 12);
  });
  return targets.filter((one) => isSmall(one) && !isInline(one) && near(one)).map((one) =>
    `${one.outerHTML.slice(0, 200)} beside ${near(one).outerHTML.slice(0, 200)}`);
})()"""


def faults(browser: Chromium) -> list[object]:
    """The rules that the page breaks, each with the elements; targets that are too small for a finger."""
    browser.js(f"{_AXE};0")
    found = json.loads(browser.js(_RUN))
    assert found["n"] > 5, "axe-core did not look at the page"
    small = browser.js(_SMALL)
    return [*found["violations"], *([["target-size", small]] if small else [])]
