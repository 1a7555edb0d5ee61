#!/usr/bin/env python3
"""Measures the page that simulates: speed.py PAGE.html SLUICE.

Printed: for each scene the processor time of a simulated second in Chromium and by the command, and their ratio; frames a
second while forty stations run in real time; the time from opening the file to its first picture and to a network that runs.
"""

import json
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/browser"))

from check_page import HALL, start, until  # noqa: E402
from chromium import chromium, window  # noqa: E402

# Number of repetitions; each figure is the best of them.
TIMES = 3


def cpu(browser):
    """Processor time of all of the browser's renderers, in seconds."""
    session, browser.session = browser.session, None
    try:
        processes = browser.call("SystemInfo.getProcessInfo")["processInfo"]
    finally:
        browser.session = session
    return sum(process["cpuTime"] for process in processes if process["type"] == "renderer")


def in_page(browser, index):
    """Processor time of the scene's first network, in seconds: all of the renderer's."""
    before = cpu(browser)
    browser.evaluate(f"""ask({{ call: "whole", request: measured({index}) }}, () => {{}}).then(() => 0)""")
    return cpu(browser) - before


def native(sluice, scene):
    """Processor time of the same network by the command, which reads the scenario too."""
    file = ROOT / (f"scenarios/{scene['scenario']}.toml" if "scenario" in scene else f"page/scenes/{scene['file']}.toml")
    labels = scene.get("case", {}) | {scene.get("axis", "scheme"): scene["first"]}
    words = [word for pair in labels.items() for word in ("--case", "=".join(pair))]
    words += [word for one in scene.get("set", []) for word in ("--set", one)]
    command = [sluice, "run", file, *words, "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def frames(browser, seconds=10):
    """Frames a second, and the share of the processor's time of one core, while the hall runs in real time."""
    browser.evaluate(f"(at('scene').value = scenes.findIndex(({{ name }}) => name === {json.dumps(HALL)}), at('scene').onchange())")
    until(browser, "stage !== null && time > 1", "the hall")
    before, from_ = cpu(browser), browser.evaluate("time")
    count = browser.evaluate(f"""new Promise((done) => {{
      const begin = performance.now();
      let count = 0;
      const tick = (now) => now - begin < {1000 * seconds} ? (count += 1, requestAnimationFrame(tick)) : done(count);
      requestAnimationFrame(tick);
    }})""")
    return count / seconds, (browser.evaluate("time") - from_) / seconds, (cpu(browser) - before) / seconds


def opening(browser, url):
    """Seconds from the address to the first picture and to a network that runs."""
    start(browser, url)
    paint, ready = browser.evaluate("""[performance.getEntriesByName("first-contentful-paint")[0].startTime,
      performance.getEntriesByName("ready")[0].startTime]""")
    return paint / 1000, ready / 1000


def main():
    page, sluice = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    with chromium() as browser:
        window(browser, 1280, "light")
        paint, ready = map(min, zip(*(opening(browser, page.as_uri()) for _ in range(TIMES))))
        print(f"opens in {paint:.2f} s, runs after {ready:.2f} s")
        rate, pace, load = frames(browser)
        draws = browser.evaluate("""(() => {
          const begin = performance.now();
          for (let count = 0; count < 200; count += 1) draw();
          return (performance.now() - begin) / 200;
        })()""")
        print(f"hall at {pace:.2f} of real time: {rate:.0f} frames/s, {100 * load:.0f} % of a core; a frame takes {draws:.1f} ms")
        browser.evaluate("""(tell({ call: "pause" }), playing = false, measured = (index) => {
          const { toml, set, case: picks, axis: name = "scheme", first } = scenes[index];
          return { toml, set: set ?? [], case: Object.entries({ ...picks, [name]: first }).map((pair) => pair.join("=")), seed: 1 };
        }, 0)""")
        for index, scene in enumerate(json.loads(browser.evaluate("JSON.stringify(scenes)"))):
            here = min(in_page(browser, index) for _ in range(TIMES))
            there = min(native(sluice, scene) for _ in range(TIMES))
            print(f"{scene['file']:8} Chromium {here:6.2f} s, command {there:6.2f} s of CPU: {here / there:.2f}", flush=True)
            time.sleep(0.1)


if __name__ == "__main__":
    main()
