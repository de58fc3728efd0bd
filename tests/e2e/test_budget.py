"""A budget for what seep may cost, and what it says that it cost. Wherever a machine's speed matters, the job goes on
until what is awaited has come."""
import json
import math
import pathlib
import resource
import subprocess
import time
import unittest

from tests.e2e.support import LOOK_ATTEMPTS, SEEP, SYSTEM_PYTHON, Profile, SeepCase, functions, job_env, kill_session, said_of, sum_sites

LARGEST_GAP = 64 * 1024
KEPT_BYTES = 2000

# Steps of many small blocks, 20 of which are kept, in a container or by nobody. Once FILE is there seep is asked to look.
KEEPS = """import ctypes, pathlib, sys, threading, time
import seep

kept = {}
malloc = ctypes.CDLL(None).malloc

def churn():
    for _ in range(4000):
        bytearray(600)

def keep(step):
    for i in range(20):
        %s

def train():
    step = 0
    while not go_on.exists() or step < 200:
        churn()
        keep(step)
        step += 1
        seep.step()
    seep.holders()
    time.sleep(1)
    print('{"kept": %%d}' %% (20 * step))

go_on = pathlib.Path(sys.argv[1])
thread = threading.Thread(target=train)
thread.start()
thread.join()
"""
HELD, LOST = "kept[step, i] = bytearray(%d)" % (KEPT_BYTES - 1), "malloc(%d)" % KEPT_BYTES


class Budget(SeepCase):
    def run_until(self, holds, *options, job=None, seconds=240):
        """A job, or small_events, under a budget until its report's cost holds: its profile and what it says."""
        folder, go_on = self.fresh(), self.path("go-on")
        pathlib.Path(go_on).unlink(missing_ok=True)
        argv = [SYSTEM_PYTHON, "-c", job, go_on] if job else [self.subject("small_events"), "100", go_on]
        p = subprocess.Popen([SEEP, "run", "-q", "-o", folder, *options, "--", *argv],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=job_env(),
                             start_new_session=True)
        self.addCleanup(kill_session, p.pid)
        end = time.monotonic() + seconds
        while not holds(self.cost(folder)):
            self.assertIsNone(p.poll(), "it ended")
            self.assertLess(time.monotonic(), end, "it never came")
            time.sleep(0.5)
        pathlib.Path(go_on).touch()
        out, err = p.communicate(timeout=seconds)
        self.assertEqual(p.returncode, 0, err)
        return Profile(self, None, folder), json.loads(out)

    def cost(self, folder):
        done = self.seep("report", folder, "--brief", "--format", "json")
        return (json.loads(done.stdout)["cost"] if done.status == 0 else None) or {"sample_bytes": 0, "own_bytes": 0}

    def test_very_many_small_events_are_sampled_and_their_sums_are_right(self):
        profile, truth = self.run_until(lambda cost: cost["sample_bytes"], "--overhead", "2%")
        cost = profile.written["cost"]
        self.assertGreaterEqual(cost["sample_bytes"], 512)
        self.assertLessEqual(cost["sample_bytes"], LARGEST_GAP)
        self.assertRegex(said_of(profile.written), "small blocks were sampled")
        for name in ("subject_churn", "subject_kept"):
            seen, its = sum_sites(profile.report, name, "host"), truth[name]
            # Whatever the gaps were: the variance of a sum is below the largest gap times the sum.
            error = 5 * math.sqrt(LARGEST_GAP * its["allocated_bytes"])
            self.assertAlmostEqual(seen["allocated_bytes"], its["allocated_bytes"], delta=error)
            self.assertAlmostEqual(seen["live_bytes"], its["live_bytes"], delta=5 * math.sqrt(2 * LARGEST_GAP * max(
                its["live_bytes"], LARGEST_GAP)))

    def test_a_leak_of_small_blocks_is_found_though_they_are_sampled(self):
        profile, truth = self.run_until(lambda cost: cost["sample_bytes"], "--overhead", "2%", "--holders", "off")
        found = [f for f in profile.written["findings"] if f["severity"] == "leak"]
        self.assertEqual([f["frame"]["function"] for f in found], ["subject_kept"])
        # Of 40 such intervals of 95 % two miss; five standard errors are what chance does not reach.
        growth = found[0]["growth_bytes_per_step"]
        half = max(growth["value"] - growth["low"], growth["high"] - growth["value"])
        self.assertAlmostEqual(growth["value"], 4 * 120, delta=2.5 * half)

    def look(self, statement):
        """What a look found that was taken while small blocks were sampled: of the line that keeps them."""
        job = KEEPS % statement
        (line,) = [n for n, text in enumerate(job.splitlines(), 1) if statement in text]
        for _ in range(LOOK_ATTEMPTS):  # a copy that a busy machine gives no CPU is given up
            profile, truth = self.run_until(lambda cost: cost["sample_bytes"], "--overhead", "2%", job=job)
            looks = [json.loads(f.read_text()) for f in pathlib.Path(profile.folder).glob("holders-*.json")]
            looks = [look for look in looks if look["source"] != "end"] or looks  # that leaves out what is lost
            document = max(looks, key=lambda look: look["step"])
            if document["sampled"]:
                break
        self.assertTrue(document["sampled"], profile.written["coverage"]["holders"])
        self.assertTrue(document["complete"], document["why_not"])
        found = [x for x in document["lines"] if x["frame"]["line"] == line]
        kept = truth["kept"] * KEPT_BYTES
        self.assertAlmostEqual(sum(x["bytes"] for x in found), kept,
                               delta=5 * math.sqrt(LARGEST_GAP * kept) + 2 * LARGEST_GAP)
        return profile, truth, max(found, key=lambda x: x["bytes"])

    def test_a_look_names_the_holder_though_blocks_are_sampled(self):
        profile, truth, line = self.look(HELD)
        self.assertEqual(line["state"], "held")
        self.assertEqual(line["paths"][0]["holder"]["name"], "__main__.kept")
        self.assertEqual(line["paths"][0]["holder"]["length"], truth["kept"])
        self.assertEqual(line["lost_bytes"], 0)
        (finding,) = [f for f in profile.written["findings"] if f["severity"] == "leak"]
        self.assertIn("__main__.kept", finding["holders"]["paths"][0]["text"])

    def test_what_nobody_holds_is_lost_though_blocks_are_sampled(self):
        profile, _, line = self.look(LOST)
        self.assertEqual(line["state"], "lost")
        (finding,) = [f for f in profile.written["findings"] if f["severity"] == "leak"]
        self.assertEqual(finding["holders"]["state"], "lost")

    def test_memory_above_its_bound_is_sampled_as_coarsely_as_may_be(self):
        profile, _ = self.run_until(lambda cost: cost["sample_bytes"] == LARGEST_GAP, "--overhead", "100%,1MiB")
        self.assertGreater(profile.written["cost"]["own_bytes"], 1 << 20)

    def test_seep_keeps_to_the_memory_that_it_may_take(self):
        script = ("import time\nkept = []\nfor i in range(250):\n    kept += [bytearray(600) for _ in range(2000)]\n"
                  "    time.sleep(0.02)\n")
        cost = {most: self.run_seep([SYSTEM_PYTHON, "-S", "-c", script], ("--overhead", most, "--holders", "off")).written["cost"]
                for most in ("off", "7MiB")}
        self.assertEqual(cost["off"]["sample_bytes"], 0)
        self.assertGreater(cost["off"]["own_bytes"], 7 << 20)
        self.assertGreater(cost["7MiB"]["sample_bytes"], 0)
        self.assertLess(cost["7MiB"]["own_bytes"], 7 << 20)

    def looked_at(self, most_mib):
        """What a report says of looks at a job of 300,000 objects, and of their cost, if seep may take so many MiB."""
        script = "kept = [[str(i), {'at': i}] for i in range(60000)]\nimport seep\nseep.holders()\n"
        for _ in range(LOOK_ATTEMPTS):
            report = self.run_seep([SYSTEM_PYTHON, "-c", script], ("--overhead", "100%%,%dMiB" % most_mib)).written
            looks = report["coverage"]["holders"]
            if looks["taken"] or looks["refused"].get("overhead"):
                break
        self.assertLess(report["cost"]["own_bytes"] + report["cost"]["reader_peak_bytes"], most_mib << 20)
        return looks, said_of(report)

    def test_a_look_that_would_take_more_memory_is_not_taken_and_the_report_says_why(self):
        looks, said = self.looked_at(24)
        self.assertEqual(looks["taken"], 0)
        self.assertGreater(looks["refused"]["overhead"], 0)
        self.assertNotIn("memory", looks["refused"])
        self.assertRegex(said, "because --overhead bounds seep's memory")

    def test_a_look_that_fits_into_the_memory_is_taken(self):
        looks, _ = self.looked_at(128)
        self.assertGreater(looks["taken"], 0)
        self.assertNotIn("overhead", looks["refused"])

    def test_a_job_of_few_events_is_recorded_whole(self):
        script = "import time\nkept = []\nfor i in range(40):\n    kept.append(bytearray(1000))\n    time.sleep(0.1)\n"
        cost = self.run_seep([SYSTEM_PYTHON, "-S", "-c", script], ("--overhead", "5%", "--holders", "off")).written["cost"]
        self.assertEqual(cost["sample_bytes"], 0)

    def test_off_is_no_bound(self):
        profile = self.run_seep([self.subject("counts_heap"), "events", "300000"], ("--overhead", "off"))
        self.assertEqual(profile.written["cost"]["sample_bytes"], 0)


class Cost(SeepCase):
    EVENTS = 2000000

    def cpu(self, run):
        """The CPU time of all processes of a run, and what it returned."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = run()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result

    def test_what_seep_says_that_it_cost_is_what_it_costs(self):
        argv = [self.subject("counts_heap"), "events", str(self.EVENTS)]
        options = ("--overhead", "off", "--holders", "off", "--no-report")
        plain, beside, told = [], [], []
        for _ in range(5):  # in turns: the machine may be busy for some of them
            plain.append(self.cpu(lambda: self.command(argv, timeout=300))[0])
            cpu, profile = self.cpu(lambda: self.run_seep(argv, options, timeout=300))
            cost = self.report(profile.folder)["cost"]
            beside.append(cpu)
            told.append(cost["events_s"] + cost["stacks_s"] + cost["upkeep_s"])
            self.assertGreater(cost["felt_s"], 0)
            self.assertLessEqual(cost["felt_s"], cost["of_s"])
        ratio = min(told) / (min(beside) - min(plain))
        self.assertGreater(ratio, 0.4, (plain, beside, told))
        self.assertLess(ratio, 2.5, (plain, beside, told))

    def test_each_event_is_counted(self):
        profile = self.run_seep([self.subject("counts_heap"), "events", str(self.EVENTS)], ("--overhead", "off"))
        truth = [t for t in profile.done.json().values() if t["space"] == "host"]
        events = sum(t["allocations"] + t["frees"] for t in truth)
        self.assertAlmostEqual(profile.written["cost"]["events"] / events, 1, delta=0.02)


if __name__ == "__main__":
    unittest.main()
