"""A headless Chromium for the page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
    with sync_api.sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = next(filter(None, map(shutil.which, BROWSERS)), None)
        if path is None and not own.exists():
            pytest.skip("no Chromium: install Debian's chromium, or run playwright install")
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser, page):
    """Open the page; afterwards nothing may have been logged, raised or fetched."""
    contexts, trouble = [], []

    def see(anchor="", *, file=page, width=1300, height=900, scheme="light", **options):
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        tab = context.new_page()
        tab.on("console", lambda message: trouble.append(message.text))
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on("request", lambda r: r.url.startswith("file:") or trouble.append(r.url))
        tab.goto(f"file://{file}{anchor}")
        tab.wait_for_selector("html[data-ready]")
        contexts.append(context)
        return tab

    yield see
    for context in contexts:
        context.close()
    assert trouble == []
