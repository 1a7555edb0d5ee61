#!/usr/bin/env python3
"""Holds packaging/openwrt to the SDK's conventions as far as that goes without an SDK: check_openwrt.py.

Stand-ins for the SDK's makefiles run the recipes of what `make openwrt` makes: the tarball is found, has the hash and is of
the last commit, Cargo is called for the right crate, and the files come where a router has them; hosts are named only where
SLUICE_HOME says one. The scripts are read by shellcheck and LuCI's pages are run by
Node with stand-ins for LuCI, where these are there.
"""

import json
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "packaging/openwrt/sluice"
PAGE = PACKAGE.parent / "luci-app-sluice"
RULES = """
INCLUDE_DIR := $(TOPDIR)/include
BUILD_DIR := $(TOPDIR)/build
PKG_BUILD_DIR = $(BUILD_DIR)/$(PKG_NAME)-$(PKG_VERSION)
PKG_INSTALL_DIR := $(TOPDIR)/built
INSTALL_DIR := install -d -m0755
INSTALL_BIN := install -m0755
INSTALL_CONF := install -m0600
"""
# What BuildPackage and Build/Compile/Cargo stand for, in a line each. The first address is a folder.
PACKAGE_MK = """
define BuildPackage
$(eval $(Package/$(1)))
all:
	printf '%s\\n' "$$(PKG_MAINTAINER)" "$$(URL)" "$$(wordlist 2,9,$$(PKG_SOURCE_URL))" > $(TOPDIR)/said
	echo "$$(PKG_HASH)  $$(patsubst file://%,%,$$(firstword $$(PKG_SOURCE_URL)))/$$(PKG_SOURCE)" | sha256sum --check --quiet
	tar -xzf $$(patsubst file://%,%,$$(firstword $$(PKG_SOURCE_URL)))/$$(PKG_SOURCE) -C $$(BUILD_DIR)
	$$(Build/Compile)
	$$(call Package/$(1)/install,$(TOPDIR)/root)
endef
"""
RUST_MK = """
define Build/Compile/Cargo
test -f $(PKG_BUILD_DIR)/$(1)/Cargo.toml
git -C SLUICE_ROOT show HEAD:$(1)/Cargo.toml | cmp - $(PKG_BUILD_DIR)/$(1)/Cargo.toml
echo "cargo --profile=$(CARGO_PKG_PROFILE) --path=$(1) $(2)" > $(TOPDIR)/cargo
endef
"""
FILES = {
    "usr/sbin/sluice": 0o755,
    "usr/libexec/sluice-collectd": 0o755,
    "etc/init.d/sluice": 0o755,
    "etc/config/sluice": 0o600,
}
VERSION = re.search(r"^PKG_VERSION:=(.*)$", (PACKAGE / "Makefile").read_text(), re.MULTILINE)[1]
HOME = "https://forge.example/owner/sluice"
HOMES = {
    "": ["The Sluice authors", "", ""],
    HOME: [f"The Sluice authors <{HOME}>", HOME, f"{HOME}/releases/download/v{VERSION}"],
}
# LuCI evaluates a page as a function of what it requires. An element is a list of its name and its children.
LUCI = """
const [file, ...told] = process.argv.slice(1), shown = [];
const E = (tag, attributes, children) => Object.assign([tag, ...(children || [])], {
    replaceChildren(...now) { this.splice(1, this.length, ...now); } });
const modules = { view: { extend: (page) => page }, poll: { add: (again) => shown.push(again) } };
const text = require('fs').readFileSync(file, 'utf8');
for (const answer of told) {
    modules.fs = { exec: (...command) => { shown.push(command); return Promise.resolve(JSON.parse(answer)); } };
    const page = Function('E', '_', ...Object.keys(modules), text)(E, (text) => text, ...Object.values(modules));
    page.load().then((queues) => {
        const node = page.render(queues);
        return shown.pop()().then(() => console.log(JSON.stringify(node)));
    });
}
"""
# As in LUCI, for a page of forms: which options it sets in sections of each type.
FORM = """
const options = {}, kinds = [ 'Flag', 'Value', 'ListValue', 'DynamicList', 'NamedSection', 'GridSection' ];
const section = (set) => ({ option: (kind, name) => { set.push(`${kind} ${name}`); return { value: () => {} }; } });
const form = Object.fromEntries(kinds.map((kind) => [ kind, kind ]));
form.Map = class { section(kind, ...names) { return section(options[names[0]] = []); } render() { return options; } };
const text = require('fs').readFileSync(process.argv[1], 'utf8');
console.log(JSON.stringify(Function('_', 'form', 'view', text)((text) => text, form, { extend: (page) => page }).render()));
"""
# What `sluice status --json` prints of a queue that is governed and of one that is not.
GOVERNED = {
    **{"device": "wlan0", "place": "root", "state": "governing", "kind": "txq", "controller": "<b>", "limit_packets": 96},
    **{"target_delay_s": 0.05, "last": {"backlog_packets": 7, "sojourn_s": {"mean": 0.01234}}},
    "totals": {"arrived_packets": 800, "dropped_packets": 2},
    "events": [{"at": "2", "device": "wlan0", "what": "limit", "words": "96"}],
}
WAITING = {
    **{"device": "wan", "place": "1:10", "state": "waiting", "why": "no interface wan", "kind": "", "controller": "ebdp"},
    **{"limit_bytes": 64000, "totals": {"arrived_packets": 0, "dropped_packets": 0}},
    "events": [{"at": "1", "device": "wan", "what": "waiting", "words": "no interface wan"}],
}
CELLS = [
    ["wlan0", "governing", "txq", "<b>", "96", "7", "12.3 ms", "50.0 ms", "0.25 %"],
    ["wan 1:10", "waiting: no interface wan", "-", "ebdp", "64000 B", "-", "-", "-", "-"],
]


def shown():
    """What LuCI's page shows of two queues, and without an agent."""
    answers = [{"code": 0, "stdout": json.dumps([GOVERNED, WAITING])}, {"code": 3, "stdout": "[]"}]
    page = PAGE / "htdocs/luci-static/resources/view/status/sluice.js"
    command = ["node", "--eval", LUCI, page, *map(json.dumps, answers)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in told.splitlines():
        _, (_, title), (_, what, _, (_, events)) = json.loads(line)
        yield title, what, events


def check_form():
    """LuCI's form sets what the init script reads, no more and no less."""
    page = PAGE / "htdocs/luci-static/resources/view/services/sluice.js"
    told = json.loads(subprocess.run(["node", "--eval", FORM, page], check=True, capture_output=True, text=True).stdout)
    script = (PACKAGE / "files/sluice.init").read_text()
    read = re.compile(r'(?:config_get(?:_bool)? \w+|write_key|config_list_foreach) ("\$1"|main) (\w+)')
    for where, section in {"main": "main", '"$1"': "queue"}.items():
        names = sorted(name for of, name in read.findall(script) if of == where)
        if names != sorted(option.split()[1] for option in told[section]):
            sys.exit(f"openwrt: LuCI's form of {section} sets {told[section]}, the init script reads {names}")
    if "DynamicList queue" not in told["queue"]:
        sys.exit("openwrt: lines of [queue] are a list")


def check_page():
    """LuCI's page shows what the agents tell, as text."""
    for file in PAGE.glob("root/**/*.json"):
        json.loads(file.read_text())
    (_, (kind, head, *rows), events), (_, nothing, no_events) = shown()
    cells = [[cell[1] for cell in row[1:]] for row in rows]
    if (kind, cells, len(head) - 1) != ("table", CELLS, len(CELLS[0])):
        sys.exit(f"openwrt: LuCI's page shows {cells}")
    if events.splitlines() != ["2 wlan0 limit: 96", "1 wan waiting: no interface wan"] or no_events:
        sys.exit(f"openwrt: LuCI's page shows {events}")
    if "No agent runs" not in nothing[1]:
        sys.exit(f"openwrt: LuCI's page shows {nothing} without an agent")


def build(package, home, expected):
    """Runs the recipes of the package with a stand-in for the SDK."""
    with tempfile.TemporaryDirectory() as folder:
        sdk = pathlib.Path(folder)
        rust_mk = RUST_MK.replace("SLUICE_ROOT", str(ROOT))
        stubs = {"rules.mk": RULES, "include/package.mk": PACKAGE_MK, "feeds/packages/lang/rust/rust-package.mk": rust_mk}
        for name, text in stubs.items():
            (sdk / name).parent.mkdir(parents=True, exist_ok=True)
            (sdk / name).write_text(text)
        for name in ("build", "built/bin"):
            (sdk / name).mkdir(parents=True)
        (sdk / "built/bin/sluice").touch()
        # As the SDK reaches a package of a feed: by a link.
        (sdk / "sluice").symlink_to(package)
        subprocess.run(["make", "-s", "-C", sdk / "sluice", f"TOPDIR={sdk}", f"SLUICE_HOME={home}"], check=True)
        said = (sdk / "said").read_text().splitlines()
        if said != expected:
            sys.exit(f"openwrt: with SLUICE_HOME={home} maintainer, address and sources are {said}")
        called = (sdk / "cargo").read_text().strip()
        if called != "cargo --profile=small --path=crates/cli --no-default-features":
            sys.exit(f"openwrt: {called}")
        root = sdk / "root"
        found = {
            str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*") if path.is_file()
        }
        if found != FILES:
            sys.exit(f"openwrt: installs {found}")


def main():
    made = ROOT / "target/openwrt"
    files = lambda: {path: path.read_bytes() for path in sorted(made.rglob("*")) if path.is_file()}
    subprocess.run(["make", "-s", "openwrt"], check=True, cwd=ROOT)
    once = files()
    subprocess.run(["make", "-s", "openwrt"], check=True, cwd=ROOT)
    if files() != once:
        sys.exit("openwrt: a second make of the same commit differs")
    for home, expected in HOMES.items():
        build(made / "sluice", home, expected)
    checked = [
        "the scripts are not checked by shellcheck, which is not here",
        "LuCI's pages are not checked by Node, which is not here",
    ]
    if shutil.which("shellcheck"):
        # procd reads the variables and calls the functions; BusyBox's shell has no more than dash.
        scripts = [PACKAGE / "files/sluice.init", PACKAGE / "files/sluice.collectd"]
        subprocess.run(["shellcheck", "--shell=dash", "--exclude=SC2034", *scripts], check=True)
        checked[0] = "the scripts are sound to shellcheck"
    if shutil.which("node"):
        check_page()
        check_form()
        checked[1] = "LuCI's pages show what agents tell and set what the init script reads"
    print(f"openwrt: the recipes build and install what they should; {'; '.join(checked)}")


if __name__ == "__main__":
    main()
