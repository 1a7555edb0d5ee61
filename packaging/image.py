#!/usr/bin/env python3
"""Makes the image that stands between two containers, without a container engine: image.py [BINARY].

It holds a static `sluice` (BINARY, or one that is built here), Debian's static BusyBox and between.sh.
target/image/sluice-between.tar is an OCI image layout which `docker load`, `podman load` and `skopeo` read;
target/image/root has its files.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACE = ROOT / "target/image"
FILES = PLACE / "root"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
NAME = f"sluice-between:{VERSION}"
MEDIA = "application/vnd.oci.image"


def built():
    """The command for this machine's processor, linked statically."""
    target = f"{platform.machine()}-unknown-linux-gnu"
    # With a target set, build scripts and macros are not linked statically.
    command = ["cargo", "build", "--profile", "small", "--locked", "-p", "sluice-cli", "--target", target]
    variables = {"RUSTFLAGS": "-C target-feature=+crt-static", "CARGO_TARGET_DIR": str(PLACE / "build")}
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | variables)
    return PLACE / "build" / target / "small/sluice"


def busybox():
    """BusyBox from Debian's package, which is unpacked but not installed."""
    found = PLACE / "busybox/bin/busybox"
    if not found.exists():
        folder = PLACE / "download"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        download = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", "busybox-static"]
        subprocess.run(download, check=True, cwd=folder)
        (package,) = folder.iterdir()
        subprocess.run(["dpkg-deb", "-x", package, PLACE / "busybox"], check=True)
    return found


def fill(binary):
    """The files of the image."""
    shutil.rmtree(FILES, ignore_errors=True)
    for folder in ("bin", "dev", "etc", "logs", "proc", "sys", "tmp"):
        (FILES / folder).mkdir(parents=True)
    shutil.copy(binary, FILES / "bin/sluice")
    shutil.copy(busybox(), FILES / "bin/busybox")
    shutil.copy(ROOT / "packaging/between.sh", FILES / "bin/between.sh")
    names = subprocess.run([FILES / "bin/busybox", "--list"], check=True, capture_output=True, text=True).stdout.split()
    for name in set(names) - {"busybox"}:
        (FILES / "bin" / name).symlink_to("busybox")


def layer():
    """The files as a tar file; the same files always give the same bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in sorted(FILES.rglob("*")):
            entry = archive.gettarinfo(path, path.relative_to(FILES).as_posix())
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            if entry.isfile():
                with path.open("rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)
    return content.getvalue()


def described(kind, content):
    """A reference to a part of the image."""
    return {"mediaType": f"{MEDIA}.{kind}", "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}


def write(to):
    """The image layout, also with the file by which older engines load images."""
    plain = layer()
    packed = gzip.compress(plain, mtime=0)
    config = {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": {"Entrypoint": ["/bin/between.sh"], "Env": ["PATH=/bin", "SCENARIO=home"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
    }
    config = json.dumps(config).encode()
    parts = {"config": ("config.v1+json", config), "layer": ("layer.v1.tar+gzip", packed)}
    of = {name: described(*part) for name, part in parts.items()}
    manifest = {"schemaVersion": 2, "mediaType": f"{MEDIA}.manifest.v1+json", "config": of["config"], "layers": [of["layer"]]}
    parts["manifest"] = ("manifest.v1+json", json.dumps(manifest).encode())
    of["manifest"] = described(*parts["manifest"]) | {"annotations": {"org.opencontainers.image.ref.name": NAME}}
    blob = {name: f"blobs/sha256/{reference['digest'][7:]}" for name, reference in of.items()}
    loaded = [{"Config": blob["config"], "RepoTags": [NAME], "Layers": [blob["layer"]]}]
    files = {blob[name]: content for name, (_, content) in parts.items()}
    files["oci-layout"] = json.dumps({"imageLayoutVersion": "1.0.0"}).encode()
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [of["manifest"]]}).encode()
    files["manifest.json"] = json.dumps(loaded).encode()
    with tarfile.open(to, "w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def main():
    fill(pathlib.Path(sys.argv[1]) if sys.argv[1:] else built())
    to = PLACE / "sluice-between.tar"
    write(to)
    print(f"{to.relative_to(ROOT)}: {NAME}, {to.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
