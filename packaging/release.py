#!/usr/bin/env python3
"""Makes the files of a release that are not in the repository: release.py check [TAG] | crates [OPTIONS OF cargo
publish] | files | urls.

`check` compares the version in all files that name it with that of Cargo.toml, and with a tag. `crates` calls `cargo
publish` in a copy of the workspace, target/crates: there path dependencies have a version, and each crate has the
licences and the files that it otherwise finds elsewhere in the repository. `files` fills target/release-files: the
tarball of `make openwrt`, a Debian source package and a Homebrew formula of it. `urls` writes the project's address
into this checkout's python/pyproject.toml, before wheels are built. SLUICE_HOME is the address of the project's host,
without /releases: `files` and `urls` need it, and with it `crates` adds `homepage` and `repository` to each crate.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
HERE = ROOT / "packaging"
HOME = os.environ.get("SLUICE_HOME", "").rstrip("/")
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
# Other places of the version: the first match in each file.
ELSEWHERE = {
    "CHANGELOG.md": r"^## (\d\S*)",
    "CITATION.cff": r"^version: (.*)",
    "packaging/debian/changelog": r"^sluice \((.*)-1\)",
    "packaging/openwrt/luci-app-sluice/Makefile": r"^PKG_VERSION:=(.*)",
    "packaging/openwrt/sluice/Makefile": r"^PKG_VERSION:=(.*)",
}
# For each crate: files of the repository that it embeds, and where its copy has them.
EMBEDDED = {
    "evidence": {"evidence": "evidence", "crates/lab/carry.rs": "carry.rs"},
    "lab": {"scenarios": "scenarios", "target/charts": "charts"},
}
# Files that the copy's build script then reads.
PATHS = {
    "evidence/build.rs": ('"../lab/carry.rs"', '"carry.rs"'),
    "evidence/carry.rs": ('.join("../..")', ""),
    "lab/build.rs": ('"../../target/charts"', '"charts"'),
    "lab/carry.rs": ('.join("../..")', ""),
}


def check(tag=None):
    """Compares all versions."""
    found = {name: re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)[1] for name, pattern in ELSEWHERE.items()}
    if tag:
        found["the tag"] = tag.removeprefix("v")
    wrong = [f"release: {name} has version {version}, Cargo.toml {VERSION}" for name, version in found.items() if version != VERSION]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"release: {len(found)} places have version {VERSION}")


def crates(*options):
    """Calls `cargo publish` in the copy."""
    copy = ROOT / "target/crates"
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        place(ROOT / name, copy / name)
    edit(copy / "Cargo.toml", r'(path = "crates/)', rf'version = "{VERSION}", \1')
    for manifest in copy.glob("crates/*/Cargo.toml"):
        if "publish = false" not in manifest.read_text():
            prepare(manifest.parent)
    for name, (written, becomes) in PATHS.items():
        edit(copy / "crates" / name, re.escape(written), becomes)
    # The copy's own sources, whatever folder this machine builds in: two runs compile dependencies once.
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target/crates-build")}
    command = ["cargo", "publish", "--workspace", "--locked", *options]
    sys.exit(subprocess.run(command, cwd=copy, env=environment, check=False).returncode)


def prepare(crate):
    """Adds to the copy of a crate what it needs outside of the workspace."""
    for licence in ROOT.glob("LICENSE-*"):
        place(licence, crate / licence.name)
    for source, name in EMBEDDED.get(crate.name, {}).items():
        place(ROOT / source, crate / name)
    if HOME:
        edit(crate / "Cargo.toml", r"^(license\.workspace = true)$", rf'\1\nhomepage = "{HOME}"\nrepository = "{HOME}"')


def place(source, target):
    """Copies a file or a folder, with the folders above it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def edit(path, pattern, replacement):
    """Replaces a pattern in a file of the copy; it must be there."""
    text, count = re.subn(pattern, replacement, path.read_text(), flags=re.MULTILINE)
    if count == 0:
        sys.exit(f"release: {path.relative_to(ROOT)} has no {pattern}")
    path.write_text(text)


def urls():
    """Adds the address to the metadata of the Python package."""
    need_home()
    links = rf'[project.urls]\nHomepage = "{HOME}"\nRepository = "{HOME}"'
    edit(ROOT / "python/pyproject.toml", r"^(\[project.optional-dependencies\])$", rf"{links}\n\n\1")


def need_home():
    if not HOME:
        sys.exit("release: set SLUICE_HOME to where the project is hosted, the address before /releases")


def files():
    """Makes all files of a release that Cargo does not make."""
    need_home()
    folder = ROOT / "target/release-files"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["make", "openwrt"], cwd=ROOT, check=True)
    tarball = folder / f"sluice-{VERSION}.tar.gz"
    place(ROOT / "target/openwrt" / tarball.name, tarball)
    fill(HERE / "sluice.rb.in", folder / "sluice.rb", hashlib.sha256(tarball.read_bytes()).hexdigest())
    debian(folder, tarball)
    for path in sorted(folder.iterdir()):
        print(path.relative_to(ROOT))


def fill(template, target, digest=""):
    """Writes a file from its template."""
    text = template.read_text()
    for name, value in {"HOME": HOME, "VERSION": VERSION, "SHA256": digest}.items():
        text = text.replace(f"@{name}@", value)
    target.write_text(text)


def debian(folder, tarball):
    """Makes a source package."""
    source = ROOT / "target/release-source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    shutil.copy(tarball, source / f"sluice_{VERSION}.orig.tar.gz")
    subprocess.run(["tar", "-xzf", tarball], cwd=source, check=True)
    unpacked = source / f"sluice-{VERSION}"
    shutil.copytree(HERE / "debian", unpacked / "debian")
    (unpacked / "debian/watch.in").unlink()
    fill(HERE / "debian/watch.in", unpacked / "debian/watch")
    edit(unpacked / "debian/control", r"^(Maintainer: .*)$", rf"\1\nHomepage: {HOME}")
    subprocess.run(["dpkg-source", "--build", unpacked.name], cwd=source, check=True)
    for path in source.iterdir():
        if path.is_file():
            shutil.copy(path, folder)


def main():
    commands = {command.__name__: command for command in (check, crates, files, urls)}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
