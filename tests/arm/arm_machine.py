"""arm_machine.py FOLDER COMMAND: runs a line of the shell as root in a 64-bit Arm machine (qemu-system-aarch64) with a kernel
of Debian's and FOLDER/root, this repository at /src, and FOLDER/seep at /src/build. What user emulation lacks is there: a
debugger's view of other processes, their pages, cgroups, seccomp, limits. Its clock counts instructions, four each
nanosecond: what programs measure in there, and seep's bounds of time with it, is that of a machine of such a speed, however
long it takes here. What the command writes is lost. Its status.

  PAGES=16k   the kernel with pages of 16 KiB (of Debian 13) instead of 4; 64k: of 64 KiB, built of Debian's source
  CPUS=2 MIB=3072"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for what the tests share, also when this runs as a script

from tests.arm import arm_kernel  # noqa: E402

# qemu executes one instruction each nanosecond of its own, and counts so many such ticks a second; what the kernel is told is
# that they are more, so that fewer nanoseconds pass.
COUNTS, FASTER = 62_500_000, 4
MODULES = "virtio_mmio netfs fscache 9pnet 9pnet_virtio 9p overlay"  # in this order; some are part of newer kernels
PROCESSOR = ["-cpu", "max,pauth-impdef=on,cntfrq=%d" % COUNTS, "-icount", "shift=0"]
# The first program: it puts the root together, and gives the console the command's output and then its status.
INIT = """#!/bin/busybox sh
b=/bin/busybox
say() { $b echo "$@" >/dev/console; }
$b mkdir -p /proc /dev /low /over /src /build /new
$b mount -t devtmpfs none /dev; $b mount -t proc none /proc
for module in %(modules)s; do $b insmod /$module.ko 2>/dev/null; done
for tag in low src build; do $b mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose,msize=524288,ro $tag /$tag; done
$b mount -t tmpfs -o size=60%% none /over; $b mkdir /over/up /over/work
$b mount -t overlay -o lowerdir=/low,upperdir=/over/up,workdir=/over/work none /new || say "the root could not be put together"
$b mount --bind /src /new/src; $b mount --bind /build /new/src/build
$b mount -t proc none /new/proc; $b mount -t sysfs none /new/sys; $b mount -t devtmpfs none /new/dev
$b mount -t cgroup2 none /new/sys/fs/cgroup; $b mkdir -p /new/dev/shm /new/dev/pts
$b mount -t tmpfs none /new/dev/shm; $b mount -t tmpfs none /new/tmp; $b mount -t devpts none /new/dev/pts
$b date -s @%(now)d >/dev/null
$b ifconfig lo 127.0.0.1 up
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 SEEP=/src/build/seep %(variables)s
$b cp /command /new/command
$b chroot /new /bin/sh /command </dev/null >/dev/console 2>&1
say "ended with $?"
$b poweroff -f
"""


def archive(files):
    """An archive of cpio ("newc"), as the kernel unpacks it: of (name, mode, bytes)."""
    made = b""
    for name, mode, content in (*files, ("TRAILER!!!", 0, b"")):
        name = name.encode() + b"\0"
        head = b"070701" + b"".join(b"%08x" % n for n in (0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)) + name
        for part in (head, content):
            made += part + b"\0" * (-len(part) % 4)
    return made


def describe(machine, to):
    """What the kernel is told of the machine (a device tree): as qemu has it, but for the clock."""
    dump = "virt,dumpdtb=" + to
    subprocess.run(["qemu-system-aarch64", "-machine", dump, *machine, "-nodefaults", "-display", "none"], stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    subprocess.run(["fdtput", "-t", "i", to, "/timer", "clock-frequency", str(COUNTS * FASTER)], check=True)


def run(folder, command, out, pages="4k", seconds=3600, **variables):
    """Runs the command; its output goes to `out`, a file of bytes. Its status; None: the machine did not come to its end."""
    at = arm_kernel.kernel(folder, pages)
    image, = at.glob("boot/vmlinuz-*")
    files = [("init", 0o100755, (INIT % {"modules": MODULES, "now": time.time(), "variables": " ".join(
        "%s='%s'" % item for item in variables.items())}).encode()),
        ("bin", 0o40755, b""), ("bin/busybox", 0o100755, next(iter(at.rglob("bin/busybox"))).read_bytes())]
    for name in MODULES.split():
        files += [(name + ".ko", 0o100644, arm_kernel.unpacked(path)) for path in list(at.rglob(name + ".ko*"))[:1]]
    shares = (("low", folder / "root"), ("src", ROOT), ("build", folder / "seep"))
    machine = [*PROCESSOR, "-smp", os.environ.get("CPUS", "2"), "-m", os.environ.get("MIB", "3072")]
    argv = ["timeout", str(seconds), "qemu-system-aarch64", "-machine", "virt", *machine, "-nographic", "-nodefaults",
            "-no-reboot", "-serial", "stdio", "-kernel", image, "-append", "console=ttyAMA0 quiet panic=-1 rdinit=/init"]
    for tag, path in shares:
        argv += ["-fsdev", "local,id=%s,path=%s,security_model=none,readonly=on" % (tag, path),
                 "-device", "virtio-9p-device,fsdev=%s,mount_tag=%s" % (tag, tag)]
    ended = None
    with tempfile.NamedTemporaryFile(suffix=".cpio") as start, tempfile.NamedTemporaryFile(suffix=".dtb") as tree:
        describe(machine, tree.name)
        start.write(archive(files + [("command", 0o100644, b"cd /src\n%s\n" % command.encode())]))
        start.flush()
        process = subprocess.Popen([*argv, "-initrd", start.name, "-dtb", tree.name], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line in process.stdout:
            ended = re.search(rb"ended with (\d+)\r?$", line) or ended
            out.write(line.replace(b"\r\n", b"\n"))
            out.flush()
        process.wait()
    return int(ended.group(1)) if ended else None


if __name__ == "__main__":
    status = run(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.stdout.buffer, os.environ.get("PAGES", "4k"))
    sys.exit(1 if status is None else status)
