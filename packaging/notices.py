#!/usr/bin/env python3
"""Prints the notices of everything that is linked into or embedded in the binary, as the licences require.

notices.py [FEATURE-OPTIONS OF CARGO...]: of the crates that such a build has.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


def linked(options):
    """The third-party packages in the command, without those that only build or test it."""
    platform = "--filter-platform=x86_64-unknown-linux-gnu"
    command = ["cargo", "metadata", "--format-version=1", "--locked", platform, *options]
    data = json.loads(subprocess.run(command, cwd=ROOT / "crates/cli", check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    todo, found = [data["resolve"]["root"]], {}
    while todo:
        name = todo.pop()
        for dependency in nodes[name]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and dependency["pkg"] not in found:
                found[dependency["pkg"]] = packages[dependency["pkg"]]
                todo.append(dependency["pkg"])
    return sorted((package for package in found.values() if package["source"]), key=lambda package: package["name"])


def main():
    by_text = {}
    print("Sluice contains these works of others, and Rust's standard library (MIT OR Apache-2.0).\n")
    for package in linked(sys.argv[1:] or ["--features=bpf"]):
        print(f"{package['name']} {package['version']}: {package['license']}")
        folder = pathlib.Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.name.upper().startswith(NAMES):
                text = file.read_text(encoding="utf-8", errors="replace").strip()
                by_text.setdefault(text, []).append(package["name"])
    charts = ROOT / "target/charts/vega.js"
    if charts.exists():
        notice = charts.read_text(encoding="utf-8").partition("*/")[0]
        by_text[notice.strip("/*! \n")] = ["the charting library of reports"]
    for text, names in by_text.items():
        print(f"\n{'=' * 80}\n{', '.join(names)}\n{'-' * 80}\n{text}")


if __name__ == "__main__":
    main()
