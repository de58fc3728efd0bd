"""cross_deb.py root FOLDER: makes FOLDER/root, Debian's tools with its cross compiler and libraries for arm64, if it is not
there. cross_deb.py build FOLDER: makes the package of FOLDER/made/tree in there, beside it; lintian judges it. Needs root,
mmdebstrap, and the machine's apt, for where Debian's packages are; nothing is installed into the machine."""
import os
import pathlib
import platform
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for what the tests share

from tests import own_root  # noqa: E402

TOOLS = "build-essential crossbuild-essential-arm64 lintian"
NATIVE = re.compile(r":native$|^(debhelper-compat|dh-sequence-|protobuf-c-compiler|python3)")
RELEASE = platform.freedesktop_os_release().get("VERSION_CODENAME")
BUILD = "cd tree && dpkg-buildpackage -aarm64 -b -us -uc && lintian --allow-root --fail-on error,warning ../*.changes"


def packages():
    """Of debian/control's list, each for the machine that it is needed for."""
    needed = re.search(r"^Build-Depends: (.*?)^\S", (ROOT / "packaging/deb/control").read_text(), re.M | re.S).group(1)
    for name in (part.split()[0] for part in needed.split(",")):
        plain = re.sub(r":\w+$", "", name)
        plain = {"debhelper-compat": "debhelper", "dh-sequence-python3": "dh-python"}.get(plain, plain)
        yield plain if NATIVE.search(name) else plain + ":arm64"


def make_root(folder):
    own_root.make(folder, "Debian's cross compiler and libraries, in %s/root: 1.5 GB, minutes" % folder, RELEASE, "amd64,arm64",
                  (TOOLS, *packages()))


def build(folder):
    with open(folder / "log", "w+", encoding="utf-8", errors="replace") as log:
        if own_root.inside(folder / "root", BUILD, log, [(folder / "made", "src")]):
            log.seek(0)
            sys.exit("".join(log.readlines()[-30:]) + "deb-arm64: it could not be made: %s" % (folder / "log"))


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("only root may make a root of its own: sudo make deb-arm64")
    {"root": make_root, "build": build}[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve())
