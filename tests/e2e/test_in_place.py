"""A process that cannot be copied is read while it is stopped: never longer than the limit, and what is read is
right."""
import pathlib
import resource
import unittest

from tests.e2e.support import SYSTEM_PYTHON, SeepCase, compile_c, needs_to_read_children
from tests.e2e.test_snapshots import GROW, documents, line_of

# Eight steps while the launcher stands still: how long the longest took.
ALONE = """
import os, signal, time, seep
kept, longest = [], 0
os.kill(os.getppid(), signal.SIGSTOP)
for i in range(8):
    kept.append(bytearray(300000))
    before = time.monotonic()
    seep.step()
    longest = max(longest, time.monotonic() - before)
os.kill(os.getppid(), signal.SIGCONT)
print(longest)
"""


@needs_to_read_children
class InPlace(SeepCase):
    def coverage(self, profile):
        return profile.written["coverage"]["holders"]

    def under_a_limit(self, megabytes, script=GROW, options=("--holders", "5,10,15,20,25,30,35,40")):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))

        script = "large = bytearray(b'x') * (%d << 20)\n" % megabytes + script
        return self.run_seep([SYSTEM_PYTHON, "-c", script], options, preexec_fn=limit)

    def test_near_a_memory_limit_a_job_is_read_in_place(self):
        """There is no room for what it would have to write anew beside a copy. Where the machine is busy, a reader may
        come too late: then there is nothing of that step."""
        profile = self.under_a_limit(300)
        said, read = self.coverage(profile), documents(profile.folder)
        self.assertEqual(set(said["refused"]) - {"unread"}, set())
        self.assertEqual(said["taken"] + said["refused"].get("unread", 0), 8)
        self.assertTrue(read)
        self.assertEqual(said["taken"], len(read))
        for document in read:
            self.assertEqual(line_of(document, "keep")["bytes"], document["step"] * 300001)
            self.assertGreaterEqual(document["stop_ns"], document["read_ns"], "it waits for all of it, as for no copy")

    def test_where_nobody_reads_a_job_goes_on_after_a_quarter_of_a_second(self):
        """Its launcher stands still. How much later a busy machine lets it go on is not seep's: the best of five."""
        stops = []
        while len(stops) < 5 and not (stops and stops[-1] < 0.5):
            profile = self.under_a_limit(300, ALONE, ())
            stops.append(float(profile.done.stdout))
            said = self.coverage(profile)
            self.assertEqual((said["taken"], said["refused"]["unread"]), (0, 1))
            self.assertGreaterEqual(stops[-1], 0.25)
        self.assertLess(stops[-1], 0.5, stops)

    def test_at_a_memory_limit_there_is_none(self):
        self.assertEqual(self.coverage(self.under_a_limit(440)), {"taken": 0, "refused": {"memory": 8}})

    def test_with_the_driver_of_gpus_the_process_itself_is_read(self):
        source = self.path("driver.c")
        pathlib.Path(source).write_text("int driver;\n")
        driver = compile_c(self, source, self.path("libcuda.so.1"), "-shared", "-fPIC")
        script = "import ctypes\nctypes.CDLL(%r)\n" % driver + GROW
        for asks, options in (("", ()), ("seep.holders()\n", ()), ("", ("--holders", "30"))):
            with self.subTest(asks=asks, options=options):
                profile = self.run_seep([SYSTEM_PYTHON, "-c", script + asks], options)
                self.assertGreaterEqual(self.coverage(profile)["taken"], 1)
                for document in documents(profile.folder):
                    self.assertGreaterEqual(document["stop_ns"], document["read_ns"], "it waits, as for no copy")
                    self.assertIn("module __main__.kept", line_of(document, "keep")["paths"][0]["text"])


if __name__ == "__main__":
    unittest.main()
