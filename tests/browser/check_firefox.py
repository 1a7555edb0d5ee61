#!/usr/bin/env python3
"""Opens the page that simulates in headless Firefox: check_firefox.py PAGE.html [SCREENSHOTS]

Checked: every scene runs and draws, all networks on record have the command's results, to the last byte, and the address that
the page makes opens the same network. Exit status: 0 all is well, 1 something is not, 2 there is no Firefox or no page.
"""

import pathlib
import sys
import time

from check_page import RESULTS, until
from chromium import Failure
from firefox import Firefox, firefox


def check(browser: Firefox, page: pathlib.Path, pictures: pathlib.Path | None) -> list[str]:
    """The list of what is wrong."""
    wrong, url = [], page.resolve().as_uri()
    browser.open(url)
    until(browser, "ready.then(() => stage !== null && time > 0.3)", "the start")
    for index in range(browser.evaluate("scenes.length")):
        browser.evaluate(f"(at('scene').value = {index}, at('scene').onchange())")
        until(browser, "stage !== null && rows.t.length > 5 && rows.latency.some((one) => one > 0)", f"scene {index}")
        for width in (1280, 500):
            browser.window(width)
            time.sleep(0.3)
            over = browser.evaluate("document.documentElement.scrollWidth - innerWidth")
            wrong += [f"scene {index}: wider than a window of {width} px by {over} px"] if over > 0 else []
            if pictures:
                browser.screenshot(pictures / f"firefox-{index}-{width}.png")
    checked = browser.evaluate("verify()")
    wrong += [] if checked["right"] == checked["of"] > 0 else [f"results of the command: {checked}"]
    browser.evaluate("(at('scene').value = 0, at('scene').onchange())")
    browser.evaluate("choose(scene.cure)")
    results = browser.evaluate(RESULTS)
    browser.evaluate("at('share').onclick()")
    browser.open(url + "#" + browser.evaluate("location.hash.slice(1)"))
    until(browser, "ready.then(() => stage !== null && time > 0.3)", "the shared network")
    wrong += [] if browser.evaluate(RESULTS) == results else ["the network behind the address has other results"]
    return wrong


def main() -> int:
    page = pathlib.Path(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if not page.is_file():
        print(f"{page} is missing: make page", file=sys.stderr)
        return 2
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    try:
        with firefox() as browser:
            wrong = check(browser, page, pictures)
    except Failure as failure:
        wrong = [str(failure)]
    for one in wrong:
        print(f"page in Firefox: {one}")
    print(f"page in Firefox: {'all is well' if not wrong else 'something is wrong'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
