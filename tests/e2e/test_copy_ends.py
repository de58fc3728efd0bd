"""A copy ends with the process that made it, whichever thread ends that, and a copy that stays never blocks the job."""
import ctypes
import json
import os
import pathlib
import select
import signal
import struct
import subprocess
import threading
import time
import unittest

from tests.e2e.support import (LOOK_ATTEMPTS, SEEP, SYSTEM_PYTHON, SeepCase, children_of, job_env, needs,
                               needs_to_read_children)
from tests.e2e.test_snapshots import PATIENCE, Told, has_ended, many, name_of

MNT_DETACH = 2
LOOKUP, GETATTR, OPEN, FLUSH, INIT = 1, 3, 14, 25, 26
SILENT_S = 6
COPY_GIVES_UP_S = 10  # READING_S of preload/snapshot/snapshot_copy.c

# What the longest step took while a file is open whose server does not answer a copy that closes it. _exit() at the end
# would close it, too, so the time is said before.
HOLDS_A_FILE = """
import os, sys, time, seep
file = os.open(sys.argv[1], os.O_RDONLY)
kept, longest = [], 0
for i in range(10):
    kept.append(bytearray(300000))
    before = time.monotonic()
    seep.step()
    longest = max(longest, time.monotonic() - before)
os.write(1, b"%f" % longest)
if len(sys.argv) > 2:
    time.sleep(float(sys.argv[2]))
    kept.append(bytearray(300000)); seep.step(); seep.step()
"""


def may_serve_files():
    return os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)


class SlowFiles:
    """A file system of one file, "f", that answers the first close of it late (FUSE, the protocol of 7.12 and on)."""

    def __init__(self, folder):
        self.fd, self.folder, self.late = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC), folder, None
        self.due = self.ends = False
        options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % self.fd
        self.libc = ctypes.CDLL(None)
        self.mounted = self.libc.mount(b"slow", folder.encode(), b"fuse", 0, options) == 0
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def answer(self, unique, error=0, data=b""):
        os.write(self.fd, struct.pack("IiQ", 16 + len(data), -error, unique) + data)

    def serve(self):
        while not self.ends:
            if self.late and time.monotonic() > self.due:
                self.answer(self.late)
                self.late = 0
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.one(os.read(self.fd, 1 << 20))
                except OSError:  # it is not mounted any more
                    return

    def one(self, request):
        _, kind, unique, node = struct.unpack_from("IIQQ", request)
        attributes = struct.pack("6Q10I", node if kind == GETATTR else 2, 0, 0, 0, 0, 0, 0, 0, 0,
                                 0o40755 if kind == GETATTR and node == 1 else 0o100644, 1, 0, 0, 0, 0, 0)
        if kind == INIT:
            self.answer(unique, 0, struct.pack("IIIIHHIIHH8I", 7, 31, 0, 0, 16, 12, 65536, 1, 0, 0, *[0] * 8)[:64])
        elif kind == LOOKUP:
            self.answer(unique, 0, struct.pack("QQQQII", 2, 0, 100, 100, 0, 0) + attributes)
        elif kind == GETATTR:
            self.answer(unique, 0, struct.pack("QII", 100, 0, 0) + attributes)
        elif kind == OPEN:
            self.answer(unique, 0, struct.pack("QII", 1, 0, 0))
        elif kind == FLUSH and self.late is None:
            self.late, self.due = unique, time.monotonic() + SILENT_S
        elif kind == FLUSH or kind == 18:  # RELEASE
            self.answer(unique)
        elif kind not in (2, 36, 42):  # FORGET and INTERRUPT have no answer
            self.answer(unique, 38)

    def close(self):
        self.libc.umount2(self.folder.encode(), MNT_DETACH)
        self.ends = True
        self.thread.join()
        os.close(self.fd)


@needs_to_read_children
class WithItsMaker(Told):
    def test_a_program_that_follows_has_none_that_another_thread_just_made(self):
        for delay in range(8):
            self.start()
            self.tell("s", "step")
            os.kill(self.p.pid, signal.SIGSTOP)
            self.tell("r%d" % delay, "other")
            left = [(name_of(pid), delay) for job in children_of(self.p.pid) for pid in children_of(job)]
            self.go_on()
            self.end(1)
            self.assertEqual(left, [])

    def test_copies_are_made_after_an_exec_that_failed(self):
        script = ("import os, seep\n"
                  "try: os.execv('/nowhere', ['nowhere'])\n"
                  "except OSError: pass\n"
                  "kept = bytearray(300000)\n"
                  "seep.holders()\n")
        profile = self.run_seep([SYSTEM_PYTHON, "-c", script])
        self.assertEqual(profile.written["coverage"]["holders"], {"taken": 1, "refused": {}})


@needs_to_read_children
class HeldUp(SeepCase):
    """A reader that a busy machine gives no CPU: here it stands still, while the job ends."""

    def start(self):
        """The launcher, the job, and the reader of its only copy, which has begun, and is stopped."""
        self.folder = self.fresh()
        launcher = subprocess.Popen([SEEP, "run", "-q", "-o", self.folder, "--holders", "4", "--", SYSTEM_PYTHON, "-c",
                                     many(4, "")], env=job_env())
        self.addCleanup(launcher.kill)
        reader, until = None, time.monotonic() + PATIENCE
        while not reader and launcher.poll() is None and time.monotonic() < until:
            reader = next((pid for pid in children_of(launcher.pid) if name_of(pid) == "seep-reader"), None)
        self.assertTrue(reader, "no reader was seen")
        os.kill(reader, signal.SIGSTOP)
        job = next((pid for pid in children_of(launcher.pid) if name_of(pid).startswith("python")), None)
        return launcher, job, reader

    def holders(self, launcher, reader):
        os.kill(reader, signal.SIGCONT)
        self.assertEqual(launcher.wait(timeout=PATIENCE), 0)
        return json.loads(pathlib.Path(self.folder, "report.json").read_text())["coverage"]["holders"]

    def test_it_is_given_time(self):
        for _ in range(LOOK_ATTEMPTS):
            launcher, _, reader = self.start()
            time.sleep(1)
            holders = self.holders(launcher, reader)
            if holders["taken"]:
                break
        self.assertEqual(holders, {"taken": 1, "refused": {}})

    def test_it_is_not_waited_for_for_good(self):
        """Two seconds, and not the ten after which a copy gives up itself; a busy machine makes more of them."""
        least = COPY_GIVES_UP_S
        for _ in range(LOOK_ATTEMPTS):
            launcher, job, reader = self.start()
            began = time.monotonic()
            while job and not has_ended(job) and time.monotonic() - began < PATIENCE:
                time.sleep(0.05)
            if job:  # else all had been read before it was stopped
                least = min(least, time.monotonic() - began)
            self.holders(launcher, reader)
            if least < 0.6 * COPY_GIVES_UP_S:
                break
        self.assertLess(least, 0.6 * COPY_GIVES_UP_S)


@needs_to_read_children
class Silent(SeepCase):
    def run_beside_a_silent_server(self, steps, *pause):
        folder = self.fresh()
        os.mkdir(folder)
        files = SlowFiles(folder)
        self.addCleanup(files.close)
        if not files.mounted:
            self.skipTest("no file system of a user's may be mounted here")
        job = [SYSTEM_PYTHON, "-c", HOLDS_A_FILE, os.path.join(folder, "f"), *map(str, pause)]
        profile = self.run_seep(job, ("--holders", steps))
        self.assertIsNotNone(files.late, "no copy closed the file")
        self.assertLess(float(profile.done.stdout), SILENT_S / 2)
        return profile.written["coverage"]["holders"]

    @needs(may_serve_files(), "only root serves files")
    def test_a_file_server_that_is_silent_does_not_hold_the_job(self):
        self.assertEqual(self.run_beside_a_silent_server("5,8"), {"taken": 0, "refused": {"cost": 1}})

    @needs(may_serve_files(), "only root serves files")
    def test_once_a_killed_copy_is_gone_the_job_is_looked_at_again(self):
        self.assertEqual(self.run_beside_a_silent_server("5,12", SILENT_S + 1), {"taken": 1, "refused": {"cost": 1}})


if __name__ == "__main__":
    unittest.main()
