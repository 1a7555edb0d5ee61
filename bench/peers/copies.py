"""Our own builds from Debian's source packages: ns-2 with the changed rules of patches/, and ns-3 without logging.

Sources come by apt-get, with lists of their own, so that nothing of the system's configuration changes.
"""

import os
import pathlib
import re
import shutil
import sys

import packages

PATCHES = pathlib.Path(__file__).resolve().parent / "patches"
NS2, NS3 = "ns2=2.35+dfsg-5", "ns3=3.37-2"

# Results that ns-2's configure would find: C++ of its time, and a library TclCL with 32-bit variables.
NS2_SETTINGS = {
    "CC": "gcc", "CXX": "g++ -std=gnu++98 -fpermissive", "V_CCOPT": "-O2 -w", "V_TCLSH": "tclsh", "V_TCL2CPP": "tcl2c++",
    "V_RANLIB": "ranlib", "PERL": "/usr/bin/perl", "CPP_NAMESPACE": "std",
    "V_STLOBJ": "$(OBJ_STL)", "V_NS_TCL_LIB_STL": "$(NS_TCL_LIB_STL)", "V_LIBS": "-ltclcl -lotcl -ltcl8.6",
    "V_DEFINE": "-DTCLCL_CLASSINSTVAR -DNDEBUG -DLINUX_TCP_HEADER -DUSE_SHM -DHAVE_LIBTCLCL -DHAVE_TCLCL_H"
                " -DHAVE_LIBOTCL1_14 -DHAVE_OTCL_H -DHAVE_LIBTCL8_6 -DHAVE_TCLINT_H -DHAVE_TCL_H -DHAVE_CONFIG_H"
                " -DUSE_INTERP_RESULT",
    "V_INCLUDES": "-I/usr/include/tclcl -I/usr/include/tcl8.6 -I/usr/include/tcl8.6/tcl-private/generic"
                  " -I/usr/include/tcl8.6/tcl-private/unix",
}

# Modules that the programs use; configure adds what they need. GSL: with it ns-3's model of 11 Mb/s integrates, as
# Debian's build does, instead of taking an approximation.
NS3_MODULES = "wifi;point-to-point;aodv;traffic-control;internet;propagation;mobility;applications;network;core"


def ns2(out):
    """The copy of ns-2 with all patches, built once for each state of them; returns its program."""
    patches = sorted(PATCHES.glob("*.patch"))
    state = packages.digest(patches, str(NS2_SETTINGS))
    folder = out / f"ns2-{state}"
    program = folder / "ns"
    if program.exists():
        return program
    packages.install([("libotcl1-dev", "/usr/include/otcl.h"), ("libtclcl1-dev", "/usr/include/tclcl/tclcl.h"),
                      ("tclcl", "/usr/bin/tcl2c++"), ("tcl-dev", "/usr/include/tcl/tcl.h")])
    archives = out / "ns2-source"
    if not list(archives.glob("*.orig.tar.*")):
        archives.mkdir(parents=True, exist_ok=True)
        packages.source(NS2, archives, "--download-only", "--tar-only")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    packages.make(["tar", "xf", next(archives.glob("*.orig.tar.*")), "--strip-components=1"], folder)
    for patch in patches:
        packages.make(["patch", "-p1", "-s", "-i", patch], folder)
    fill(folder / "Makefile.in", folder / "Makefile")
    fill(folder / "tcl/lib/ns-autoconf.tcl.in", folder / "tcl/lib/ns-autoconf.tcl")
    fill(folder / "autoconf.h.in", folder / "autoconf.h")
    configure_header(folder / "autoconf.h")
    (folder / "gen").mkdir(exist_ok=True)
    print("building the copy of ns-2: some three minutes of CPU", file=sys.stderr)
    packages.make(["nice", "make", f"-j{os.cpu_count()}", "ns"], folder)
    return program


def fill(template, to):
    """Put NS2_SETTINGS, or nothing, in the place of @NAME@."""
    text = template.read_text(encoding="latin-1")
    to.write_text(re.sub(r"@(\w+)@", lambda name: NS2_SETTINGS.get(name[1], ""), text), encoding="latin-1")


def configure_header(header):
    """What the C library has: all but integers of 64 bits in TclCL."""
    lines = []
    for line in header.read_text().splitlines():
        name = line.removeprefix("#undef ")
        if line.startswith("#undef HAVE_INT64") or name.endswith("_t"):
            line = ""
        elif line.startswith("#undef "):
            line = f"#define {name} 1" if name != "_GNU_SOURCE" else ""
        lines.append(line)
    text = "\n".join(lines) + "\n"
    header.write_text(text.replace("SIZEOF_LONG 4", "SIZEOF_LONG 8").replace("RETURN_TYPE int", "RETURN_TYPE long"))


def ns3(out):
    """ns-3 with -O3 for this processor, without logging and assertions; returns the folder of its build."""
    tree = out / "ns3-source"
    build = tree / "src/ns-3.37/build"
    finished = tree / "built"
    if finished.exists():
        return build
    packages.install([("cmake", "/usr/bin/cmake"), ("libgsl-dev", "/usr/include/gsl/gsl_version.h"),
                      ("dpkg-dev", "/usr/bin/dpkg-source")])
    if not (tree / "src").exists():
        tree.mkdir(parents=True, exist_ok=True)
        packages.source(NS3, tree, "--download-only")
        packages.make(["dpkg-source", "-x", next(tree.glob("*.dsc")), "src"], tree)
    top = tree / "src/ns-3.37"
    packages.make(["./ns3", "configure", "--build-profile=optimized", f"--enable-modules={NS3_MODULES}"], top)
    print("building ns-3 without logging: some forty minutes of CPU", file=sys.stderr)
    packages.make(["nice", "cmake", "--build", "cmake-cache", f"-j{os.cpu_count()}"], top)
    finished.touch()
    return build
