"""See to it that tshark is there for the test of captures: install Debian's package where we may, else say how."""

import os
import shutil
import subprocess
import sys


def main():
    if shutil.which("tshark"):
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", "tshark"]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"The test of captures needs tshark. Install it with: sudo {' '.join(install)}")
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})


if __name__ == "__main__":
    main()
