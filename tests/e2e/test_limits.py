"""Limits around the job and a disk that is full: the job ends as without seep, and the report says what is missing."""
import os
import resource
import signal
import subprocess
import unittest

from tests.e2e.alike import Alike
from tests.e2e.support import sum_sites


def limited(what, soft, hard=None):
    return lambda: resource.setrlimit(what, (soft, soft if hard is None else hard))


class Limits(Alike):
    def under(self, ulimit, section="work"):
        """The limit holds for the job, and for seep too: set by a shell around, and by one inside."""
        inside = self.run_seep(["bash", "-c", "ulimit %s && exec %s %s" % (ulimit, self.subject("transparent"), section)])
        self.assertEqual(inside.done.stdout, b"ok\n", "ulimit %s: %r" % (ulimit, inside.done))
        return inside

    def test_address_space(self):
        for kib in (2000000, 400000, 100000, 30000, 12500):
            profile = self.under("-v %d" % kib)
            report = profile.report
            seen = sum_sites(report, "late_malloc")["allocations"]
            self.assertTrue(seen == 1000 or report["job"]["dropped_events"] > 0, "%d KiB: %d" % (kib, seen))

    def test_address_space_around_seep_itself(self):
        done = self.seep("run", "-q", "-o", self.fresh(), "--", self.subject("transparent"), "work",
                         preexec_fn=limited(resource.RLIMIT_AS, 300 << 20))
        self.assertEqual((done.status, done.stdout), (0, b"ok\n"), repr(done))

    def test_data_segment(self):
        self.under("-d 60000")

    def test_open_files(self):
        for n in (16, 5, 4):
            self.under("-n %d" % n)

    def test_file_size_must_not_kill_the_job(self):
        for blocks in (1000, 100, 1):  # not 0: its own "ok" goes to a file
            profile = self.under("-f %d" % blocks)
            report = profile.report
            seen = sum_sites(report, "late_malloc")["allocations"]
            self.assertTrue(seen == 1000 or report["job"]["dropped_events"] > 0 or report["coverage"]["not_seen"],
                            "%d blocks: %d" % (blocks, seen))

    def test_the_jobs_own_file_size_signal_still_comes(self):
        self.run_seep([self.subject("transparent"), "own-xfsz"], status=128 + signal.SIGXFSZ)

    def test_stack_limit(self):
        self.under("-s 200")

    def test_locked_memory(self):
        self.under("-l 0")


class FullDisk(Alike):
    def disk(self, size):
        folder = self.path("disk%s" % size)
        os.mkdir(folder)
        done = self.command(["mount", "-t", "tmpfs", "-o", "size=%s" % size, "tmpfs", folder])
        if done.status != 0:
            self.skipTest("cannot mount a tmpfs here: " + done.err.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", folder])
        return folder

    def test_a_disk_too_small_for_the_profile(self):
        for size in ("8m", "2m", "1m", "256k", "64k"):
            folder = os.path.join(self.disk(size), "p.d")
            done = self.seep("run", "-q", "-o", folder, "--", self.subject("transparent"), "many-stacks", timeout=60)
            if done.status == 125 and size.endswith("k"):  # no room for even the smallest profile: refused
                self.assertEqual(done.stdout, b"")
                self.one_line_error(done)
                continue
            self.assertEqual((done.status, done.stdout), (0, b"ok\n"), "%s: %r" % (size, done))
            read = self.seep("report", folder, "--format", "json", "--all")
            self.assertIn(read.status, (0, 2), "%s: %r" % (size, read))
            if read.status == 2:
                self.one_line_error(read)
                continue
            report = self.valid(read.json())
            seen = sum_sites(report, "path_of")["allocations"]
            if seen < 1 << 17:
                self.assertGreater(report["job"]["dropped_events"], 0, "%s: %d of %d seen" % (size, seen, 1 << 17))

    def test_a_disk_that_is_full_from_the_start(self):
        disk = self.disk("1m")
        filler = os.open(os.path.join(disk, "filler"), os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(filler, b"x" * 4096) > 0:
                pass
        except OSError:
            pass
        os.close(filler)
        done = self.seep("run", "-q", "-o", os.path.join(disk, "p.d"), "--", self.subject("transparent"), "work")
        if done.status == 125:
            self.one_line_error(done)
        else:
            self.assertEqual((done.status, done.stdout), (0, b"ok\n"), repr(done))

    def test_a_forking_job_on_a_small_disk(self):
        folder = os.path.join(self.disk("1m"), "p.d")
        done = self.seep("run", "-q", "-o", folder, "--", self.subject("forks"), "many")
        self.assertEqual(done.status, 0, repr(done))
        self.assertEqual(len(done.stdout.splitlines()), 200)


if __name__ == "__main__":
    unittest.main()
