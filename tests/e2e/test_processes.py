"""Jobs of several processes, one after the other or side by side: live memory is what is live at the same time."""
import os
import sys
import unittest

from tests.e2e.support import SYSTEM_PYTHON, SeepCase, compile_c, end_of, has_module, needs

MIB = 1 << 20
TRAIN = """
import sys, torch
torch.manual_seed(0)
torch.set_num_threads(1)
data = [torch.rand(64, 256) for _ in range(60)]
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.Adam(net.parameters())
kept = []
for i in range(80):
    optimizer.zero_grad()
    net(data[i % 60]).sum().backward()
    optimizer.step()
    if sys.argv[1:]:
        kept.append(torch.zeros(50000))  # leak
"""


class InSequence(SeepCase):
    def write(self, name, text):
        path = self.path(name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def shell(self, text, **kw):
        return self.run_seep(["/bin/sh", "-c", text], **kw)

    def test_memory_of_two_processes_in_a_row_does_not_add_up(self):
        one = '%s -c "x = bytearray(100 << 20); import os; os._exit(0)"' % sys.executable
        report = self.shell("%s; %s" % (one, one)).report
        self.assertGreater(report["spaces"]["host"]["peak_bytes"], 100 * MIB)
        self.assertLess(report["spaces"]["host"]["peak_bytes"], 115 * MIB)
        site = max(report["sites"], key=lambda s: s["allocated_bytes"])
        self.assertGreaterEqual(site["allocated_bytes"], 200 * MIB)
        self.assertLess(site["peak_bytes"], 105 * MIB)
        self.assertLess(max(report["timeline"]["spaces"]["host"]["live_bytes"]), 115 * MIB)

    def test_memory_of_two_processes_side_by_side_adds_up(self):
        os.mkdir(self.path("here"))
        script = self.write("beside.py", "import os, sys, time\nx = bytearray(100 << 20)\n"
                                         "open('%s/%d' % (sys.argv[1], os.getpid()), 'w').close()\n"
                                         "while len(os.listdir(sys.argv[1])) < 2:\n    bytearray(2000)\n"
                                         "end = time.monotonic() + 1\n"
                                         "while time.monotonic() < end:\n    bytearray(2000)\n")
        one = "%s %s %s" % (sys.executable, script, self.path("here"))
        report = self.shell("%s & %s & wait" % (one, one)).report
        self.assertGreater(report["spaces"]["host"]["peak_bytes"], 200 * MIB)

    def test_healthy_scripts_in_a_loop_leak_nothing(self):
        script = self.write("small.py", "x = [bytes(1000) for _ in range(2000)]\n")
        report = self.shell("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do %s %s; done"
                            % (sys.executable, script)).report
        self.assertEqual([(f["pattern"], f["frame"]) for f in report["findings"]], [])
        self.assertLess(report["spaces"]["host"]["peak_bytes"], 10 * MIB)

    def test_a_leak_is_seen_though_the_job_goes_on_after_it(self):
        script = self.write("leak.py", "import time\nkept = []\nfor i in range(60):\n"
                                       "    kept.append(bytearray(300000))\n"
                                       "    for _ in range(3000):\n        bytearray(2000)\n"
                                       "    time.sleep(0.1)\n")
        report = self.shell("%s %s; sleep 3" % (sys.executable, script)).report
        found = [f for f in report["findings"] if f["pattern"] == "unbounded-growth"]
        self.assertEqual([f["frame"]["line"] for f in found], [4], report["findings"])

    def test_exec_gives_back_what_the_program_before_held(self):
        script = self.write("again.py", "import os, sys\nx = bytearray(50 << 20)\nif len(sys.argv) < 2:\n"
                                        "    os.execv(sys.executable, [sys.executable, __file__, '1'])\n"
                                        "os._exit(0)\n")
        report = self.run_seep([sys.executable, script]).report
        host = report["spaces"]["host"]
        self.assertLess(host["peak_bytes"], 65 * MIB)
        self.assertGreater(host["live_bytes"], 50 * MIB)
        self.assertLess(host["live_bytes"], 65 * MIB)

    def test_exec_into_a_program_that_the_shim_does_not_see_keeps_its_status(self):
        static = compile_c(self, self.write("seven.c", "int main(void) { return 7; }\n"),
                           self.path("seven"), "-static")
        profile = self.shell("exec %s" % static, status=7)
        self.assertEqual([end_of(p) for p in profile.report["processes"]], [("exit", 7)])

    @needs(has_module(SYSTEM_PYTHON, "torch"), "no torch")
    def test_three_trainings_in_a_row_are_three_runs(self):
        script = self.write("train.py", TRAIN)
        command = "%s %s" % (SYSTEM_PYTHON, script)
        one = self.shell(command, timeout=240).report["spaces"]["host"]["peak_bytes"]
        report = self.shell("; ".join([command] * 3), timeout=240).report
        self.assertEqual([(f["pattern"], f["frame"]) for f in report["findings"]], [])
        self.assertLess(report["spaces"]["host"]["peak_bytes"], one * 1.1)
        self.assertEqual(sorted(p["steps"] for p in report["processes"] if p["steps"]), [80, 80, 80])
        self.assertEqual(report["timeline"]["step"], sorted(report["timeline"]["step"]))

    @needs(has_module(SYSTEM_PYTHON, "torch"), "no torch")
    def test_a_leak_in_the_second_of_three_trainings_is_found(self):
        script = self.write("train.py", TRAIN)
        command = "%s %s" % (SYSTEM_PYTHON, script)
        report = self.shell("%s; %s leak; %s" % (command, command, command), timeout=240).report
        found = [f for f in report["findings"] if f["pattern"] == "unbounded-growth"]
        self.assertEqual(len(found), 1, report["findings"])
        self.assertTrue(TRAIN.splitlines()[found[0]["frame"]["line"] - 1].endswith("# leak"))
        self.assertAlmostEqual(found[0]["growth_bytes_per_step"]["value"], 200000, delta=4000)

    def test_forked_ranks_that_set_their_own_environment_are_ranks(self):
        script = self.write("ranks.py", "import os, seep\npids = []\nfor rank in range(2):\n"
                                        "    pids.append(os.fork())\n    if not pids[-1]:\n"
                                        "        os.environ['RANK'] = str(rank)\n"
                                        "        for i in range(40):\n            bytearray(100000)\n"
                                        "            seep.step()\n        os._exit(0)\n"
                                        "for pid in pids:\n    os.waitpid(pid, 0)\n")
        report = self.run_seep([sys.executable, script]).report
        self.assertEqual(sorted((p["role"], p["rank"]) for p in report["processes"] if p["steps"]),
                         [("rank", 0), ("rank", 1)])

    def test_a_folder_that_is_missing_leaves_a_report_of_the_others(self):
        profile = self.run_seep(["/bin/true"])
        gone = self.path("gone")
        done = self.seep("report", profile.folder, gone, "--format", "json")
        self.assertEqual(done.status, 0, repr(done))
        self.assertIn(gone, self.one_line_error(done))
        self.assertIn(gone, " ".join(self.valid(done.json())["coverage"]["not_seen"]))
        self.assertEqual(self.seep("report", gone).status, 2)

    def test_a_folder_given_twice_counts_once(self):
        profile = self.run_seep(["/bin/true"])
        done = self.seep("report", profile.folder, profile.folder + "/.", "--format", "json", "--all")
        self.assertEqual(done.json()["spaces"], profile.report["spaces"])


if __name__ == "__main__":
    unittest.main()
