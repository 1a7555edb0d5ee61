"""What first processes of user-mode Linux share: mounts, radios in namespaces, the air, hostapd, stations, wires, the end."""

import ctypes
import json
import os
import pathlib
import subprocess
import time
import traceback

LIBC = ctypes.CDLL(None, use_errno=True)
POWER_OFF = 0x4321FEDC
HOSTAPD = """interface=wlan0
driver=nl80211
ssid=sluice
hw_mode=g
channel=1
ieee80211n=1
wmm_enabled=1
beacon_int=1000
supported_rates=60 90 120 180 240 360 480 540
basic_rates=60 120 240
ap_max_inactivity=3600
"""
# A daemon would keep the pipe of its output.
SAID = "> /run/{0}.said 2>&1 || {{ cat /run/{0}.said; false; }}"
MOUNTS = ["-t proc proc /proc", "-t sysfs s /sys", "-t debugfs d /sys/kernel/debug", "-t tmpfs r /run"]


def sh(command, check=True):
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def mount(*more):
    for what in [*MOUNTS, *more]:
        sh(f"mount {what}")
    sh("ip link set lo up; sysctl -qw net.ipv4.ip_forward=1")


def load(modules, radios):
    for module in modules:
        options = f"radios={radios}" if "hwsim" in module else ""
        sh(f"insmod {module} {options}")


def air(plan, path):
    """Starts the medium of the radios. What it says and its results go beside the plan."""
    words = [plan["sluice"], "emulate", plan["air"], "--seed", str(plan["seed"]), "--json"]
    with open(path.with_suffix(".air.json"), "w") as results, open(path.with_suffix(".air"), "w") as said:
        return subprocess.Popen(words, stdout=results, stderr=said)


def access_point(name, config, of=""):
    file = pathlib.Path(f"/run/{name}.conf")
    file.write_text(config)
    sh(f"{of}hostapd -B {file} {SAID.format(name)}")


def space(name):
    """Makes a network namespace. Returns the beginning of commands within it."""
    sh(f"ip netns add {name}; ip netns exec {name} ip link set lo up")
    return f"ip netns exec {name} "


def move(device, name):
    """Moves a radio into a network namespace of its own."""
    of = space(name)
    phy = pathlib.Path(f"/sys/class/net/{device}/phy80211/name").read_text().strip()
    sh(f"iw phy {phy} set netns name {name}")
    return of


def supplicant(name, device, config, of):
    file = pathlib.Path(f"/run/{name}.conf")
    file.write_text(config)
    sh(f"{of}wpa_supplicant -B -i {device} -c {file} {SAID.format(name)}")


def joined(device, of, again=None):
    """Waits until a station is at an access point, and returns what `iw` says of that; `again` is tried until then."""
    for _ in range(50):
        said = sh(f"{of}iw dev {device} link")
        if said.startswith("Connected"):
            return said
        if again:
            sh(again, check=False)
        time.sleep(0.2)
    raise SystemExit(f"{device} does not join")


def delay(device, netem, of=""):
    """Makes one end of a wire: whole packets, not segments to be cut, and what the wire does to them."""
    sh(f"{of}ip link set {device} gso_max_segs 1")
    if netem:
        sh(f"{of}tc qdisc add dev {device} root netem {netem} limit 100000")


def first(run):
    """Calls `run` with a plan and its path; its result or its fault goes beside the plan. Then the machine is switched off."""
    path = pathlib.Path(os.environ["PLAN"])
    os.environ["PATH"] = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        result = run(json.loads(path.read_text()), path)
    except BaseException as why:  # whatever it is, the host is told
        result = {"error": f"{why!r}: {traceback.format_exc()}", "log": sh("dmesg | tail -40", check=False)}
    path.with_suffix(".result").write_text(json.dumps(result))
    os.sync()
    LIBC.reboot(POWER_OFF)
