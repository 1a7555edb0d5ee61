#!/usr/bin/env python3
"""Builds the page: build.py WASM SLUICE OUT.

OUT/sluice.html is one file that works from disk: WebAssembly, library, scenes and scripts are in it. The results of each
scene's networks over a few seconds, by the command SLUICE, are recorded in it as fingerprints, which the page can check.
"""

import base64
import gzip
import json
import pathlib
import shutil
import subprocess
import sys

# The licence asks that this notice goes along with every copy.
NOTICE = """\
/*! uPlot: Copyright (c) Leon Sorokin. CodeMirror and Lezer: Copyright (c) Marijn Haverbeke and others. MIT licence:
 * permission is granted, free of charge, to deal in the software without restriction; provided "as is", without warranty. */
"""
# What is bundled with the libraries, the first of them is where it begins.
MODULES = ["bundle.js", "editor.js", "language.js", "where.js"]
# The page's scripts, one after another.
SCRIPTS = ["show", "charts", "place", "air", "beside", "share", "main"]
HERE = pathlib.Path(__file__).resolve().parent
# How long the networks run whose results are compared, unless the scene says otherwise.
CHECKED = "2 s"


def bundle(folder):
    """The libraries' script, with the editor, and their style: what package-lock.json pins, fetched once by npm."""
    lock = HERE / "package-lock.json"
    there = folder / lock.name
    if not there.exists() or there.read_text() != lock.read_text() or not (folder / "node_modules").exists():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "package.json", folder)
        shutil.copy(lock, folder)
        fetch = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(fetch, cwd=folder, check=True, stdout=sys.stderr)
    for name in MODULES:
        shutil.copy(HERE / name, folder)
    form = ["--bundle", "--minify", "--format=iife", "--global-name=libraries", "--log-level=warning"]
    command = [folder / "node_modules/.bin/esbuild", MODULES[0], *form]
    script = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    # In strings it means the same.
    script = script.replace("</script", "<\\/script")
    return NOTICE + script, (folder / "node_modules/uplot/dist/uPlot.min.css").read_text()


def packed(content):
    """Compressed, as text."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def fingerprint(text):
    """FNV-1a of 64 bits, as in main.js."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def results(sluice, file, scene, label):
    """The results of a case as the command prints them, without what says who made them when."""
    labels = scene.get("case", {}) | {scene.get("axis", "scheme"): label}
    cases = [word for pair in labels.items() for word in ("--case", "=".join(pair))]
    command = [sluice, "run", file, *cases, "--set", f"duration={scene['checked']}", "--json"]
    line = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    _, _, rest = line.partition('"cpu_s":')
    fields, _, _ = rest[rest.index(",") + 1 :].rpartition(',"claims":')
    return "{" + fields + "}"


def scenes(sluice):
    """The scenes with their scenarios and fingerprints: a file of this folder, or an experiment with all that it inherits."""
    for scene in json.loads((HERE / "scenes.json").read_text()):
        if experiment := scene.get("scenario"):
            file = HERE.parent / f"scenarios/{experiment}.toml"
            text = subprocess.run([sluice, "check", "--expand", file], check=True, stdout=subprocess.PIPE, text=True).stdout
            scene["id"] = next(line.split('"')[1] for line in text.splitlines() if line.startswith("id = "))
        else:
            file = HERE / f"scenes/{scene['file']}.toml"
            text = file.read_text()
        labels = scene.get("labels") or [line.split('"')[1] for line in text.splitlines() if line.strip().startswith("{ label =")]
        scene = {"checked": CHECKED, **scene}
        marks = {label: fingerprint(results(sluice, file, scene, label)) for label in labels}
        yield {**scene, "toml": text, "fingerprints": marks}


def main():
    wasm, sluice, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    script, style = bundle(out / "npm")
    schema = json.loads((HERE.parent / "docs/scenario.schema.json").read_text())
    data = json.dumps(list(scenes(sluice)))
    version = subprocess.run([sluice, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[1]
    parts = {
        "/*VERSION*/": version,
        "/*STYLE*/": style + (HERE / "style.css").read_text(),
        "/*WASM*/": packed(wasm.read_bytes()),
        "/*SCHEMA*/": packed(json.dumps(schema, separators=(",", ":")).encode()),
        "/*SCENES*/": data.replace("</", "<\\/"),
        "/*WORKER*/": (HERE / "worker.js").read_text(),
        "/*LIBRARIES*/": script,
        "/*MAIN*/": "\n".join((HERE / f"{name}.js").read_text() for name in SCRIPTS),
    }
    page = (HERE / "index.html").read_text()
    for mark, part in parts.items():
        page = page.replace(mark, part)
    (out / "sluice.html").write_text(page)
    print(f"page: {out / 'sluice.html'}, {len(page) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
