"""Check that what builds on macOS and Windows uses nothing of Unix except behind a `cfg`.

Crate `linux` and the files of modules that their parent declares behind `cfg(target_os = "linux")` are left out.
`make portable` has the compiler check the same where rustup has the targets.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OF_UNIX = re.compile(r"\b(?:std::os::(?:unix|linux|fd)|rustix::|nix::|libc::|linux::)")
MODULE = re.compile(r'#\[cfg\(target_os = "linux"\)\]\s*(?:pub )?mod (\w+);')
# An item behind `cfg(unix)` or `cfg(target_os = "linux")`: to the brace that closes it in its column, or to its semicolon.
BEHIND = re.compile(r'^([ \t]*)#\[cfg\((?:unix|target_os = "linux")\)\]\n(?:(?:(?!^\1}\n).)*?;\n(?!\1[ \t])|.*?^\1}\n)', re.MULTILINE | re.DOTALL)
TESTS = re.compile(r"^#\[cfg\((?:all\()?test\b[^\n]*\n.*", re.MULTILINE | re.DOTALL)


def of_linux(crate):
    """The files of a crate's modules that are only for Linux."""
    for parent in crate.rglob("*.rs"):
        folder = parent.parent if parent.stem in ("main", "lib", "mod") else parent.with_suffix("")
        for name in MODULE.findall(parent.read_text()):
            yield folder / f"{name}.rs"
            yield from (folder / name).rglob("*.rs")


def main():
    found = []
    count = 0
    for crate in sorted(ROOT.glob("crates/*/src")):
        if crate.parent.name == "linux":
            continue
        for path in sorted(set(crate.rglob("*.rs")) - set(of_linux(crate))):
            count += 1
            text = TESTS.sub("", BEHIND.sub("", path.read_text()))
            used = OF_UNIX.search(re.sub(r"//.*", "", text))
            if used:
                found.append(f"{path.relative_to(ROOT)}: {used[0]} outside of a cfg does not build on Windows")
    if found:
        sys.exit("\n".join(found))
    print(f"portable: {count} files use nothing of Unix")


if __name__ == "__main__":
    main()
