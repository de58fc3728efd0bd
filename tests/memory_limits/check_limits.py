"""Jobs near the limit of a memory cgroup: where one lives without seep, it lives under seep, and is about as fast.

Each job's own peak is measured first; the limits are such that it takes so many percent of them. Not part of `make
check`: it takes minutes, and root where cgroups belong to root."""
import os
import pathlib
import shutil
import subprocess
import time
import unittest

from tests.e2e.support import SEEP, SYSTEM_PYTHON, SeepCase

HERE = pathlib.Path(__file__).parent
MIB = 1 << 20
PERCENTS = (60, 70, 79, 86, 95, 98)
MODES = {"looks by itself": [], "a list of steps": ["--holders", "12,20,35,50"]}
KINDS = ("objects", "blocks", "rewrite")
JOB_MIB = 400
STEPS = 60
SLOWER = 2.5  # times; beside a limit the reader once made a job take 13 times as long
PATIENCE = 240


class Version1:
    limit_file, peak_file = "memory.limit_in_bytes", "memory.max_usage_in_bytes"
    high_file = group_file = None

    @staticmethod
    def top():
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            fields, tail = line.split(" - ")
            if tail.split()[0] == "cgroup" and "memory" in tail.split()[2].split(","):
                return pathlib.Path(fields.split()[4])
        return None

    @staticmethod
    def kills(folder):
        return int((folder / "memory.oom_control").read_text().split("oom_kill ")[1].split()[0])


class Version2:
    limit_file, peak_file = "memory.max", "memory.peak"
    high_file, group_file = "memory.high", "memory.oom.group"

    @staticmethod
    def top():
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            fields, tail = line.split(" - ")
            folder = pathlib.Path(fields.split()[4])
            if tail.split()[0] == "cgroup2" and "memory" in (folder / "cgroup.controllers").read_text().split():
                return folder
        return None

    @staticmethod
    def kills(folder):
        return int((folder / "memory.events").read_text().split("oom_kill ")[1].split()[0])


class Cgroup:
    """Of one job, that ends with it."""

    def __init__(self, version, top, limit=None, kill_all=False, high=None):
        self.version, self.folder = version, top / ("seep-check-%d-%d" % (os.getpid(), time.monotonic_ns()))
        self.folder.mkdir()
        if limit:
            (self.folder / version.limit_file).write_text(str(limit))
        if high:
            (self.folder / version.high_file).write_text(str(high))
        if kill_all:
            (self.folder / version.group_file).write_text("1")

    def run(self, command):
        """(status, seconds, peak bytes, kills)"""
        begun = time.monotonic()
        job = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=lambda: (self.folder / "cgroup.procs").write_text(str(os.getpid())))
        try:
            status = job.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = None
        seconds = time.monotonic() - begun
        peak = int((self.folder / self.version.peak_file).read_text())
        kills = self.version.kills(self.folder)
        self.end()
        job.wait()
        return status, seconds, peak, kills

    def end(self):
        for _ in range(100):
            for pid in (self.folder / "cgroup.procs").read_text().split():
                try:
                    os.kill(int(pid), 9)
                except ProcessLookupError:
                    pass
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.1)


def usable():
    """(version, folder, None), or (None, None, why not)."""
    why = "no memory cgroup is mounted here"
    for version in (Version1, Version2):
        top = version.top()
        if not top:
            continue
        try:
            if version is Version2:
                (top / "cgroup.subtree_control").write_text("+memory")
            Cgroup(version, top, 64 * MIB).end()
            return version, top, None
        except OSError as error:
            why = "no memory cgroup can be made in %s: %s" % (top, error.strerror)
    return None, None, why


VERSION, TOP, WHY_NOT = usable()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Limits(SeepCase):
    def peak(self, kind):
        status, _, peak, _ = Cgroup(VERSION, TOP).run(self.job(kind))
        self.assertEqual(status, 0)
        return peak

    def job(self, kind):
        return [SYSTEM_PYTHON, str(HERE / "job.py"), kind, str(JOB_MIB), str(STEPS)]

    def under_seep(self, options, command, limit=None, kill_all=False, high=None):
        """(status, seconds, kills, looks that were read)"""
        folder = self.fresh()
        status, seconds, _, kills = Cgroup(VERSION, TOP, limit, kill_all, high).run(
            [SEEP, "run", "-q", "-o", folder, *options, "--", *command])
        looks = len(list(pathlib.Path(folder).glob("holders-*.json")))
        shutil.rmtree(folder, ignore_errors=True)
        return status, seconds, kills, looks

    def row(self, kind, percent, limit, kill_all):
        plain_command = self.job(kind)
        plain = Cgroup(VERSION, TOP, limit, kill_all).run(plain_command)
        cells = ["%-8s %3d %% %s %6.1f s" % (kind, percent, "all die " if kill_all else "        ", plain[1])]
        wrong = []
        for mode, options in MODES.items():
            status, seconds, kills, looks = self.under_seep(options, plain_command, limit, kill_all)
            died = plain[0] == 0 and status != 0
            cells.append("%s %6.1f s, %d looks, %d readers killed" %
                         ("KILLED" if died else "lives ", seconds, looks, kills - died if kills else 0))
            if died:
                alone = self.under_seep(["--holders", "off"], plain_command, limit, kill_all)[0] != 0
                wrong.append("%s, %s: killed%s" % (cells[0], mode, " (without looks, too)" if alone else ""))
            elif plain[0] == 0 and seconds > SLOWER * plain[1] + 3:
                wrong.append("%s, %s: it took %.1f s" % (cells[0], mode, seconds))
            if kill_all and kills:
                wrong.append("%s, %s: %d killed" % (cells[0], mode, kills))
        print("  ".join(cells), flush=True)
        return wrong

    def table(self, kill_all):
        wrong = []
        for kind in KINDS:
            peak = self.peak(kind)
            for percent in PERCENTS:
                wrong += self.row(kind, percent, peak * 100 // percent, kill_all)
        self.assertEqual(wrong, [])

    def test_a_job_that_lives_without_seep_lives(self):
        print("\n%-15s          plain     %s" % ("job, its share", "                            ".join(MODES)))
        self.table(False)

    def test_a_container_that_is_killed_as_one_lives(self):
        if not VERSION.group_file:
            self.skipTest("version 1 of cgroups has no memory.oom.group")
        self.table(True)

    def test_a_job_is_not_made_to_wait_at_memory_high(self):
        if not VERSION.high_file:
            self.skipTest("version 1 of cgroups has no memory.high")
        high = self.peak("objects") * 105 // 100
        plain = Cgroup(VERSION, TOP, high=high).run(self.job("objects"))
        for mode, options in MODES.items():
            with self.subTest(mode):
                status, seconds, _, _ = self.under_seep(options, self.job("objects"), high=high)
                self.assertEqual(status, 0)
                self.assertLess(seconds, SLOWER * plain[1] + 3)
