"""seep.monitor(): what a job under seep is told of its own growth while it runs, and that nothing else changes."""
import json
import os
import textwrap
import unittest

from tests.e2e.support import NO_LOOKS, SEEP, SYSTEM_PYTHON, SeepCase, job_env

PACKAGE = os.path.join(os.path.dirname(SEEP), "python")
HEAD = """
    import json, os, sys, time
    import seep

    kept = []

    def train_step(size):
        kept.append(bytearray(size))

    def said(m):
        print(json.dumps({"metrics": m.metrics, "finding": m.finding}))

"""
LEAK_LINE = 8  # of HEAD
UNWATCHED = "seep: monitor() watches nothing, for this process was started without seep: use `seep run`\n"


class MonitorCase(SeepCase):
    def write(self, body):
        path = self.path("train.py")
        with open(path, "w") as f:
            f.write(textwrap.dedent(HEAD) + textwrap.dedent(body).lstrip("\n"))
        return path

    def train(self, body, **kw):
        """Runs HEAD and the body; self.said is what said() printed, self.lines what seep said."""
        profile = self.run_seep([SYSTEM_PYTHON, self.write(body)], options=NO_LOOKS, cwd=self.dir, timeout=180, **kw)
        self.said = [json.loads(line) for line in profile.done.stdout.decode().splitlines()]
        self.lines = [line for line in profile.done.err.splitlines() if line.startswith("seep: ")]
        return profile

    def one_leak_told(self):
        self.assertEqual(len(self.lines), 1, self.lines)
        self.assertRegex(self.lines[0], r"^seep: host memory grows by 4[89][.0-9]* KiB a step without an end: "
                                        r"train\.py:%d in train_step \(limit .*\); seep view profile1\.d$" % LEAK_LINE)


class Leaks(MonitorCase):
    def test_a_leak_is_told_once_with_its_line_and_in_figures(self):
        profile = self.train("""
            with seep.monitor() as m:
                for epoch in range(4):
                    m.epoch()
                    for _ in range(50):
                        train_step(50000)
                        m.step()
            said(m)
            """)
        self.one_leak_told()
        said, = self.said
        self.assertEqual(said["finding"], self.lines[0])
        self.assertAlmostEqual(said["metrics"]["seep/host_growth_bytes_per_step"], 50000, delta=500)
        self.assertGreater(said["metrics"]["seep/host_live_bytes"], 200 * 50000)
        self.assertEqual((profile.written["job"]["steps"], profile.written["job"]["epochs"]), (200, 4))

    def test_it_is_told_while_the_job_runs(self):
        self.train("""
            with seep.monitor(every=0.1) as m:
                end = time.monotonic() + 120
                while not m.finding and time.monotonic() < end:
                    train_step(50000)
                    m.step()
                    time.sleep(0.01)
                said(m)
            """)
        self.assertTrue(self.said[0]["finding"])
        self.one_leak_told()

    def test_step_gives_the_figures_once_when_they_are_new(self):
        self.train("""
            news = []
            with seep.monitor(every=1000) as m:
                end = time.monotonic() + 120
                while not news and time.monotonic() < end:
                    train_step(50000)
                    news += [f for f in [m.step()] if f]
                    time.sleep(0.01)
                news += [f for f in [m.step() for _ in range(100)] if f]
                news.append(m.close())
            print(json.dumps([news[0] == news[-1], len(news), sorted(news[-1])]))
            """)
        changed, n, names = self.said[0]
        self.assertEqual((changed, n), (False, 2))
        self.assertIn("seep/host_growth_bytes_per_step", names)

    def test_what_levels_off_is_not_told(self):
        self.train("""
            with seep.monitor(every=0.2) as m:
                for step in range(300):
                    train_step(50000)
                    del kept[:-20]
                    time.sleep(0.002)
                    m.step()
            said(m)
            """)
        self.assertEqual(self.lines, [])
        self.assertIsNone(self.said[0]["finding"])
        self.assertGreater(self.said[0]["metrics"]["seep/host_live_bytes"], 20 * 50000)
        self.assertLess(abs(self.said[0]["metrics"]["seep/host_growth_bytes_per_step"]), 2000)

    def test_a_log_of_the_jobs_own_is_used_and_may_fail(self):
        profile = self.train("""
            def log(text):
                print(json.dumps(text))
                raise OSError("the log is full")

            with seep.monitor(log=log) as m:
                for _ in range(100):
                    train_step(50000)
                    m.step()
            """)
        self.assertEqual(self.lines, [])
        self.assertIn("train.py:%d" % LEAK_LINE, self.said[0])
        self.assertEqual(profile.written["job"]["steps"], 100)


class Words(MonitorCase):
    def test_sizes_are_plain_numbers_up_to_the_largest_machine(self):
        sizes = {0: "0 B", 999.7: "1000 B", 1023.6: "1 KiB", 100000: "97.7 KiB", 999.7 * 1024: "1000 KiB",
                 1023.2 * 1024: "1023 KiB", 2 << 40: "2 TiB", 3 << 50: "3 PiB"}
        done = self.command([SYSTEM_PYTHON, "-c", "from seep.sizes import size_text; print([size_text(s) for s in %r])"
                             % list(sizes)], env=job_env(PYTHONPATH=PACKAGE))
        self.assertEqual(done.stdout.decode(), "%r\n" % list(sizes.values()), repr(done))

    def test_paths_are_whole_where_the_job_runs_in_the_root_or_in_a_folder_that_is_gone(self):
        head = "os.mkdir('gone')\nos.chdir('gone')\nos.rmdir(os.getcwd())\n"
        body = "with seep.monitor() as m:\n    for _ in range(100):\n        train_step(50000)\n        m.step()\n"
        for where, first in (("/", ""), (self.dir, head)):
            path = self.write(first + body)
            folder = self.fresh()
            done = self.seep("run", "-q", "--no-report", "-o", folder, *NO_LOOKS, "--", SYSTEM_PYTHON, path, cwd=where,
                             timeout=180)
            self.assertEqual(done.status, 0, repr(done))
            file = path if where == "/" else "train.py"
            self.assertIn("without an end: %s:%d in train_step" % (file, LEAK_LINE), done.err)
            self.assertIn("; seep view %s\n" % folder, done.err)


class Bystander(MonitorCase):
    def test_without_seep_it_says_so_once_and_does_nothing(self):
        path = self.write("""
            before = set(sys.modules)
            seep.monitor()
            with seep.monitor() as m:
                m.epoch()
                for _ in range(100):
                    train_step(1000)
                    assert m.step() is None
                os.posix_spawn = None
            try:
                os.wait4(-1, 0)
            except ChildProcessError:
                said(m)
            """)
        done = self.command([SYSTEM_PYTHON, path], env=job_env(PYTHONPATH=PACKAGE))
        self.assertEqual((done.status, done.err), (0, UNWATCHED), repr(done))
        self.assertEqual(json.loads(done.stdout), {"metrics": {}, "finding": None})

    def test_the_package_alone_imports_none_of_it(self):
        done = self.command([SYSTEM_PYTHON, "-S", "-c", "import sys, seep; print(*sys.modules)"],
                            env=job_env(PYTHONPATH=PACKAGE))
        names = done.stdout.decode().split()
        self.assertIn("seep", names)
        self.assertFalse({"json", "logging", "subprocess", "seep.growth_monitor", "seep.command"} & set(names))

    def test_the_reports_that_it_asks_for_are_no_part_of_the_job(self):
        report = self.train("""
            with seep.monitor() as m:
                for _ in range(100):
                    train_step(50000)
                    m.step()
            """).report
        self.assertEqual(len(report["processes"]), 1, [p["argv"] for p in report["processes"]])

    def test_reports_are_asked_for_no_more_often_than_their_cost_allows(self):
        self.train("""
            spawn, asked = os.posix_spawn, []
            def count(*args, **kw):
                asked.append(time.monotonic())
                return spawn(*args, **kw)
            os.posix_spawn = count
            with seep.monitor(every=0) as m:
                while not m.step():
                    time.sleep(0.001)
                for _ in range(1000):
                    m.step()
                print(json.dumps(len(asked)))
            """)
        self.assertLessEqual(self.said[0], 2)

    def test_a_forked_child_leaves_its_parents_report_alone(self):
        profile = self.train("""
            with seep.monitor(every=0) as m:
                for step in range(100):
                    train_step(50000)
                    m.step()
                    if step == 40:
                        child = os.fork()
                        if not child:
                            for _ in range(100):
                                m.step()
                            assert m.close() is None
                            os._exit(7)
                assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 7
            said(m)
            """)
        self.one_leak_told()
        self.assertEqual(len(profile.report["processes"]), 2)

    def test_a_job_that_takes_in_every_child_still_ends(self):
        self.train("""
            import signal
            def reap(*_):
                try:
                    while os.waitpid(-1, os.WNOHANG)[0]:
                        pass
                except ChildProcessError:
                    pass
            signal.signal(signal.SIGCHLD, reap)
            with seep.monitor() as m:
                for _ in range(100):
                    train_step(50000)
                    m.step()
            said(m)
            """)
        self.one_leak_told()

    def test_a_job_without_standard_files_is_watched_too(self):
        for closed in ((0, 1), (0,), (0, 1, 2)):
            self.train("""
                out = os.fdopen(os.dup(1), "w")
                for n in %r:
                    os.close(n)
                with seep.monitor(log=lambda text: None) as m:
                    for _ in range(100):
                        train_step(50000)
                        m.step()
                print(json.dumps(m.finding), file=out, flush=True)
                os._exit(0)
                """ % (closed,))
            self.assertIn("train.py:%d" % LEAK_LINE, self.said[0] or "", closed)

    def test_a_copy_of_it_watches_nothing_and_needs_nothing(self):
        self.train("""
            import copy, pickle
            with seep.monitor(log=lambda text: None) as m:
                for _ in range(50):
                    train_step(50000)
                    m.step()
                copies = copy.deepcopy(m), pickle.loads(pickle.dumps(m))
                for c in copies:
                    c.step()
                    assert c.close() is None
            said(m)
            """)
        self.assertTrue(self.said[0]["metrics"])

    def test_threads_may_all_call(self):
        profile = self.train("""
            import threading
            with seep.monitor(every=0) as m:
                def work():
                    for _ in range(100):
                        train_step(5000)
                        m.step()
                threads = [threading.Thread(target=work) for _ in range(4)]
                [t.start() for t in threads]
                [t.join() for t in threads]
            said(m)
            """)
        self.assertEqual(profile.written["job"]["steps"], 400)
        self.assertTrue(self.said[0]["metrics"])


if __name__ == "__main__":
    unittest.main()
