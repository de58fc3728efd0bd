"""arm_root.py FOLDER: makes FOLDER/root, Debian's arm64 packages in a root of their own, if it is not there, and
FOLDER/libraries, what qemu needs of it for programs that see this machine's files. Needs root, mmdebstrap,
qemu-user-static, and the machine's apt, for where Debian's packages are; nothing is installed into the machine but, until
it is switched off, how its kernel starts programs for arm64 (binfmt_misc)."""
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for what the tests share, also when this runs as a script

from tests import own_root  # noqa: E402

LAB = "libjpeg-dev libpng-dev libzip-dev"
ZOO = "python3-torchvision"
RELEASE = platform.freedesktop_os_release().get("VERSION_CODENAME")  # libc is then that of the cross compiler
BINFMT = pathlib.Path("/proc/sys/fs/binfmt_misc")
RULE = pathlib.Path("/usr/lib/binfmt.d/qemu-aarch64.conf")  # of qemu-user-static


def register():
    """Programs for arm64 start as any other, in other roots, too: the kernel has qemu open."""
    if os.uname().machine == "aarch64" or list(BINFMT.glob("qemu-aarch64*")):
        return
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", BINFMT], check=True)
    if list(BINFMT.glob("qemu-aarch64*")):
        return
    if not RULE.exists():
        sys.exit("%s is missing: apt-get install qemu-user-static" % RULE)
    rules = [line for line in RULE.read_text().splitlines() if line.startswith(":")]
    (BINFMT / "register").write_text(rules[0])


def link_libraries(folder):
    """qemu takes each path from here if it is here: so there is nothing that this machine has, too."""
    loader, libraries = "lib/ld-linux-aarch64.so.1", "lib/aarch64-linux-gnu"
    for path in (loader, libraries, "usr/" + libraries):
        link = folder / "libraries" / path
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(folder / "root" / path, link.parent))


def main():
    if os.geteuid() != 0:
        sys.exit("only root may make a root of its own: sudo make check-arm")
    register()
    folder = pathlib.Path(sys.argv[1]).resolve()
    own_root.make(folder, "Debian's packages for arm64, in %s/root: 2.5 GB, ten minutes" % folder, RELEASE, "arm64",
                  (own_root.BUILD, own_root.PYTHONS, LAB, ZOO))
    link_libraries(folder)


if __name__ == "__main__":
    main()
