"""A memory cgroup of a test's own, where one may be made: of version 1 or 2."""
import itertools
import os
import pathlib
import time
import unittest

ROOTS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"),
         ("/sys/fs/cgroup", "memory.max", "memory.current", "memory.events"))


class MemoryCgroup:
    """Made below the hierarchy's root, and removed, with all that is still in it, after the test."""

    numbers = itertools.count()

    def __init__(self, test):
        name = "seep-test-%d-%d" % (os.getpid(), next(self.numbers))
        for root, *self.files in ROOTS:
            self.folder = pathlib.Path(root, name)
            try:
                if root == "/sys/fs/cgroup" and pathlib.Path(root, "cgroup.controllers").exists():
                    pathlib.Path(root, "cgroup.subtree_control").write_text("+memory")
                self.folder.mkdir()
            except OSError:
                continue
            test.addCleanup(self.remove)
            if (self.folder / self.files[0]).exists():
                return
        raise unittest.SkipTest("no memory cgroup can be made here")

    def add(self, pid):
        (self.folder / "cgroup.procs").write_text(str(pid))

    def limit(self, bytes_):
        (self.folder / self.files[0]).write_text(str(bytes_))

    def kill_all_together(self):
        """False where there is no such thing."""
        if not (self.folder / "memory.oom.group").exists():
            return False
        (self.folder / "memory.oom.group").write_text("1")
        return True

    def used(self):
        return int((self.folder / self.files[1]).read_text())

    def oom_kills(self):
        lines = (self.folder / self.files[2]).read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def remove(self):
        until = time.monotonic() + 60
        while self.folder.exists() and time.monotonic() < until:
            for pid in (self.folder / "cgroup.procs").read_text().split():
                os.kill(int(pid), 9)
            try:
                self.folder.rmdir()
            except OSError:
                time.sleep(0.05)
