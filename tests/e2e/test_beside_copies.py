"""What copies of a job could keep from it, or show it: a lock, a seal, room, a folder, a group, a child, a command
line. Each job ends as it does without seep, and so with copies at its steps, with one in reserve, and with none."""
import os
import pathlib
import subprocess
import unittest

from tests.e2e.support import SYSTEM_PYTHON, SeepCase, needs_to_read_children

# grow() takes a second and more, and its last step, at which there is a copy, is right before it returns.
HEAD = """
import ctypes, errno, fcntl, mmap, os, signal, subprocess, sys, time
try:
    from seep import step
except ImportError:
    step = lambda: None
kept = []
def grow(steps=100):
    for i in range(steps):
        kept.append(bytearray(100000))
        time.sleep(0.015)
        step()
def others(link):
    found = []
    for pid in os.listdir("/proc"):
        if pid.isdigit() and int(pid) != os.getpid():
            try:
                if link == "cwd" and os.readlink("/proc/%s/cwd" % pid) == os.getcwd():
                    found.append(pid)
                if link == "cmdline" and open("/proc/%s/cmdline" % pid).read().split("\\0")[1:2] == sys.argv[:1]:
                    found.append(pid)
            except OSError:
                pass
    return len(found)
"""

LOCK = """
fd = os.open("file", os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(fd, 1 << 20)
fcntl.flock(fd, fcntl.LOCK_EX)
shared = mmap.mmap(fd, 1 << 20)
shared[0] = 1
grow()
shared.close()
os.close(fd)
other = os.open("file", os.O_RDWR)
fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("locked")
"""

SEAL = """
fd = os.memfd_create("x", os.MFD_ALLOW_SEALING)
os.ftruncate(fd, 1 << 20)
shared = mmap.mmap(fd, 1 << 20)
shared[0] = 1
grow()
shared.close()
fcntl.fcntl(fd, 1033, 8)  # F_ADD_SEALS, F_SEAL_WRITE
print("sealed")
"""

ROOM = """
def take(name):
    fd = os.open("/dev/shm/" + name, os.O_RDWR | os.O_CREAT, 0o600)
    os.posix_fallocate(fd, 0, 40 << 20)
    shared = mmap.mmap(fd, 40 << 20)
    os.close(fd)
    os.unlink("/dev/shm/" + name)
    return shared
for i in range(3):
    shared = take("x%d" % i)
    grow(50)
    shared.close()
print("room")
"""

# The worker is a program of its own.
WORKER = """
if len(sys.argv) > 1:
    os.chdir(sys.argv[1])
grow()
print("worker", others("cwd") if len(sys.argv) > 1 else 0, others("cmdline"), flush=True)
"""

GROUP = """
worker = subprocess.Popen([sys.executable, "worker.py"], start_new_session=True)
worker.wait()
try:
    os.killpg(worker.pid, 0)
    print("somebody is left")
except ProcessLookupError:
    print("gone")
"""

REAPER = """
ends = []
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
signal.signal(signal.SIGCHLD, lambda *_: ends.append(1))
worker = subprocess.Popen([sys.executable, "worker.py"])
began = time.monotonic()
while True:
    try:
        print("known" if os.wait()[0] == worker.pid else "unknown")
    except ChildProcessError:
        break
print(len(ends), time.monotonic() - began < 20)
"""

FOLDER = """
os.mkdir("folder")
worker = subprocess.Popen([sys.executable, "worker.py", "folder"])
worker.wait()
os.chdir("folder")
print(others("cwd"))
sys.argv[0] = "worker.py"
print(others("cmdline"))
"""

# Copies at the steps of every process, at the last one, too; of worker and parent alike.
MODES = (("off",), ("auto",), ("20,100,150",))


@needs_to_read_children
class BesideCopies(SeepCase):
    def as_plain(self, job, expected, before=()):
        """What it printed without seep it prints under each mode; and copies were taken where they should be."""
        def run_in(folder, run):
            os.mkdir(folder)
            pathlib.Path(folder, "worker.py").write_text(HEAD + WORKER)
            pathlib.Path(folder, "job.py").write_text(HEAD + job)
            return run(folder)

        argv = [*before, SYSTEM_PYTHON, "job.py"]
        plain = run_in(self.path("plain"), lambda folder: self.command(argv, cwd=folder))
        self.assertEqual((plain.status, plain.stdout.decode(), plain.stderr), (0, expected, b""))
        for (mode,) in MODES:
            with self.subTest(mode):
                profile = run_in(self.path(mode.replace(",", "-")),
                                 lambda folder: self.run_seep(argv, ("--holders", mode), cwd=folder, status=None))
                done = profile.done
                self.assertEqual((done.status, done.stdout, done.stderr), (0, plain.stdout, b""))
                taken = profile.written["coverage"]["holders"]["taken"]
                (self.assertEqual if mode == "off" else self.assertGreater)(taken, 0)

    def test_a_lock_on_a_file_that_was_mapped_is_free(self):
        self.as_plain(LOCK, "locked\n")

    def test_what_was_mapped_can_be_sealed(self):
        self.as_plain(SEAL, "sealed\n")

    def test_shared_memory_of_64_mib_is_enough_for_40_at_a_time(self):
        small = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64m none /dev/shm && exec \"$@\"", "sh"]
        if subprocess.run([*small, "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("needs a mount of its own")
        self.as_plain(ROOM, "room\n", small)

    def test_of_a_group_that_ended_nobody_is_left(self):
        self.as_plain(GROUP, "worker 0 0\ngone\n")

    def test_who_reaps_orphans_is_given_none_that_it_does_not_know(self):
        self.as_plain(REAPER, "worker 0 0\nknown\n1 True\n")

    def test_nobody_stays_in_a_folder_or_has_the_command_line_of_one_that_ended(self):
        self.as_plain(FOLDER, "worker 0 0\n0\n0\n")


if __name__ == "__main__":
    unittest.main()
