"""Kernels for the machine (arm_machine.py), below build/: with pages of 4 and 16 KiB Debian's own; with pages of 64 KiB,
which Debian does not have, one of its source. None is installed."""
import lzma
import os
import pathlib
import shutil
import subprocess
import sys

PACKAGES = {"4k": ("bookworm", "linux-image-arm64"), "16k": ("trixie", "linux-image-arm64-16k")}
CONFIG = pathlib.Path(__file__).with_name("kernel-64k.config")


def in_root(root, script):
    return subprocess.run(["chroot", root, "sh", "-ec", script], stdout=subprocess.PIPE, check=True, text=True).stdout


def unpack(folder, fresh, pages, release, package):
    """A kernel of Debian's."""
    fetched = folder / "root/var/tmp" / ("kernel-" + pages)
    in_root(folder / "root", """
        mkdir -p /var/tmp/kernel-%(pages)s/lists/partial && cd /var/tmp/kernel-%(pages)s
        sed 's/ bookworm / %(release)s /' /etc/apt/sources.list >sources.list
        own="-o Dir::Etc::SourceList=$PWD/sources.list -o Dir::State::Lists=$PWD/lists -o Dir::Cache=$PWD -o Acquire::Languages=none"
        apt-get -q $own update >&2
        package=$(apt-cache $own depends %(package)s | sed -n 's/.*Depends: \\(linux-image-.*\\)/\\1/p')
        apt-get -q $own download busybox-static "$package" >&2
    """ % {"pages": pages, "release": release, "package": package})
    for deb in fetched.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", deb, fresh], check=True)
    subprocess.run(["rm", "-rf", fetched], check=True)


def built(folder, fresh):
    """Debian has no kernel with pages of 64 KiB, but the source: what the machine needs of it, all in one image."""
    source = next(iter(pathlib.Path("/usr/src").glob("linux-source-*.tar.xz")), None)
    if not source:
        sys.exit("there is no source of a kernel: apt-get install linux-source")
    log_path, tree = folder / "kernel-64k.log", folder / "kernel-64k.source"
    print("a kernel with pages of 64 KiB of %s: ten to twenty minutes; its log is %s" % (source.name, log_path), flush=True)
    subprocess.run(["rm", "-rf", tree], check=True)
    tree.mkdir()
    make = ["env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "-u", "CC", "make", "-C", tree, "ARCH=arm64",
            "CROSS_COMPILE=aarch64-linux-gnu-"]
    with open(log_path, "wb") as log:
        for step in (["tar", "xf", source, "--strip-components=1", "-C", tree],
                     [*make, "KCONFIG_ALLCONFIG=%s" % CONFIG, "allnoconfig"], [*make, "-j%d" % os.cpu_count(), "Image"]):
            if subprocess.run(step, stdin=subprocess.DEVNULL, stdout=log, stderr=log).returncode:
                sys.exit("it could not be built, %s says why; bc, bison and flex are needed" % log_path)
    for name, of in (("boot/vmlinuz-64k", tree / "arch/arm64/boot/Image"), ("bin/busybox", kernel(folder, "4k") / "bin/busybox")):
        (fresh / name).parent.mkdir(parents=True)
        shutil.copy(of, fresh / name)
    subprocess.run(["rm", "-rf", tree], check=True)


def kernel(folder, pages):
    """The folder with a kernel and its modules; it is not installed in the root."""
    at, fresh = folder / ("kernel-" + pages), folder / ("kernel-%s.new" % pages)
    if not at.exists():
        subprocess.run(["rm", "-rf", fresh], check=True)
        if pages == "64k":
            built(folder, fresh)
        else:
            unpack(folder, fresh, pages, *PACKAGES[pages])
        fresh.rename(at)
    return at


def unpacked(module):
    """The bytes of a module of the kernel, which newer releases of Debian pack."""
    return lzma.decompress(module.read_bytes()) if module.suffix == ".xz" else module.read_bytes()
