"""See to it that Chromium is there for the browser test: install Debian's package where we may, else say how."""

import os
import shutil
import subprocess
import sys

PACKAGES = ["chromium", "fonts-dejavu-core"]


def main():
    if shutil.which("chromium"):
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"The browser test needs Chromium. Install it with: sudo {' '.join(install)}")
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
