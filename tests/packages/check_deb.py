#!/usr/bin/env python3
"""Installs, tries, upgrades, removes and purges the Debian package that `make deb` made: check_deb.py [RELEASE].

In a tree of Debian's packages, of this machine's release unless another is named, that is made once in target/deb-test.
Nothing may be left of the package in the end: the tree's files are the same as before, and the tree serves again.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/live"))
import image  # pylint: disable=wrong-import-position

# Of the tree: what the package depends on, and what checks it.
PACKAGES = ["libelf1", "lintian", "man-db", "procps", "systemd", "zlib1g"]
# What dpkg, ldconfig and man write about any package, by the beginning of the path.
LOGS = ("proc/", "tmp/", "var/cache/", "var/lib/dpkg/", "var/log/", "var/lib/systemd/deb-systemd-helper")
CONFIGURATION = "etc/sluice/agent.toml"


class Tree:
    """A tree of Debian's files, in which commands run as root."""

    def __init__(self, release):
        self.place = ROOT / "target/deb-test" / release
        self.clean = self.place.with_suffix(".clean")
        if self.clean.exists():
            return
        self.place.parent.mkdir(parents=True, exist_ok=True)
        line = f"deb {image.Packages.origin()} {release} main"
        options = ["--quiet", "--mode=root", "--variant=apt", f"--include={','.join(PACKAGES)}"]
        image.debian.patiently(["mmdebstrap", *options, release, self.place, line], makes=self.place)
        # Man pages, documents and translations stay out of images made so on some machines.
        (self.place / "etc/dpkg/dpkg.cfg.d/docker").unlink(missing_ok=True)
        self.clean.touch()

    def run(self, command, status=0):
        """What a shell command prints: with no interface but loopback, no other process, and a /run of its own."""
        mounts = f"mount -t proc proc {self.place}/proc && mount -t tmpfs tmpfs {self.place}/run"
        chroot = f'{mounts} && exec chroot {self.place} sh -ec "$COMMAND"'
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "COMMAND": command}
        environment |= {"DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"}
        unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-ec", chroot]
        ran = subprocess.run(unshare, env=environment, text=True, capture_output=True, timeout=300, check=False)
        if ran.returncode != status:
            sys.exit(f"deb-test: `{command}` ended with {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return ran.stdout + ran.stderr

    def files(self):
        """Each file that no log is, with what it is: its kind and mode, and its size."""
        found = {}
        for path in self.place.rglob("*"):
            name = str(path.relative_to(self.place))
            if not f"{name}/".startswith(LOGS):
                status = path.lstat()
                found[name] = (status.st_mode, 0 if path.is_dir() else status.st_size)
        return found


def check(holds, what):
    if not holds:
        sys.exit(f"deb-test: {what}")


@contextlib.contextmanager
def step(name):
    yield
    print(f"ok   {name}", flush=True)


def newer(package, folder):
    """The same package as a next version, the configuration of which has another line."""
    unpacked = folder / "newer"
    subprocess.run(["rm", "-rf", unpacked], check=True)
    subprocess.run(["dpkg-deb", "-R", package, unpacked], check=True)
    control = unpacked / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", r"\g<0>+newer", control.read_text()))
    with (unpacked / CONFIGURATION).open("a") as file:
        file.write("# A line of the next version.\n")
    made = folder / "newer.deb"
    packed = ["dpkg-deb", "--root-owner-group", "-b", unpacked, made]
    subprocess.run(packed, check=True, stdout=subprocess.DEVNULL)
    return made


def main():
    if os.geteuid() != 0:
        sys.exit("deb-test: needs root")
    this = re.search(r"CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text())
    release = sys.argv[1] if len(sys.argv) > 1 else this[1]
    packages = sorted((ROOT / "target/deb").glob("sluice_*.deb"))
    check(len(packages) == 1, "no package, or several, in target/deb: `make deb` makes one")
    tree = Tree(release)
    before = tree.files()
    tree.clean.unlink()
    inside = tree.place / "tmp"
    for file in (packages[0], newer(packages[0], packages[0].parent)):
        (inside / ("newer.deb" if file.name == "newer.deb" else "sluice.deb")).write_bytes(file.read_bytes())
    configuration = tree.place / CONFIGURATION

    with step("lintian finds nothing"):
        said = tree.run("cd /tmp; lintian --allow-root --fail-on none --info --tag-display-limit 0 sluice.deb")
        check(not re.search(r"(?m)^[EWI]: ", said), f"lintian:\n{said}")
    with step("installs; the service is neither enabled nor started"):
        tree.run("dpkg -i /tmp/sluice.deb")
        check(not list((tree.place / "etc/systemd").rglob("*.wants/sluice.service")), "the service is enabled")
    with step("sluice runs: --version, doctor, a scenario, man, completions"):
        version = tree.run("sluice --version").split()[1]
        check(packages[0].name.startswith(f"sluice_{version}-"), f"sluice {version} in {packages[0].name}")
        check("kernel" in tree.run("sluice doctor lo"), "doctor says nothing")
        tree.run("sluice run /usr/share/sluice/scenarios/adth/s1a.toml --set 'duration=30 s'")
        check("exit status" in tree.run("man -P cat sluice").lower(), "no manual page")
        check("ADTH" in tree.run("sluice list /usr/share/sluice/scenarios"), "no scenarios")
        tree.run("bash -n /usr/share/bash-completion/completions/sluice")
    with step("systemd finds nothing wrong with the unit"):
        said = tree.run("systemd-analyze verify $(dpkg -L sluice | grep 'sluice.service$') 2>&1")
        check("sluice" not in said, said)
    with step("the installed configuration governs nothing; one of the user's is taken up and ends at SIGTERM"):
        said = tree.run("sluice agent --config /etc/sluice/agent.toml 2>&1 || true")
        check("no interface is named" in said, said)
        own = '[interface.nosuch0]\nrecord = "/var/log/sluice/a.jsonl"\nqueue = { controller = "adth", adth.target_delay = "70 ms" }\n'
        configuration.write_text(configuration.read_text() + own)
        # The folder as the unit's LogsDirectory makes it, with a recording of an interface that was there.
        tree.run("mkdir /var/log/sluice; touch /var/log/sluice/a.jsonl")
        said = tree.run("timeout --preserve-status -s TERM 9 sluice agent --config /etc/sluice/agent.toml 2>&1")
        check("nosuch0 waiting: no interface" in said, said)
    with step("an upgrade keeps what the user wrote, and restarts the service where systemd runs"):
        tree.run("dpkg --force-confdef --force-confold -i /tmp/newer.deb")
        check('"70 ms"' in configuration.read_text(), "the configuration is the package's again")
        check("+newer" in tree.run("dpkg-query -W sluice"), "it is not the next version")
        script = (tree.place / "var/lib/dpkg/info/sluice.postinst").read_text()
        check(re.search(r"restart[\s\S]*deb-systemd-invoke|deb-systemd-invoke \w*-?restart", script), f"no restart:\n{script}")
    with step("removed, configuration and recordings stay"):
        tree.run("dpkg -r sluice")
        check(not (tree.place / "usr/bin/sluice").exists(), "the binary is there")
        check('"70 ms"' in configuration.read_text(), "the configuration is gone")
        check((tree.place / "var/log/sluice").exists(), "the recordings are gone")
    with step("purged, nothing is left"):
        tree.run("dpkg -P sluice; rm /tmp/*.deb")
        after = tree.files()
        differ = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        check(not differ, f"left, missing or changed: {', '.join(differ)}")
        check(not (tree.place / "var/log/sluice").exists(), "the recordings are left")
    tree.clean.touch()


if __name__ == "__main__":
    main()
