"""The sign-in of a team in a browser, by keyboard alone, behind a proxy that encrypts."""

from __future__ import annotations

from pathlib import Path

import pytest

from behind_nginx import NGINX, served_behind_nginx
from chromium import Chromium
from functional.conftest import nearkin_here
from review_client import small_collection

pytestmark = [pytest.mark.browser, pytest.mark.skipif(NGINX is None, reason="nginx is not installed")]
PASSWORD = "correct horse battery"


def test_a_reviewer_signs_in_and_out_by_keyboard(chromium: str, tmp_path: Path) -> None:
    small_collection(tmp_path).close()
    place, users = tmp_path / "matter", tmp_path / "users.json"
    added = ("users", place, "add", "ada", "--role", "reviewer", "--users-file", users)
    assert nearkin_here(*added, stdin=f"{PASSWORD}\n".encode()).code == 0
    with (
        served_behind_nginx(tmp_path, place, users) as proxied,
        Chromium(chromium, tmp_path, width=640, dark=True) as browser,  # 1280 at 200 %
    ):
        browser.trust_every_certificate()
        signs_in_and_out(browser, proxied.url)


def signs_in_and_out(browser: Chromium, url: str) -> None:
    browser.open(f"{url}/document?id=lease")
    browser.wait("document.activeElement?.id === 'name'")
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    assert browser.js("getComputedStyle(document.querySelector('form')).display") == "grid"  # the styles came
    browser.write("ada")
    browser.js("document.querySelector('#password').focus()")
    browser.write(PASSWORD)
    browser.press("Enter")
    browser.wait("document.querySelector('form[action=\"/sign-out\"]')")
    browser.wait("document.readyState === 'complete'")  # with its styles
    assert browser.js("location.pathname + location.search") == "/document?id=lease"
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    browser.js("document.querySelector('form[action=\"/sign-out\"] button').click()")
    browser.wait("location.pathname === '/sign-in' && document.querySelector('#password')")
    assert all("401" in one for one in browser.errors), browser.errors
