"""Check that no crate but `control` (and `theory`, which has their closed forms) names a scheme: one file and one registry entry
are all that a scheme takes. Examples in help texts and documentation, and tests, may name one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REGISTRY = re.compile(r"^registry::controllers! \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^    (\w+): (\w+),", re.MULTILINE)
COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
TESTS = re.compile(r"^#\[cfg\(test\)\]\n[\w() ]*mod \w+ \{.*", re.MULTILINE | re.DOTALL)


def main():
    entries = ENTRY.findall(REGISTRY.search((ROOT / "crates/control/src/lib.rs").read_text()).group(1))
    modules, types = ("|".join(names) for names in zip(*entries))
    named = re.compile(rf"\b(?:Name|AnyController)::(?:{types})\b|\bcontrol::(?:{modules})\b|\"(?:{modules})\"")
    found = []
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        crate = path.relative_to(ROOT / "crates").parts[0]
        if crate in ("control", "theory") or path.stem.endswith("tests") or "tests" in path.parts:
            continue
        code = COMMENT.sub("", TESTS.sub("", path.read_text()))
        found += [f"{path.relative_to(ROOT)}: names a scheme: {match.group()}" for match in named.finditer(code)]
    if found:
        sys.exit("\n".join(found))
    print(f"schemes: {len(entries)}, named in no crate but control")


if __name__ == "__main__":
    main()
