"""See to it that a program is there that a test needs: debian.py PROGRAM PACKAGE...

Installs Debian's packages where we may, else says how.
"""

import os
import shutil
import subprocess
import sys


def main():
    program, *packages = sys.argv[1:]
    if shutil.which(program):
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"This test needs {program}. Install it with: sudo {' '.join(install)}")
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})


if __name__ == "__main__":
    main()
