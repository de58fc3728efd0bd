"""A Python without a GIL (free-threaded, 3.13t and later) is refused in words: no frames, no holders, nothing wrong.
The stand-in has what tells such a build from outside, and all else in it misleads; where there is a real one, it is
tried, too."""
import subprocess

from tests.e2e.support import SEEP, SOURCES, SeepCase, compile_c, free_threaded_pythons, job_env, needs_to_read_children

ROUNDS = 300
KEPT = 20000
JOB = """
import sys, time
kept = []
for _ in range(%%d):
    kept.append(bytearray(%d))
    time.sleep(.01)
print("done", flush=True)
sys.stdin.read()
""" % KEPT
HOLDERS = "Python has no GIL (free-threaded), and seep does not read its objects: run the job with a Python that has one"


class NoGil(SeepCase):
    def jobs(self, rounds=ROUNDS):
        yield "3.14", [compile_c(self, SOURCES / "no_gil.c", self.path("python3.14t"), "-rdynamic"), str(rounds)]
        for version, python in free_threaded_pythons():
            yield "%d.%d" % version[:2], [python, "-c", JOB % rounds]

    def test_a_run_says_that_frames_and_holders_are_not_read(self):
        for version, command in self.jobs():
            with self.subTest(command[0]):
                profile = self.run_looked_at(command, stdin=subprocess.DEVNULL)
                process, = profile.report["processes"]
                self.assertTrue(process["python"].startswith(version), process["python"])
                self.assertIn("pid %d: its Python %s has no GIL (free-threaded), and seep does not read its frames: native "
                              "stacks only, and of its objects what their allocator, mimalloc, maps" %
                              (process["pid"], version), profile.report["coverage"]["not_seen"])
                self.assertTrue([said for said in profile.report["coverage"]["not_seen"] if said.endswith(HOLDERS)])
                taken = sum(totals["peak_bytes"] for totals in process["spaces"].values())
                self.assertGreater(taken, ROUNDS * KEPT - 1)
                self.assertFalse([frame for site in profile.report["sites"] for frame in site["stack"]
                                  if frame["kind"] == "python"])
                for finding in profile.report["findings"]:
                    self.assertFalse(finding["holders"] and finding["holders"]["paths"], finding)

    def test_it_is_not_asked_for_another_allocator(self):
        """It has none, and ends at once if it is."""
        for _, command in self.jobs(rounds=1):
            with self.subTest(command[0]):
                self.run_seep(command, ("--python-allocators",), stdin=subprocess.DEVNULL)

    @needs_to_read_children
    def test_a_look_is_refused(self):
        for _, command in self.jobs():
            with self.subTest(command[0]), subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                            env=job_env(), text=True) as job:
                self.assertEqual(job.stdout.readline(), "done\n")
                done = subprocess.run([SEEP, "look", str(job.pid)], capture_output=True, text=True)
                job.stdin.close()
                self.assertEqual((done.returncode, done.stdout, done.stderr), (
                    2, "", "seep: process %d runs a Python without a GIL (free-threaded), whose objects seep does not "
                    "read: run the job with a Python that has one\n" % job.pid))
