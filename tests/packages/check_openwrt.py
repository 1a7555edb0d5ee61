#!/usr/bin/env python3
"""Holds packaging/openwrt to the SDK's conventions as far as that goes without an SDK: check_openwrt.py.

Stand-ins for the SDK's makefiles run the package's recipes: the sources are those of the repository, Cargo is called for
the right crate, and the files come where a router has them. The init script is read by shellcheck, where there is one.
"""

import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "packaging/openwrt"
RULES = """
INCLUDE_DIR := $(TOPDIR)/include
PKG_BUILD_DIR := $(TOPDIR)/build
PKG_INSTALL_DIR := $(TOPDIR)/built
INSTALL_DIR := install -d -m0755
INSTALL_BIN := install -m0755
INSTALL_CONF := install -m0600
"""
# What BuildPackage and Build/Compile/Cargo stand for, in a line each.
PACKAGE_MK = """
define BuildPackage
all:
	$$(Build/Prepare)
	$$(Build/Compile)
	$$(call Package/$(1)/install,$(TOPDIR)/root)
endef
"""
RUST_MK = """
define Build/Compile/Cargo
test -f $(PKG_BUILD_DIR)/$(1)/Cargo.toml
echo "cargo --profile=$(CARGO_PKG_PROFILE) --path=$(1) $(2)" > $(TOPDIR)/cargo
endef
"""
FILES = {"usr/sbin/sluice": 0o755, "etc/init.d/sluice": 0o755, "etc/config/sluice": 0o600}


def main():
    with tempfile.TemporaryDirectory() as folder:
        sdk = pathlib.Path(folder)
        stubs = {"rules.mk": RULES, "include/package.mk": PACKAGE_MK, "feeds/packages/lang/rust/rust-package.mk": RUST_MK}
        for name, text in stubs.items():
            (sdk / name).parent.mkdir(parents=True, exist_ok=True)
            (sdk / name).write_text(text)
        for name in ("build", "built/bin"):
            (sdk / name).mkdir(parents=True)
        (sdk / "built/bin/sluice").touch()
        # As the SDK reaches a package of a feed: by a link.
        (sdk / "sluice").symlink_to(PACKAGE)
        subprocess.run(["make", "-s", "-C", sdk / "sluice", f"TOPDIR={sdk}"], check=True)
        called = (sdk / "cargo").read_text().strip()
        if called != "cargo --profile=small --path=crates/cli --no-default-features":
            sys.exit(f"openwrt: {called}")
        root = sdk / "root"
        found = {
            str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*") if path.is_file()
        }
        if found != FILES:
            sys.exit(f"openwrt: installs {found}")
    script = PACKAGE / "files/sluice.init"
    checked = "not checked by shellcheck, which is not here"
    if shutil.which("shellcheck"):
        # procd reads the variables and calls the functions; BusyBox's shell has no more than dash.
        subprocess.run(["shellcheck", "--shell=dash", "--exclude=SC2034", script], check=True)
        checked = "sound to shellcheck"
    print(f"openwrt: the recipes build and install what they should; the init script is {checked}")


if __name__ == "__main__":
    main()
