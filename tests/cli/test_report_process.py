"""`seep report --process PID`: one rank of many, with its workers, is read without the others; --brief leaves out what
no finding is about."""
import textwrap
import unittest

from tests.e2e.support import NO_LOOKS, SYSTEM_PYTHON, SeepCase

# A launcher that has two ranks exec'd, each with a worker that it forks: each of the four grows at a line of its own.
JOB = """
    import os, subprocess, sys, seep

    kept, passing = [], []

    def rank_zero(): kept.append(bytearray(30000))
    def rank_one(): kept.append(bytearray(40000))
    def worker_zero(): kept.append(bytearray(50000))
    def worker_one(): kept.append(bytearray(60000))
    def comes_and_goes(): passing[:] = [bytearray(3000000)]

    def train(grow):
        for _ in range(80):
            grow()
            comes_and_goes()
            seep.step()

    if len(sys.argv) == 1:
        ranks = [subprocess.Popen([sys.executable, __file__, name]) for name in ("zero", "one")]
        sys.exit(any([rank.wait() for rank in ranks]))
    worker = os.fork()
    train(globals()[("rank_" if worker else "worker_") + sys.argv[1]])
    if not worker:
        os._exit(0)
    os.waitpid(worker, 0)
    """


class Process(SeepCase):
    def recorded(self):
        with open(self.path("job.py"), "w") as f:
            f.write(textwrap.dedent(JOB))
        profile = self.run_seep([SYSTEM_PYTHON, self.path("job.py")], options=NO_LOOKS, timeout=120)
        by_last_word = {}
        for p in profile.written["processes"]:
            by_last_word.setdefault(p["argv"][-1], []).append(p)
        self.assertEqual({k: len(v) for k, v in by_last_word.items()}, {self.path("job.py"): 1, "zero": 2, "one": 2})
        return profile.folder, by_last_word

    def accused(self, report):
        return {f["frame"]["function"] for f in report["findings"] if f["severity"] == "leak"}

    def test_a_rank_is_told_with_its_workers_and_no_other(self):
        folder, processes = self.recorded()
        self.assertEqual(self.accused(self.report(folder)), {"rank_zero", "rank_one", "worker_zero", "worker_one"})
        for name in ("zero", "one"):
            pids = {p["pid"] for p in processes[name]}
            rank, = (p for p in processes[name] if p["ppid"] not in pids)
            worker, = (p for p in processes[name] if p["ppid"] in pids)
            report = self.report(folder, "--process", rank["pid"])
            self.assertEqual(self.accused(report), {"rank_" + name, "worker_" + name})
            self.assertEqual({p["pid"] for p in report["processes"]}, pids)
            self.assertEqual(report["job"]["steps"], 80)
            # A forked process's stacks begin in its parent's profile.
            report = self.report(folder, "--process", worker["pid"])
            self.assertIn("worker_" + name, self.accused(report))
            self.assertEqual({p["pid"] for p in report["processes"]}, pids)
        launcher, = processes[self.path("job.py")]
        self.assertEqual(len(self.report(folder, "--process", launcher["pid"])["processes"]), 5)

    def test_brief_lists_only_the_sites_of_findings(self):
        folder, _ = self.recorded()
        whole, brief = self.report(folder), self.report(folder, "--brief")
        about = {site for f in whole["findings"] for site in f["sites"]}
        self.assertEqual({s["id"] for s in brief["sites"]}, about)
        self.assertGreater(len(whole["sites"]), len(brief["sites"]))
        self.assertEqual(brief["findings"], whole["findings"])
        self.assertEqual(brief["spaces"], whole["spaces"])

    def test_a_process_that_is_not_there_is_an_error(self):
        folder, _ = self.recorded()
        for pid, words in (("1", "no profile is of process 1"), ("0", "0 is not a process"),
                           ("12x", "12x is not a process"), ("-4", "-4 is not a process")):
            done = self.seep("report", folder, "--process", pid)
            self.assertEqual(done.status, 2, repr(done))
            self.assertIn(words, self.one_line_error(done))


if __name__ == "__main__":
    unittest.main()
