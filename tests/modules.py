"""Check that no file of tests is forgotten: each of integration tests is a module of its crate's only test binary, and each
network of the fingerprints is in their list."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = re.compile(r"^mod (\w+);", re.MULTILINE)


def main():
    forgotten = []
    count = 0
    for binary in sorted(ROOT.glob("crates/*/tests/main.rs")):
        modules = set(MODULE.findall(binary.read_text()))
        files = {path.stem for path in binary.parent.glob("*.rs")} - {"main"}
        folders = {path.parent.name for path in binary.parent.glob("*/mod.rs")}
        count += len(modules)
        forgotten += [f"{binary.relative_to(ROOT)}: no `mod {name};`" for name in sorted((files | folders) - modules)]
    networks = ROOT / "crates/sim/tests/networks"
    listed = (networks / "all.rs").read_text()
    forgotten += [f"{networks.relative_to(ROOT)}/all.rs: no {path.stem}" for path in networks.glob("*.toml") if f'"{path.stem}"' not in listed]
    if forgotten:
        sys.exit("\n".join(forgotten))
    print(f"modules: {count} of integration tests, none forgotten")


if __name__ == "__main__":
    main()
