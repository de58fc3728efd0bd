"""Training jobs, leaking and healthy: the line that keeps the memory is named, no other line is accused."""
import glob
import mmap
import os
import re
import unittest

from tests.e2e.support import FULL, NO_LOOKS, ROOT, SYSTEM_PYTHON, ZOO, SeepCase, has_module, marked_line, needs

TORCH2 = next((p for p in sorted(glob.glob(str(ROOT / "build/venv-torch2/bin/python3")))), None)
TORCHES = [(n, p) for n, p in (("torch1", SYSTEM_PYTHON), ("torch2", TORCH2)) if p and has_module(p, "torch", "numpy")]
ACCUSING = ("leak", "retention")


class Training(SeepCase):
    def train(self, python, script, *args, timeout=120, options=()):
        return self.run_seep([python, str(ZOO / script), *map(str, args)], timeout=timeout, options=options)

    def brief(self, report):
        return "\n".join("%s %s %s %s:%s live %d count %d growth %s" % (
            f["id"], f["severity"], f["pattern"], f["frame"].get("file"), f["frame"].get("line"), f["live_bytes"],
            f["count"], f["growth_bytes_per_step"]) for f in report["findings"]) or "no findings"

    def finding_at(self, report, script, mark, patterns=None):
        line = marked_line(ZOO / script, mark)
        hits = [f for f in report["findings"]
                if os.path.basename(f["frame"].get("file") or "") == script and f["frame"].get("line") == line]
        self.assertTrue(hits, "no finding on %s:%d (%s)\n%s" % (script, line, mark, self.brief(report)))
        if patterns:
            self.assertIn(hits[0]["pattern"], patterns, self.brief(report))
        return hits[0]

    def nobody_accused(self, report):
        self.assertFalse([f for f in report["findings"] if f["severity"] in ACCUSING], self.brief(report))

    def steps_said(self, profile):
        return int(re.search(rb"steps (\d+)", profile.done.stdout).group(1))


# torch 2 takes long to start: what it need not show every time is for SEEP_TEST_FULL=1.
TORCH2_QUICK = ("annotation_cache_is_found_on_its_line", "kept_outputs_are_unbounded_growth", "way_to_step_is_counted",
                "healthy_job_is_not_accused", "epochs_are_counted", "forked_workers", "spawned_persistent_workers")
WAYS = ("sgd", "adam", "adamw", "rmsprop", "own", "wrapped", "accumulated", "scheduled", "closure", "validated", "two")
WAYS_QUICK = ("adamw", "scheduled", "two")


def with_each_torch(cls):
    """One copy of each each_… method for each torch found."""
    for name in [n for n in dir(cls) if n.startswith("each_")]:
        body = getattr(cls, name)
        for label, python in TORCHES:
            def test(self, body=body, python=python, quick=label == "torch1" or name[5:] in TORCH2_QUICK):
                if not quick and not FULL:
                    self.skipTest("SEEP_TEST_FULL=1 runs it")
                body(self, python)
            test.__doc__ = body.__doc__
            setattr(cls, "test_%s_%s" % (label, name[5:]), test)
    return cls


@needs(TORCHES, "no torch here")
@with_each_torch
class Shares(Training):
    def each_tensor_that_moves_to_shared_memory_is_counted_where_it_was_made(self, python):
        report = self.train(python, "shares.py").written
        lines = {}
        for site in report["sites"]:
            look_at = site["stack"][site["look_at"]] if site["look_at"] is not None else {}
            if os.path.basename(look_at.get("file") or "") == "shares.py" and site["space"] == "shm":
                lines[look_at["line"]] = site["allocated_bytes"]
        pages = -(-400000 // mmap.PAGESIZE) * mmap.PAGESIZE
        for mark in ("MOVED", "BESIDE"):
            self.assertEqual(lines.get(marked_line(ZOO / "shares.py", mark)), pages, (mark, lines))
        self.assertNotIn(marked_line(ZOO / "shares.py", "OTHER"), lines)


@needs(TORCHES, "no torch here")
@with_each_torch
class Leaks(Training):
    def each_annotation_cache_is_found_on_its_line(self, python):
        profile = self.train(python, "annotation_cache.py", "leak")
        report = profile.written
        finding = self.finding_at(report, "annotation_cache.py", "LEAK",
                                  ("unbounded-growth", "undetermined", "aliased-cache", "first-touch-cache"))
        self.assertEqual(report["findings"][0]["id"], finding["id"], "the leak comes first\n" + self.brief(report))
        # 1 to 6 masks of 96 x 96 floats an image, 8 images a step: 3.5 on average.
        step = 8 * 3.5 * 96 * 96 * 4
        growth = finding["growth_bytes_per_step"]
        self.assertTrue(0.9 * step < growth["value"] < 1.1 * step, self.brief(report))
        self.assertTrue(growth["low"] <= growth["value"] <= growth["high"])
        self.assertTrue(0.98 <= finding["live_bytes"] / (150 * step) <= 1.02, self.brief(report))
        self.assertEqual(report["job"]["steps"], 150)
        self.assertIn(finding["count"], (1192, 1200))  # as the last step ended
        self.assertTrue(finding["evidence"] and finding["advice"])

    def each_annotation_cache_over_three_epochs_is_found_on_its_line(self, python):
        """It stops growing once every image was seen: still the line that keeps the memory."""
        profile = self.train(python, "annotation_cache.py", "leak", "--epochs", 3, "--images", 480)
        finding = self.finding_at(profile.written, "annotation_cache.py", "LEAK")
        self.assertNotEqual(finding["pattern"], "unbounded-growth", "it stopped growing")
        self.assertEqual(profile.written["job"]["steps"], 180)

    def each_sampling_noise_is_not_growth(self, python):
        """A cache that is full turns its blocks over: under --sample its level wanders, and does not grow."""
        for gap in ("64KiB", "512KiB"):
            profile = self.train(python, "annotation_cache.py", "leak", "--epochs", 3, "--images", 480,
                                 options=("--sample", gap))
            self.assertFalse([f for f in profile.written["findings"] if f["severity"] == "leak"],
                             gap + "\n" + self.brief(profile.written))
        profile = self.train(python, "annotation_cache.py", "leak", options=("--sample", "64KiB"))
        self.finding_at(profile.written, "annotation_cache.py", "LEAK")

    def each_fixed_annotation_cache_is_not_accused(self, python):
        for epochs in (1, 3):
            profile = self.train(python, "annotation_cache.py", "fixed", "--epochs", epochs, "--images", 480)
            self.nobody_accused(profile.written)

    def each_kept_outputs_are_unbounded_growth(self, python):
        profile = self.train(python, "growth_leak.py", "outputs")
        finding = self.finding_at(profile.written, "growth_leak.py", "LEAK: outputs", ("unbounded-growth",))
        self.assertTrue(0.95 < finding["growth_bytes_per_step"]["value"] / (128 * 32 * 4) < 1.05,
                        self.brief(profile.written))
        self.assertIn(finding["count"], (199, 200))  # as the last step ended, or after it

    def each_kept_graphs_are_found_where_they_are_made(self, python):
        profile = self.train(python, "growth_leak.py", "losses")
        finding = self.finding_at(profile.written, "growth_leak.py", "LEAK: losses",
                                  ("unbounded-growth", "graph-retention"))
        self.assertGreater(finding["growth_bytes_per_step"]["value"], 64 * 256 * 4 * 2)

    def each_loop_that_keeps_numbers_is_not_accused(self, python):
        self.nobody_accused(self.train(python, "growth_leak.py", "none").written)

    def each_healthy_job_is_not_accused(self, python):
        for args in ((), ("--optimizer", "sgd"), ("--workers", 2)) if FULL or python == SYSTEM_PYTHON else ((),):
            profile = self.train(python, "healthy.py", *args)
            self.nobody_accused(profile.written)
            self.assertEqual(profile.written["job"]["steps"], 200, args)

    def each_summary_names_the_line_first(self, python):
        """What the user reads in the terminal at the end of the run."""
        folder = self.fresh()
        done = self.seep("run", "-o", folder, "--", python, str(ZOO / "annotation_cache.py"), timeout=120)
        self.assertEqual(done.status, 0, repr(done))
        where = "annotation_cache.py:%d" % marked_line(ZOO / "annotation_cache.py", "LEAK")
        self.assertIn(where, done.err)
        self.assertLess(len(done.err.splitlines()), 72, "a short summary")
        self.assertLess(done.err.splitlines().index(next(x for x in done.err.splitlines() if where in x)), 8,
                        "the finding comes first\n" + done.err)


@needs(TORCHES, "no torch here")
@with_each_torch
class Steps(Training):
    def each_way_to_step_is_counted(self, python):
        wrong = []
        for way in WAYS if FULL or python == SYSTEM_PYTHON else WAYS_QUICK:
            profile = self.train(python, "steps.py", way, 37, options=NO_LOOKS)
            job = profile.written["job"]
            if (job["steps"], job["step_source"]) != (37, "optimizer"):
                wrong.append("%s: %s steps by %s" % (way, job["steps"], job["step_source"]))
        self.assertFalse(wrong)

    def each_epochs_are_counted(self, python):
        for epochs in (1, 3):
            profile = self.train(python, "annotation_cache.py", "fixed", "--epochs", epochs, "--images", 160,
                                 options=NO_LOOKS)
            self.assertEqual(profile.written["job"]["epochs"], epochs)

    def each_validation_loaders_do_not_make_epochs(self, python):
        profile = self.train(python, "healthy.py", "--epochs", 3)
        self.assertEqual(profile.written["job"]["epochs"], 3)
        self.assertEqual(profile.written["job"]["steps"], 150)

    def each_step_api_takes_precedence(self, python):
        script = self.path("api.py")
        with open(script, "w") as f:
            f.write("import seep, torch\nnet = torch.nn.Linear(4, 1)\no = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                    "for i in range(60):\n    net(torch.ones(2, 4)).sum().backward()\n    o.step()\n"
                    "    if i % 3 == 2: seep.step()\n")
        job = self.run_seep([python, script]).written["job"]
        self.assertEqual((job["steps"], job["step_source"]), (20, "api"))


@needs(TORCHES, "no torch here")
@with_each_torch
class Workers(Training):
    def leaking(self, python, method, persistent):
        args = ["--method", method, "--workers", 4] + (["--persistent"] if persistent else [])
        profile = self.train(python, "workers.py", *args)
        report = profile.written
        self.assertEqual(report["job"]["steps"], 160)
        self.assertEqual(report["job"]["epochs"], 2)
        self.assertEqual(report["job"]["dropped_events"], 0)
        roles = [p["role"] for p in report["processes"]]
        self.assertEqual(roles.count("trainer"), 1, roles)
        self.assertEqual(roles.count("loader-worker"), 4 if persistent else 8, roles)
        self.assertTrue(set(roles) <= {"trainer", "loader-worker", "helper"}, roles)
        trainer = next(p["pid"] for p in report["processes"] if p["role"] == "trainer")
        workers = {p["pid"] for p in report["processes"] if p["role"] == "loader-worker"}
        in_loop = self.finding_at(report, "workers.py", "LEAK: step")
        self.assertEqual(in_loop["processes"], [trainer])
        self.assertIn(in_loop["count"], (159, 160))
        self.assertTrue(0.95 < in_loop["growth_bytes_per_step"]["value"] / (200 * 1024) < 1.05, self.brief(report))
        in_item = self.finding_at(report, "workers.py", "LEAK: item")
        self.assertTrue(set(in_item["processes"]) <= workers and len(in_item["processes"]) >= 4,
                        (in_item["processes"], workers))
        self.assertGreaterEqual(in_item["peak_bytes"], 600 * 64 * 1024)
        self.assertNotEqual(in_loop["id"], in_item["id"])

    def each_forked_workers(self, python):
        self.leaking(python, "fork", False)

    def each_forked_persistent_workers(self, python):
        self.leaking(python, "fork", True)

    def each_spawned_workers(self, python):
        self.leaking(python, "spawn", False)

    def each_spawned_persistent_workers(self, python):
        self.leaking(python, "spawn", True)

    def each_forkserver_workers(self, python):
        if not FULL:
            self.skipTest("SEEP_TEST_FULL=1 runs it")
        self.leaking(python, "forkserver", True)

    def each_healthy_workers_are_not_accused(self, python):
        for method in ("fork", "spawn"):
            self.nobody_accused(self.train(python, "workers.py", "--fixed", "--method", method).written)


class StepsWithoutTorch(SeepCase):
    SCRIPT = "import seep\nfor i in range(25):\n    x = bytearray(100000)\n    seep.step()\nprint('done')\n"

    def test_step_api_of_every_python(self):
        for version, python in self.every_python():
            profile = self.run_seep([python, "-c", self.SCRIPT])
            job = profile.written["job"]
            self.assertEqual((job["steps"], job["step_source"]), (25, "api"), version)

    def test_time_slices_are_the_last_resort(self):
        job = self.run_seep([SYSTEM_PYTHON, "-c", "import time; time.sleep(0.3)"]).written["job"]
        self.assertEqual(job["step_source"], "time")

    def test_the_users_own_sitecustomize_still_runs(self):
        folder = self.path("site")
        os.mkdir(folder)
        for name in ("sitecustomize", "usercustomize"):
            with open(os.path.join(folder, name + ".py"), "w") as f:
                f.write("print(%r, flush=True)\n" % name)
        from tests.e2e.support import job_env
        for _, python in self.every_python():
            plain = self.command([python, "-c", "print('job')"], env=job_env(PYTHONPATH=folder))
            done = self.run_seep([python, "-c", "print('job')"], env=job_env(PYTHONPATH=folder)).done
            self.assertEqual(done.stdout, plain.stdout, python)
            self.assertIn(b"sitecustomize\n", done.stdout)

    def test_sys_path_and_modules_are_as_without(self):
        """Code of ours in the job's Python must not show in what it imports or lists."""
        script = "import sys, json; print(json.dumps([sys.path, sys.flags.__repr__(), sorted(sys.modules)]))"
        from tests.e2e.support import job_env
        for _, python in self.every_python():
            plain = self.command([python, "-c", script], env=job_env()).json()
            seen = self.run_seep([python, "-c", script]).done.json()
            self.assertEqual(plain[1], seen[1], python)
            ours = [x for x in seen[0] if x not in plain[0]]
            self.assertLessEqual(len(ours), 1, ours)
            self.assertEqual([x for x in seen[0] if x in plain[0]], plain[0], "the order of the job's own path")
            self.assertFalse([m for m in seen[2] if m not in plain[2] and "seep" not in m and m != "sitecustomize"],
                             python)

    def test_a_module_named_seep_of_the_job_wins(self):
        folder = self.path("own")
        os.mkdir(folder)
        with open(os.path.join(folder, "seep.py"), "w") as f:
            f.write("mine = True\n")
        with open(os.path.join(folder, "job.py"), "w") as f:
            f.write("import seep; print(seep.mine)\n")
        done = self.run_seep([SYSTEM_PYTHON, os.path.join(folder, "job.py")]).done
        self.assertEqual(done.stdout, b"True\n")


if __name__ == "__main__":
    unittest.main()
