#!/usr/bin/env python3
"""Builds the page: build.py WASM SLUICE OUT.

OUT/sluice.html is one file that works from disk: WebAssembly, library, scenes and scripts are in it. The results of each
scene's networks over a few seconds, by the command SLUICE, are recorded in it as fingerprints, which the page can check.
"""

import base64
import gzip
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

# The page's scripts, one after another.
SCRIPTS = ["show", "charts", "place", "air", "beside", "share", "main"]
HERE = pathlib.Path(__file__).resolve().parent
# The charting library: MIT licence, Leon Sorokin.
LIBRARY = "uplot@1.6.32"
# How long the networks run whose results are compared.
CHECKED = "2 s"


def library(folder):
    """Script and style of the charting library, fetched once."""
    kept = folder / LIBRARY
    if not (kept / "package").exists():
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(["npm", "pack", "--silent", LIBRARY, "--pack-destination", place], check=True, stdout=sys.stderr)
            (packed,) = pathlib.Path(place).glob("*.tgz")
            with tarfile.open(packed) as archive:
                archive.extractall(kept, filter="data")
    dist = kept / "package/dist"
    notice = f"/*! {LIBRARY}, Copyright (c) Leon Sorokin, MIT licence: provided \"as is\", without warranty of any kind. */\n"
    return notice + (dist / "uPlot.iife.min.js").read_text(), (dist / "uPlot.min.css").read_text()


def fingerprint(text):
    """FNV-1a of 64 bits, as in main.js."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def results(sluice, file, label):
    """The results of a case as the command prints them, without what says who made them when."""
    command = [sluice, "run", file, "--case", f"scheme={label}", "--set", f"duration={CHECKED}", "--json"]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    _, _, rest = line.partition('"cpu_s":')
    fields, _, _ = rest[rest.index(",") + 1 :].rpartition(',"claims":')
    return "{" + fields + "}"


def scenes(sluice):
    """The scenes with their scenarios and fingerprints."""
    for scene in json.loads((HERE / "scenes.json").read_text()):
        file = HERE / f"scenes/{scene['file']}.toml"
        text = file.read_text()
        labels = [line.split('"')[1] for line in text.splitlines() if line.strip().startswith("{ label =")]
        marks = {label: fingerprint(results(sluice, file, label)) for label in labels}
        yield {**scene, "toml": text, "checked": CHECKED, "fingerprints": marks}


def main():
    wasm, sluice, out = (pathlib.Path(argument) for argument in sys.argv[1:])
    script, style = library(out / "npm")
    packed = base64.b64encode(gzip.compress(wasm.read_bytes(), 9, mtime=0)).decode()
    data = json.dumps(list(scenes(sluice.resolve())))
    parts = {
        "/*STYLE*/": style + (HERE / "style.css").read_text(),
        "/*WASM*/": packed,
        "/*SCENES*/": data.replace("</", "<\\/"),
        "/*WORKER*/": (HERE / "worker.js").read_text(),
        "/*UPLOT*/": script,
        "/*MAIN*/": "\n".join((HERE / f"{name}.js").read_text() for name in SCRIPTS),
    }
    page = (HERE / "index.html").read_text()
    for mark, part in parts.items():
        page = page.replace(mark, part)
    (out / "sluice.html").write_text(page)
    print(f"page: {out / 'sluice.html'}, {len(page) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
