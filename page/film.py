#!/usr/bin/env python3
"""Takes the pictures of docs/page.md: film.py PAGE.html. A newcomer opens the page, sees the bloat, fixes it, and compares."""

import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/browser"))

from check_page import start, until  # noqa: E402
from chromium import chromium, screenshot, window  # noqa: E402

# Height of the first screen, in pixels.
SCREEN = 900


def main():
    with chromium() as browser:
        window(browser, 1100, "light")
        start(browser, pathlib.Path(sys.argv[1]).resolve().as_uri())
        browser.evaluate("(at('speed').value = 0.6, pace())")
        until(browser, "time > 8", "eight seconds")
        screenshot(browser, ROOT / "docs/page/bloat.png", SCREEN)
        browser.evaluate("at('cure').click()")
        until(browser, "scheme === 'turns' && time < 4", "the start of the other scheme")
        until(browser, "time > 8", "eight seconds more")
        screenshot(browser, ROOT / "docs/page/fixed.png", SCREEN)
        browser.evaluate("at('compare').onclick()")
        until(browser, "at('progress').textContent.startsWith('seed')", "the comparison")
        time.sleep(0.3)
        screenshot(browser, ROOT / "docs/page/compared.png")


if __name__ == "__main__":
    main()
