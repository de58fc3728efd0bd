"""Files that a job writes to /dev/shm are memory, though no process has them: those that stay are told, and only those."""
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from tests.e2e.support import NO_LOOKS, SEEP, SYSTEM_PYTHON, SeepCase, job_env, needs

SHM = "/dev/shm"
EACH = 200_000  # bytes of a file: 30 MB in all
PAGES = -(-EACH // mmap.PAGESIZE) * mmap.PAGESIZE  # that it takes
STEPS = 150
JOB = """
import os, sys, tempfile, time
how, folder = sys.argv[1:]
kept = {}
def write(path):
    with open(path, "wb") as f:
        f.write(bytes(%d))
def step(n):
    kept[n %% 10] = [bytes(2000) for _ in range(50)]
    if how in ("kept", "lasting"):
        write(os.path.join(folder, "batch_%%04d.bin" %% n))
    elif how == "nested":
        write(os.path.join(tempfile.mkdtemp(dir=folder), "part.bin"))
    elif how == "overwritten":
        write(os.path.join(folder, "batch.bin"))
    elif how == "deleted":
        write(os.path.join(folder, "batch_%%04d.bin" %% n))
        os.unlink(os.path.join(folder, "batch_%%04d.bin" %% n))
    time.sleep(0.03)
for n in range(%d):
    step(n)
if how == "lasting":
    while not os.path.exists(os.path.join(folder, "end")) and os.getppid() != 1:
        step(n)
""" % (EACH, STEPS)


def has_room():
    """/dev/shm is a tmpfs with room for what a job of these writes, twice."""
    with open("/proc/self/mounts") as f:
        kinds = [line.split()[2] for line in f if line.split()[1] == SHM]
    if kinds[-1:] != ["tmpfs"] or not os.access(SHM, os.W_OK):
        return False
    room = os.statvfs(SHM)
    return room.f_bavail * room.f_frsize > 60_000_000


@needs(has_room(), "/dev/shm is no tmpfs with room for 60 MB")
class MemoryFiles(SeepCase):
    def setUp(self):
        super().setUp()
        self.shm = tempfile.mkdtemp(prefix="seep-test-", dir=SHM)
        self.addCleanup(shutil.rmtree, self.shm, ignore_errors=True)
        self.script = self.path("job.py")
        with open(self.script, "w") as f:
            f.write(JOB)

    def written(self, how, folder=None):
        return self.run_seep([SYSTEM_PYTHON, self.script, how, self.shm], options=NO_LOOKS, folder=folder).written

    def files_of(self, report):
        return [f for f in report["findings"] if f["frame"] is None and f["pattern"] == "shm-growth"]

    def test_files_that_stay_in_memory_are_a_finding_with_directory_number_and_pace(self):
        report = self.written("kept")
        found, = self.files_of(report)
        self.assertEqual(found["severity"], "leak")
        self.assertAlmostEqual(found["growth_bytes_per_step"]["value"], PAGES, delta=0.1 * PAGES)
        self.assertIn(self.shm, found["title"])
        self.assertIn(self.shm, found["advice"])
        evidence = "\n".join(found["evidence"])
        self.assertIn("%d files in %s" % (STEPS, self.shm), evidence)
        self.assertRegex(evidence, r"largest is batch_0\d{3}\.bin")
        told = report["job"]["memory_files"]
        self.assertEqual((told["complete"], told["folders"][0]["path"], told["folders"][0]["files"], told["folders"][0]["bytes"]),
                         (True, self.shm, STEPS, STEPS * PAGES))

    def test_files_are_told_while_the_job_runs_and_where_its_launcher_was_killed(self):
        folder, end = self.fresh(), os.path.join(self.shm, "end")
        job = subprocess.Popen([SEEP, "run", "-q", "-o", folder, *NO_LOOKS, "--", SYSTEM_PYTHON, self.script, "lasting", self.shm],
                               env=job_env(), stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(lambda: open(end, "w").close())
        deadline = time.monotonic() + 120
        while len(os.listdir(self.shm)) < STEPS and time.monotonic() < deadline:
            time.sleep(0.1)
        while not (found := self.files_of(self.report(folder))) and time.monotonic() < deadline:
            time.sleep(0.5)  # the launcher looks now and then
        self.assertIn(self.shm, found[0]["title"])
        job.kill()
        job.wait()
        open(end, "w").close()
        found, = self.files_of(self.report(folder))
        self.assertIn(self.shm, found["title"])

    def test_a_directory_for_each_file_is_told_with_the_one_above(self):
        found, = self.files_of(self.written("nested"))
        evidence = "\n".join(found["evidence"])
        self.assertIn("%d files in %s" % (STEPS, self.shm), evidence)
        self.assertIn("/part.bin", evidence)

    def test_a_file_that_is_overwritten_or_deleted_is_none(self):
        for how in ("overwritten", "deleted"):
            with self.subTest(how):
                self.assertEqual(self.files_of(self.written(how)), [])

    def test_what_another_program_of_the_same_user_leaves_there_is_not_the_jobs(self):
        other = subprocess.Popen([sys.executable, self.script, "kept", self.shm])
        self.addCleanup(other.wait)
        report = self.written("nothing")
        self.assertEqual(self.files_of(report), [])

    def test_a_profile_that_lies_there_is_seeps_own(self):
        report = self.written("overwritten", folder=os.path.join(self.shm, "profile.d"))
        self.assertEqual(self.files_of(report), [])


if __name__ == "__main__":
    unittest.main()
