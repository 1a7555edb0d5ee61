#!/usr/bin/env python3
"""Drives an interactive report in headless Chromium: check_trial.py REPORT.html [SCREENSHOTS]. The report is of

    sluice reproduce adth-s1a --seeds 1 --interactive

Checked: without changes the charts drawn anew are those reported; with another rate they differ, and "As reported" restores
them; a wrong key is refused as by the command; the experiment's network runs packet by packet; nothing is fetched.
"""

import json
import pathlib
import sys

from check_page import faults, until
from chromium import Failure, chromium, open_drawn, screenshot, window

# Everything that the first chart shows: its lines and their points.
SHOWN = """[...document.querySelectorAll("#chart-0-0-0 svg path")].map((path) => path.getAttribute("d")).join(" ")"""
BUTTONS = """Object.fromEntries([...document.querySelectorAll(".trial button")].map((one) => [one.textContent, one]))"""


def again(browser, keys):
    """Draws the charts anew with these keys; what the report then says."""
    browser.evaluate(f"""(document.querySelector(".trial textarea").value = {json.dumps(keys)},
      document.querySelector(".trial input[type=checkbox]").checked = false,
      {BUTTONS}["Draw the charts anew"].click())""")
    until(browser, f"{BUTTONS}['Draw the charts anew'] !== undefined", "the charts")
    return browser.evaluate("document.querySelector('.trial .note').textContent")


def check(browser, page, pictures):
    """The list of what is wrong."""
    wrong = []

    def expect(condition, what):
        if not condition:
            wrong.append(what)

    window(browser, 1280, "light")
    open_drawn(browser, page.resolve().as_uri())
    until(browser, "document.querySelector('.trial') !== null", "the form")
    chart = browser.evaluate("document.querySelector('.plot').id.replace(/-\\d+$/, '')")
    shown = SHOWN.replace("chart-0-0", chart)
    reported = browser.evaluate(shown)
    expect(len(reported) > 100, "the report's chart is empty")
    said = again(browser, "")
    expect(said.startswith("The charts are of"), said)
    expect(browser.evaluate(shown) == reported, "without changes the charts are others")
    said = again(browser, "flow.forward.traffic.rate=1 Mb/s")
    expect("1 Mb/s" in said and browser.evaluate(shown) != reported, f"another rate changes nothing: {said}")
    if pictures:
        screenshot(browser, pictures / "trial.png", 1600)
    browser.evaluate(f"{BUTTONS}['As reported'].click()")
    until(browser, f"{shown} === {json.dumps(reported)}", "the reported charts")
    said = again(browser, "queue.limt=3")
    expect("did you mean" in said, f"a wrong key: {said}")
    browser.evaluate(f"(document.querySelector('.trial textarea').value = '', {BUTTONS}['Packet by packet'].click())")
    inside = "document.querySelector('iframe').contentWindow"
    until(browser, f"{inside}.eval('typeof stage !== \"undefined\" && stage !== null && time > 0.3')", "the network, packet by packet")
    if pictures:
        screenshot(browser, pictures / "trial-packets.png", 2400)
    return wrong + faults(browser)


def main():
    report = pathlib.Path(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    try:
        with chromium() as browser:
            wrong = check(browser, report, pictures)
    except Failure as failure:
        wrong = [str(failure)]
    for one in wrong:
        print(f"interactive report: {one}")
    print(f"interactive report: {'all is well' if not wrong else 'something is wrong'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
