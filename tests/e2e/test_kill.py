"""SIGKILL at any instant: the report covers every call that had returned, and says how each process ended."""
import os
import random
import signal
import struct
import subprocess
import time
import unittest

from tests.e2e.support import SEEP, SHIM, SeepCase, children_of, end_of, functions, job_env, kill_session, sum_sites

KILLED = "signal", 9
LINES, LINE = 64, struct.Struct("<8Q")


def read_lines(path):
    """{pid, started, completed, frees_started, frees_completed, first} of each thread that ran; first: of the
    job's first process, not of a child."""
    try:
        with open(path, "rb") as f:
            data = f.read()
    except FileNotFoundError:
        return []
    lines = [LINE.unpack_from(data, i * LINE.size) for i in range(len(data) // LINE.size)]
    keys = ("pid", "started", "completed", "frees_started", "frees_completed")
    return [dict(zip(keys, x), first=i == 0) for i, x in enumerate(lines) if x[0]]


def descendants(pid):
    found, todo = [], [pid]
    while todo:
        for child in children_of(todo.pop()):
            found.append(child)
            todo.append(child)
    return found


class Kills(SeepCase):
    def start(self, mode, *more):
        folder, counters = self.fresh(), self.path("counters%d" % self._n)
        with open(self.said(folder), "wb") as err:  # a file: a process left behind would hold a pipe open
            p = subprocess.Popen([SEEP, "run", "-q", "-o", folder, "--", self.subject("kill_target"), counters, mode,
                                  *more], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                 env=job_env(), start_new_session=True)
        self.addCleanup(kill_session, p.pid)
        return p, folder, counters

    @staticmethod
    def said(folder):
        return folder + ".stderr"

    def await_job(self, p, folder):
        deadline = time.monotonic() + 20
        while p.poll() is None and time.monotonic() < deadline:
            found = descendants(p.pid)
            if len(found) > 1:  # one alone is a process of the launcher's own
                return found
            time.sleep(0.0005)
        with open(self.said(folder)) as f:
            self.fail("seep run started no job, status %s: %s" % (p.poll(), f.read()))

    def await_counters(self, counters, n, least=1000):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            lines = read_lines(counters)
            if len(lines) >= n and all(x["completed"] >= least for x in lines):
                return lines
            time.sleep(0.005)
        self.fail("the job did not get going: %s" % read_lines(counters))

    def hold(self, report, lines, message=""):
        """Every call that had returned is in the report, and none that had not begun."""
        seen = sum_sites(report, "kill_malloc", "host")
        for key, first, last in (("allocations", "completed", "started"),
                                 ("frees", "frees_completed", "frees_started")):
            low, high = sum(x[first] for x in lines), sum(x[last] for x in lines)
            self.assertTrue(low <= seen[key] <= high, "%s %s: %d not in [%d, %d]" % (message, key, seen[key], low, high))
        self.assertEqual(report["job"]["dropped_events"], 0)
        for site in report["sites"]:
            self.assertLessEqual(site["frees"], site["allocations"], message + " %s" % site)

    def kill_once(self, mode, at_work, delay, order, message):
        """Kills the job a while after it has begun, or after it has come to work."""
        p, folder, counters = self.start(mode)
        pids = self.await_job(p, folder)
        if at_work:
            self.await_counters(counters, 1, least=1)
        time.sleep(delay)
        pids = sorted({*pids, *descendants(p.pid)})  # the kernel's list may skip one
        order.shuffle(pids)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for pid in descendants(p.pid):  # some were made meanwhile: these may outlive the launcher's last look
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            p.wait(20)
        except subprocess.TimeoutExpired:
            self.fail(message + ": seep run hangs after its job was killed")
        kill_session(p.pid)  # the kernel's lists of children skip some while others are reaped
        with open(self.said(folder)) as f:
            self.assertEqual(p.returncode, 128 + signal.SIGKILL, message + ": " + f.read())
        lines = read_lines(counters)
        done = self.seep("report", folder, "--format", "json", "--all")
        if not lines and done.status == 2:  # killed before the shim was up: nothing was recorded
            self.one_line_error(done)
            return
        self.assertEqual(done.status, 0, message + repr(done))
        report = self.valid(done.json())
        self.hold(report, lines, message)
        exits = {x["pid"]: end_of(x) for x in report["processes"]}
        for line in lines:
            if line["completed"]:  # a child may be killed before it has anything to record
                self.assertIn(line["pid"], exits, message)
            if line["pid"] not in pids:
                continue
            exit_ = exits.get(line["pid"], KILLED)
            child = mode == "fork" and not line["first"]
            self.children += child
            if child and exit_[0] == "unknown":
                self.unseen += 1  # it took longer to end than the launcher looks for the last ones
            else:
                self.assertEqual(exit_, KILLED, message)

    def kill_at_instants(self, mode, n, seed):
        """Half of them once the job is at work, which a busy machine delays; others as it starts, and from then on."""
        order = random.Random(seed)
        self.children = self.unseen = 0
        for i in range(n):
            delay = order.uniform(0, 0.01 if i % 4 == 0 else 0.12)
            self.kill_once(mode, i % 4 > 1, delay, order, "%s, kill %d after %.4f s" % (mode, i, delay))
        self.assertEqual(self.children > 0, mode == "fork")
        # Orphans that begin and end between two looks of the launcher: how many depends on the machine.
        self.assertLessEqual(self.unseen * 3, self.children, "too many children whose end nobody saw")

    def test_nothing_is_lost_when_one_thread_is_killed(self):
        self.kill_at_instants("single", 70, 1)

    def test_nothing_is_lost_when_four_threads_are_killed(self):
        self.kill_at_instants("threads", 70, 2)

    def test_nothing_is_lost_when_a_forking_job_is_killed(self):
        self.kill_at_instants("fork", 60, 3)

    def test_a_killed_child_alone(self):
        p, folder, counters = self.start("fork", "wait")
        deadline = time.monotonic() + 20
        while len([x for x in read_lines(counters) if x["completed"] > 1000]) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        lines = [x for x in read_lines(counters) if x["completed"]]
        for line in lines:
            os.kill(line["pid"], signal.SIGKILL)
        p.wait(20)
        self.assertEqual(p.returncode, 0)
        report = self.report(folder, "--all")
        self.hold(report, [x for x in read_lines(counters) if x["started"]])
        exits = {x["pid"]: end_of(x) for x in report["processes"]}
        for line in lines:
            self.assertEqual(exits[line["pid"]], KILLED)
        parent = next(x for x in read_lines(counters) if not x["started"])
        self.assertEqual(exits[parent["pid"]], ("exit", 0))

    def test_a_running_job_can_be_read(self):
        p, folder, counters = self.start("threads")
        self.await_counters(counters, 4)
        before = read_lines(counters)
        report = self.report(folder, "--all")
        after = read_lines(counters)
        seen = sum_sites(report, "kill_malloc")["allocations"]
        self.assertTrue(sum(x["completed"] for x in before) <= seen <= sum(x["started"] for x in after))
        self.assertEqual(report["processes"][0]["exit"]["kind"], "running")
        self.assertIs(report["job"]["complete"], False)
        text = self.seep("report", folder).stdout.decode()
        self.assertRegex(text, r" live now, [0-9]+ allocations")
        self.assertRegex(text, r"(?m)^seep: .* so far$")
        self.assertNotIn("at exit", text)
        self.assertIsNone(p.poll(), "reading a running job must not end it")
        os.kill(after[0]["pid"], signal.SIGKILL)
        p.wait(20)

    def test_the_job_and_its_profile_outlive_a_killed_launcher(self):
        p, folder, counters = self.start("single")
        job = self.await_counters(counters, 1)[0]["pid"]  # the launcher has others of its own
        self.addCleanup(lambda: os.path.exists("/proc/%d" % job) and os.kill(job, signal.SIGKILL))
        p.kill()
        p.wait(20)
        seen = read_lines(counters)[0]["completed"]
        time.sleep(0.1)
        self.assertGreater(read_lines(counters)[0]["completed"], seen, "the job went on")
        report = self.report(folder, "--all")
        self.assertEqual(report["processes"][0]["exit"]["kind"], "running")
        os.kill(job, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and os.path.exists("/proc/%d/exe" % job):
            time.sleep(0.01)
        report = self.report(folder, "--all")
        self.hold(report, read_lines(counters))
        self.assertIn(report["processes"][0]["exit"]["kind"], ("unknown", "signal"))

    def test_a_job_killed_without_a_launcher_leaves_its_profile(self):
        folder, counters = self.fresh(), self.path("counters")
        p = subprocess.Popen([self.subject("kill_target"), counters, "threads"],
                             env=job_env(LD_PRELOAD=SHIM, SEEP_OUT=folder), start_new_session=True)
        self.addCleanup(kill_session, p.pid)
        self.await_counters(counters, 4)
        p.kill()
        p.wait()
        report = self.report(folder, "--all")
        self.hold(report, read_lines(counters))
        self.assertIn(report["processes"][0]["exit"]["kind"], ("unknown", "signal"))
        if report["processes"][0]["exit"]["kind"] == "unknown":
            self.assertIs(report["job"]["complete"], False, "nobody saw it end")

    def test_terminating_the_launcher_reaches_the_job(self):
        p, folder, counters = self.start("single")
        self.await_counters(counters, 1)
        p.terminate()
        try:
            p.wait(10)
        except subprocess.TimeoutExpired:
            self.fail("seep run does not hand SIGTERM on to its job")
        self.assertEqual(p.returncode, 128 + signal.SIGTERM)
        report = self.report(folder, "--all")
        self.hold(report, read_lines(counters))
        self.assertEqual(end_of(report["processes"][0]), ("signal", 15))
        self.assertIs(report["job"]["complete"], True)
        self.assertRegex(self.seep("report", folder).stdout.decode(), r" live at exit, [0-9]+ allocations")
        self.assertTrue(any("kill_malloc" in functions(s) for s in report["sites"]))


if __name__ == "__main__":
    unittest.main()
