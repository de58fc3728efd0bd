"""What a step is, and what an epoch: optimizers in turn, loaders however they are used, and the loop of a job that
has neither, and the tasks of its pools."""
import re
import textwrap
import unittest

from tests.e2e.support import FULL, NO_LOOKS, SYSTEM_PYTHON, ZOO, SeepCase, compile_c, has_module, marked_line, needs, supported
from tests.e2e.test_training import TORCHES

OPTIMIZERS = ("plain", "new_loader", "evaluated", "persistent", "endless", "gan", "each_parameter", "maml")
BATCHES = ("inference", "accumulated")
LAPS = ("validations", "in_functions", "nested", "generator", "with_statement", "while_loop", "endless", "warmed_up",
        "phases", "recursion")
LOOPS = ("module", "in_main", "nested", "generator", "called", "comprehension", "prepared")
COUNTED_BACK = (("in_main", 120), ("one_call", 400), ("fast", 1000), ("around_library", 40))
SERVE = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *kept;
void serve(int n, int keeps)
{
    for (int i = 0; i < n; i++) {
        void **block = malloc(100000);
        memset(block, 1, 100000);
        *block = kept;
        if (keeps)
            kept = block;
        else
            free(block);
        usleep(20000);
    }
}
"""
SERVED = """
import ctypes, sys, torch
torch.set_num_threads(1)
def train():
    net = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(net.parameters(), .01)
    for _ in range(300):
        loss = net(torch.randn(32, 64)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
train()
ctypes.CDLL(%r).serve(500, int(sys.argv[1]))  # LEAK
"""


@needs(TORCHES, "no torch here")
class Feeds(SeepCase):
    def feed(self, python, way, options=()):
        profile = self.run_seep([python, str(ZOO / "feeds.py"), way], timeout=120, options=options)
        steps, epochs = re.search(rb"steps (\d+) epochs (\d+|None)", profile.done.stdout).groups()
        return profile.written["job"], int(steps), None if epochs == b"None" else int(epochs)

    def pythons(self):
        return TORCHES if FULL else TORCHES[:1]

    def exact(self, ways, source):
        wrong = []
        for label, python in self.pythons():
            for way in ways:
                job, steps, epochs = self.feed(python, way, NO_LOOKS)
                if (job["step_source"], job["steps"], job["epochs"]) != (source, steps, epochs):
                    wrong.append("%s: %s steps by %s, %s epochs, for %d and %s" % (
                        label + " " + way, job["steps"], job["step_source"], job["epochs"], steps, epochs))
        self.assertFalse(wrong)

    def test_rounds_of_optimizers_and_passes_that_feed_them_are_counted(self):
        self.exact(OPTIMIZERS, "optimizer")

    def test_batches_are_counted_where_no_optimizer_steps_or_too_seldom(self):
        self.exact(BATCHES, "batch")

    def test_what_is_told_counts_whatever_loaders_and_optimizers_do(self):
        self.exact(("told_beginnings", "told_ends"), "api")

    def test_a_new_optimizer_for_each_fold_goes_on(self):
        job, steps, _ = self.feed(SYSTEM_PYTHON if has_module(SYSTEM_PYTHON, "torch") else TORCHES[0][1], "folds")
        self.assertEqual(job["step_source"], "optimizer")
        self.assertTrue(steps - 3 <= job["steps"] <= steps, job["steps"])  # the first of each fold joins a round

    def test_workers_that_draw_ahead_begin_an_endless_pass_sooner(self):
        job, steps, epochs = self.feed(TORCHES[0][1], "endless_workers")
        self.assertEqual(job["steps"], steps)
        self.assertIn(job["epochs"], (epochs, epochs + 1))

    def one_call(self, way):
        profile = self.run_seep([TORCHES[0][1], str(ZOO / "feeds.py"), way], timeout=120)
        job, found = profile.written["job"], profile.written["findings"]
        return job["step_source"], job["steps"], sum(f["growth_bytes_per_step"]["value"] for f in found)

    def test_what_a_training_of_one_call_repeats_are_its_steps(self):
        """A busy machine notices the loop late: what had passed by then may lie in one step of three runs."""
        for way, grows in (("one_call", 0), ("one_call_kept", 128 << 10)):
            runs = []
            for _ in range(3):
                source, steps, pace = self.one_call(way)
                runs.append((source, steps, pace))
                if source == "loop" and 146 <= steps < 152 and grows * .85 <= pace <= grows * 1.05:
                    break
            else:
                self.fail("%s: %s" % (way, runs))

    def test_what_follows_a_training_is_judged_by_its_own_loop(self):
        for way, grows in (("averaged", 0), ("averaged_kept", 128 << 10)):
            profile = self.run_seep([TORCHES[0][1], str(ZOO / "feeds.py"), way], timeout=120)
            job, found = profile.written["job"], profile.written["findings"]
            self.assertEqual(job["step_source"], "optimizer", way)
            self.assertIn(job["steps"], range(400, 701), way)
            pace = sum(f["growth_bytes_per_step"]["value"] for f in found)
            self.assertTrue(grows * .95 <= pace <= grows * 1.05, (way, pace))
            self.assertFalse([f for f in found if f["severity"] == "leak"], "it may be gathered once")

    def test_what_follows_a_training_is_judged_by_time_if_nothing_in_it_is_seen_to_repeat(self):
        """A library's own loop, which Python does not show."""
        with open(self.path("serve.c"), "w") as f:
            f.write(SERVE)
        compile_c(self, self.path("serve.c"), self.path("libserve.so"), "-shared", "-fPIC")
        with open(self.path("serve.py"), "w") as f:
            f.write(SERVED % self.path("libserve.so"))
        for kept in (0, 1):
            report = self.run_seep([TORCHES[0][1], self.path("serve.py"), str(kept)], NO_LOOKS, timeout=120).written
            self.assertEqual(report["job"]["step_source"], "optimizer")
            self.assertIn(report["job"]["steps"], range(330, 450))
            self.assertIn("tenth of a second", report["job"]["step_why"])
            found = [f for f in report["findings"] if f["frame"]["line"] == marked_line(self.path("serve.py"), "LEAK")]
            self.assertEqual([f["severity"] for f in found], ["pressure"] * kept)
            for finding in found:
                self.assertAlmostEqual(finding["growth_bytes_per_step"]["value"], 500_000, delta=200_000)

    def test_a_training_takes_over_from_the_loop_that_prepared_it(self):
        job, steps, _ = self.feed(TORCHES[0][1], "prepared")
        self.assertEqual((job["step_source"], job["steps"]), ("optimizer", steps))

    def test_the_loop_is_counted_where_an_optimizer_steps_once_an_episode(self):
        job, _, _ = self.feed(TORCHES[0][1], "episodes")
        self.assertEqual(job["step_source"], "loop", job)
        self.assertEqual(job["step_line"]["function"], "episodes")
        self.assertGreaterEqual(job["steps"], 390, "an optimizer's would be ten")


class Laps(SeepCase):
    def laps(self, python, way, *args, options=()):
        profile = self.run_seep([python, str(ZOO / "laps.py"), way, *args], options=options)
        steps, epochs = re.search(rb"steps (\d+) epochs (\d+|None)", profile.done.stdout).groups()
        return profile.written["job"], int(steps), None if epochs == b"None" else int(epochs)

    @needs(TORCHES, "no torch here")
    def test_loops_around_that_of_the_steps_make_epochs(self):
        wrong = []
        for way in LAPS:
            job, steps, epochs = self.laps(TORCHES[0][1], way, options=NO_LOOKS)
            if (job["steps"], job["epochs"], job["epoch_source"]) != (steps, epochs, "loop" if epochs else None):
                wrong.append("%s: %s epochs by %s, for %s" % (way, job["epochs"], job["epoch_source"], epochs))
        self.assertFalse(wrong)

    @needs(TORCHES, "no torch here")
    def test_a_line_of_the_loop_is_named(self):
        job, _, _ = self.laps(TORCHES[0][1], "in_functions")
        self.assertEqual(job["epoch_line"]["function"], "in_functions")

    def test_with_every_python(self):
        wrong = []
        for version, python in self.every_python():
            for way in ("validations", "generator", "with_statement", "endless") if supported(version) else ():
                job, _, epochs = self.laps(python, way, "plain")
                if job["epochs"] != epochs:
                    wrong.append("%s %s: %s epochs, for %s" % (version, way, job["epochs"], epochs))
        self.assertFalse(wrong)

    def test_the_summary_says_where_epochs_come_from(self):
        done = self.seep("run", "-o", self.fresh(), "--", SYSTEM_PYTHON, ZOO / "laps.py", "validations", "plain")
        self.assertRegex(done.err, r"7 epochs of a loop\s+at\s+\S*laps.py:\d+")


class Loops(SeepCase):
    def loop(self, python, way, n=200):
        profile = self.run_seep([python, str(ZOO / "loops.py"), way, n])
        self.assertIn(b"iterations %d" % n, profile.done.stdout)
        return profile.written["job"]

    def check(self, python, way, n=200):
        job = self.loop(python, way, n)
        self.assertEqual(job["step_source"], "loop", (python, way, job))
        self.assertEqual(job["step_line"]["line"], marked_line(ZOO / "loops.py", "LOOP: " + way), (python, way))
        # 25 pass in the quarter of a second for which a loop is watched.
        self.assertTrue(n - (75 if way == "prepared" else 50) <= job["steps"] <= n, (python, way, job["steps"]))
        self.assertTrue(job["step_why"])

    def test_the_main_loop_is_found_and_counted(self):
        for way in LOOPS:
            self.check(SYSTEM_PYTHON, way)

    def test_rounds_before_the_loop_was_noticed_count(self):
        wrong = []
        for way, n in COUNTED_BACK:
            job = self.loop(SYSTEM_PYTHON, way, n)
            line = (job["step_line"] or {}).get("line")
            if line != marked_line(ZOO / "loops.py", "LOOP: " + way) or not n * .94 - 3 <= job["steps"] <= n:
                wrong.append("%s: %s steps by %s, line %s, for %d" % (way, job["steps"], job["step_source"], line, n))
        self.assertFalse(wrong)

    def test_each_round_of_the_outermost_loop_is_a_step_whatever_is_repeated_within(self):
        for way in ("repeated_within", "around_while"):
            profile = self.run_seep([SYSTEM_PYTHON, str(ZOO / "loops.py"), way, 120])
            job, findings = profile.written["job"], profile.written["findings"]
            self.assertEqual(job["steps"], 119, way)
            self.assertEqual(job["step_line"]["function"], way)
            growth = [f["growth_bytes_per_step"]["value"] for f in findings if f["frame"]["function"] == "store"]
            self.assertTrue(growth and abs(growth[0] / (128 * 4033) - 1) < .02, (way, growth))

    def test_a_loop_that_is_seen_at_one_place_is_counted(self):
        self.assertGreaterEqual(self.loop(SYSTEM_PYTHON, "one_place", 120)["steps"], 118)

    def test_with_every_python(self):
        for version, python in self.every_python():
            if supported(version):
                for way in ("in_main", "nested", "module") if FULL else ("nested",):
                    self.check(python, way, 120)

    def test_the_loop_of_what_is_called_back_is_none(self):
        self.assertEqual(self.loop(SYSTEM_PYTHON, "called_back", 60)["step_source"], "time")

    def test_a_loop_is_found_in_a_sample_too(self):
        profile = self.run_seep([SYSTEM_PYTHON, str(ZOO / "loops.py"), "in_main", 300], options=("--sample", "256KiB"))
        job = profile.written["job"]
        self.assertEqual(job["step_source"], "loop")
        # What is sampled is seen less often, here in every ninth iteration or so: a loop is believed later.
        self.assertTrue(150 <= job["steps"] <= 300, job["steps"])

    def test_the_summary_names_the_loop(self):
        done = self.seep("run", "-o", self.fresh(), "--", SYSTEM_PYTHON, ZOO / "loops.py", "in_main", 100)
        where = "loops.py:%d" % marked_line(ZOO / "loops.py", "LOOP: in_main")
        self.assertRegex(done.err, r"\d+ iterations of the loop at\s+\S*%s in in_main" % re.escape(where))
        self.assertIn("steps    no optimizer steps", done.err)

    def test_a_loop_at_the_top_of_a_script_is_counted_by_its_items_alone(self):
        """A module has no locals of its own: what changes in each round is in the function that it calls."""
        script = ("import time\nkept = {}\ndef step(n):\n    kept[n % 10] = [bytearray(2000) for _ in range(50)]; time.sleep(.02)\n"
                  "for n in range(120):\n    step(n)\n")
        with open(self.path("top.py"), "w") as f:
            f.write(script)
        job = self.run_seep([SYSTEM_PYTHON, self.path("top.py")], NO_LOOKS).written["job"]
        self.assertEqual(job["step_source"], "loop")
        self.assertAlmostEqual(job["steps"], 120, delta=3)

    def test_a_leaking_job_and_its_fixed_twin_have_equal_steps(self):
        """What fixes it may add a loop of its own, and make most of the allocations."""
        script = ("import os, time\ndef store(open_, step):\n    for i in range(128):\n        open_.append(os.urandom(4000))\n"
                  "def commit(open_):\n    for entry in open_:\n        copy = bytearray(entry)\n        written = bytes(copy)\n"
                  "def main():\n    open_ = []\n    for step in range(120):\n        store(open_, step)\n"
                  "        if %s:\n            commit(open_)\n            open_ = []\n        time.sleep(.03)\nmain()\n")
        for fixed in (False, True):
            with open(self.path("twin.py"), "w") as f:
                f.write(script % fixed)
            report = self.run_seep([SYSTEM_PYTHON, self.path("twin.py")], NO_LOOKS).written
            self.assertIn(report["job"]["steps"], (118, 119), fixed)
            self.assertEqual(report["job"]["step_line"]["function"], "main", fixed)
            self.assertEqual(len(report["findings"]), not fixed, fixed)

    def quiet(self, python, body):
        """A loop that keeps some in each of 100 rounds, and then allocates nothing that a hook sees, and frees it all."""
        with open(self.path("quiet.py"), "w") as f:
            f.write("import time\ndef through(items):\n    for item in items:\n        yield item\n"
                    "def fill(n):\n    kept = [bytearray(1 << 20)]\n%s\nfill(250)\n" % textwrap.indent(body, "    "))
        return self.run_seep([python, self.path("quiet.py")], NO_LOOKS).written["job"]["steps"]

    def test_rounds_that_allocate_nothing_count(self):
        body = "for i in %s:\n    if i < 100: kept.append(bytearray(300_000))\n    time.sleep(.005)\n"
        wrong = []
        for version, python in self.every_python():
            loops = ("range(n)", "range(0, 3 * n, 3)", "through(range(n))", "map(id, range(n))")
            for loop in loops[:4 if python == SYSTEM_PYTHON else 2] if supported(version) else ():
                steps = self.quiet(python, body % loop)
                if not 247 <= steps <= 250:
                    wrong.append("%s: %d steps for 250 of %s" % (version, steps, loop))
        self.assertFalse(wrong)

    def test_whole_laps_that_allocate_nothing_count(self):
        """Each lap has an iterator of its own. What is kept is kept in the first one."""
        body = ("data = list(range(n - 100))\nfor epoch in range(4):\n    for i in %s:\n        if not epoch: kept.append(bytearray(300_000))\n"
                "        time.sleep(.004)\n")
        wrong = []
        for version, python in self.every_python():
            loops = ("range(n - 100)", "data", "enumerate(data)", "through(data)")[:4 if python == SYSTEM_PYTHON else 1]
            for loop in loops if supported(version) else ():
                steps = self.quiet(python, body % loop)
                if not 590 <= steps <= 600:
                    wrong.append("%s: %d steps for 600 of %s" % (version, steps, loop))
        self.assertFalse(wrong)

    def test_rounds_that_a_loop_did_not_make_do_not_count(self):
        """It is left early, and another of as many rounds follows."""
        body = ("for i in range(50 * n):\n    if i < 100: kept.append(bytearray(300_000))\n    time.sleep(.005)\n"
                "    if i == 149: break\nfor i in range(50 * n): pass\n")
        self.assert_few(body)

    def test_laps_that_are_left_early_count_no_more_rounds(self):
        """The first is gone through, the others are left after a fifth: each round shows."""
        body = ("for epoch in range(5):\n    for i in range(100):\n        kept.append(bytearray(300_000))\n        time.sleep(.005)\n"
                "        if epoch and i == 20: break\n")
        self.assert_few(body, range(180, 186))

    def assert_few(self, body, expected=range(98, 151)):
        for version, python in self.every_python():
            if supported(version):
                self.assertIn(self.quiet(python, body), expected, version)

    def test_what_doubles_in_a_loop_that_allocates_nothing_else_is_told(self):
        """Of 200 rounds no hook sees any after the last doubling."""
        body = ("import time\nclass Bank:\n    def __init__(self): self.data, self.n = bytearray(1 << 19), 0\n"
                "    def add(self, x):\n        while self.n + len(x) > len(self.data) and %s:\n"
                "            grown = bytearray(2 * len(self.data))\n            grown[:self.n] = memoryview(self.data)[:self.n]\n"
                "            self.data = grown\n        at = self.n %% len(self.data)\n"
                "        memoryview(self.data)[at:at + len(x)] = x\n        self.n += len(x)\n"
                "def main():\n    bank, x = Bank(), bytes(1 << 19)\n"
                "    for step in range(200):\n        bank.add(x)\n        time.sleep(.015)\nmain()\n")
        for grows, told in (("True", ["doubling"]), ("len(self.data) < 1 << 22", [])):
            with open(self.path("bank.py"), "w") as f:
                f.write(body % grows)
            report = self.run_seep([SYSTEM_PYTHON, self.path("bank.py")], NO_LOOKS).written
            self.assertIn(report["job"]["steps"], range(197 if told else 0, 201))
            self.assertEqual([f["pattern"] for f in report["findings"]], told)

    def test_calls_of_a_function_from_the_top_of_a_script_are_no_loop_in_it(self):
        call = "    return bytearray(600) if not depth else (%s if path & 1 else %s)(depth - 1, path >> 1)\n"
        script = ("kept = [None] * 40_000\ndef left(depth, path):\n" + call % ("left", "right") +
                  "def right(depth, path):\n" + call % ("right", "left") +
                  "for path in range(400_000):\n    kept[path % 40_000] = left(19, path % 40_000)\n")
        with open(self.path("calls.py"), "w") as f:
            f.write(script)
        job = self.run_seep([SYSTEM_PYTHON, self.path("calls.py")], NO_LOOKS).written["job"]
        self.assertNotIn((job["step_line"] or {}).get("function"), ("left", "right"))

    def test_what_the_job_says_takes_precedence(self):
        script = ("import seep, time\nfor i in range(60):\n    x = bytearray(100000); time.sleep(.01)\n"
                  "    y = bytearray(70000)\n    if i >= 40: seep.step()\n")
        job = self.run_seep([SYSTEM_PYTHON, "-c", script]).written["job"]
        self.assertEqual((job["step_source"], job["steps"]), ("api", 20))

    def test_a_child_that_its_parent_waits_for_makes_steps_of_its_own(self):
        """After the parent's last step; while that still makes some, the child's loop is none of the job's."""
        child = "subprocess.Popen([sys.executable, %r, 'in_main', '600'])" % str(ZOO / "loops.py")
        steps = "import seep, subprocess, sys, time\nfor i in range(40): seep.step(); time.sleep(.01)\nchild = %s\n" % child
        for rest, source in (("child.wait()", "loop"),
                             ("while child.poll() is None: seep.step(); time.sleep(.1)", "api")):
            profile = self.run_seep([SYSTEM_PYTHON, "-c", steps + rest], timeout=120)
            job, own = profile.written["job"], [p["steps"] for p in profile.written["processes"]]
            self.assertEqual((job["step_source"], job["steps"]), (source, max(own)), own)
            self.assertEqual(own[0] == 40 and own[1] >= 100, source == "loop", own)


class Pools(SeepCase):
    # Fewer are no steps yet, and what the last ones give may be taken before anything else happens.
    BEFORE, AT_THE_END = 15, 4

    def pool(self, way, n=100, python=SYSTEM_PYTHON):
        profile = self.run_seep([python, str(ZOO / "pools.py"), way, n])
        self.assertIn(b"tasks %d" % n, profile.done.stdout)
        return profile.written["job"]

    def check(self, way, python=SYSTEM_PYTHON):
        job = self.pool(way, python=python)
        self.assertEqual(job["step_source"], "task", (python, way, job))
        self.assertTrue(100 - self.BEFORE - self.AT_THE_END <= job["steps"] <= 100 - self.BEFORE, (python, way, job))

    def test_tasks_of_a_pool_are_steps_where_nothing_else_is(self):
        for way in ("fork", "spawn", "chunks", "executor"):
            self.check(way)

    def test_with_every_python(self):
        for version, python in self.every_python():
            if supported(version):
                self.check("fork", python)

    def test_threads_are_no_pool_of_processes(self):
        self.assertEqual(self.pool("threads")["step_source"], "time")

    def test_what_the_job_says_takes_precedence_over_tasks(self):
        job = self.pool("told")
        self.assertEqual((job["step_source"], job["steps"]), ("api", 20))


if __name__ == "__main__":
    unittest.main()
