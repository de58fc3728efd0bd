"""Resident memory is split by kind, and the unexplained part is reported."""
import glob
import mmap
import unittest

from tests.e2e import support
from tests.e2e.support import SYSTEM_PYTHON, SeepCase, has_module, needs

MIB = 1 << 20
GROWTH = 64 * mmap.PAGESIZE  # of subjects/rss_grows, a step
SHARE = 0.03  # of each figure, beside 1 MiB of the program's own


def explained(rss):
    return dict(rss["explained"], unexplained=rss["unexplained_bytes"])


class Rss(SeepCase):
    def kinds(self, *names):
        profile = self.run_seep([self.subject("rss_kinds"), *names])
        rss = profile.report["coverage"]["rss"]
        self.assertIsNotNone(rss, "no sample: %r" % profile.report["processes"])
        self.assertEqual(sum(explained(rss).values()) + rss["seep_bytes"], rss["peak_bytes"])
        return profile.done.json(), explained(rss)

    def about(self, found, wanted, what):
        self.assertAlmostEqual(found, wanted, delta=SHARE * wanted + MIB, msg=what)

    def test_each_kind_of_memory_is_known_beside_the_others(self):
        did, rss = self.kinds()
        self.about(rss["heap_live"], did["heap_live"], "live")
        # What sbrk() gives by hand is a map where it was seen, else a part of the heap.
        self.about(rss["heap_free"] + rss["maps"], did["heap_free"] + did["sbrk"] + did["maps"] + did["copied"],
                   "free and maps")
        maps = did["maps"] + did["copied"]
        self.about(rss["maps"], maps + (did["sbrk"] if rss["maps"] > maps + MIB else 0), "maps")
        self.about(rss["shm"], did["shm"], "shm")
        self.about(rss["stacks"], did["stacks"], "stacks")
        self.assertGreater(rss["files"], did["files"])
        self.assertLess(rss["files"], did["files"] + 8 * MIB)
        self.about(rss["unexplained"], did["instruction"] + did["past_hooks"], "unexplained")

    def test_each_kind_of_memory_is_known_alone(self):
        for name, kinds in (("heap_live", ["heap_live"]), ("heap_free", ["heap_free"]), ("maps", ["maps"]),
                            ("shm", ["shm"]), ("stacks", ["stacks"]), ("sbrk", ["heap_free", "maps"]),
                            ("instruction", ["unexplained"]), ("past_hooks", ["unexplained"]), ("files", ["files"]), ("copied", ["maps"])):
            with self.subTest(name):
                if name == "stacks" and support.kernel_release() < (6, 2) and 64 * mmap.PAGESIZE > MIB:
                    self.skipTest("before Linux 6.2 the kernel counted a thread's last 64 pages late")
                did, rss = self.kinds(name)
                found = sum(rss.pop(k) for k in kinds)
                self.about(found - (2 * MIB if name == "files" else 0), did[name], "%s: %r" % (name, rss))
                rss.pop("files", None)
                self.assertLess(sum(rss.values()), MIB, "%s: %r" % (name, rss))

    def test_growth_that_no_hook_sees_is_a_finding_and_growth_of_the_heap_is_none(self):
        for how in ("instruction", "handle", "heap", "fixed"):
            with self.subTest(how):
                report = self.run_seep([self.subject("rss_grows"), how], timeout=120).report
                self.assertEqual(report["job"]["steps"], 80)
                found = [f for f in report["findings"] if f["frame"] is None]
                slope = report["coverage"]["rss"]["unexplained_growth_bytes_per_step"]
                if how not in ("instruction", "handle"):
                    self.assertEqual(found, [])
                    self.assertFalse(report["coverage"]["rss"]["unexplained_grows"])
                    continue
                self.assertIsNotNone(report["coverage"]["rss"]["explained"])
                self.assertAlmostEqual(slope["value"], GROWTH, delta=GROWTH / 10)
                self.assertEqual([(f["pattern"], f["severity"], f["sites"]) for f in found],
                                 [("undetermined", "info", [])])
                self.assertAlmostEqual(found[0]["growth_bytes_per_step"]["value"], GROWTH, delta=GROWTH / 10)

    def test_a_finding_has_what_is_resident_of_its_blocks_and_says_what_was_requested(self):
        for how, requested in (("heap", GROWTH), ("small", GROWTH // 2), ("untouched", 4 * GROWTH)):
            with self.subTest(how):
                report = self.run_seep([self.subject("rss_grows"), how], timeout=120).report
                finding, = (f for f in report["findings"] if f["severity"] == "leak")
                self.assertAlmostEqual(finding["growth_bytes_per_step"]["value"], GROWTH, delta=GROWTH / 20)
                self.assertAlmostEqual(finding["live_bytes"], 80 * GROWTH, delta=80 * GROWTH / 20)
                self.assertEqual(any("Requested" in line for line in finding["evidence"]), requested != GROWTH)
                site = next(s for s in report["sites"] if s["id"] == finding["sites"][0])
                self.assertAlmostEqual(site["peak_bytes"], 80 * requested, delta=80 * requested / 20)

    def test_a_finding_without_a_line_prints_in_every_format(self):
        folder = self.run_seep([self.subject("rss_grows"), "instruction"], timeout=120).folder
        for name in ("text", "json", "markdown", "sarif", "junit"):
            done = self.seep("report", folder, "--format", name)
            self.assertEqual(done.status, 0, repr(done))
            self.assertIn(b"has no line" if name == "junit" else b"cannot see grows", done.stdout, name)
        self.assertIn(self.seep("verify", folder, folder).status, (0, 1))  # it remains
        self.assertEqual(self.seep("diff", folder, folder).status, 0)
        self.assertIn(self.seep("check", folder, "--baseline", folder).status, (0, 1))

    def test_memory_of_an_allocator_that_the_program_brings_is_named(self):
        profile = self.run_seep([self.subject("bump_malloc"), "64"])
        said = " ".join(profile.report["coverage"]["not_seen"])
        self.assertIn("malloc was never called here: bump_malloc brings its own (jemalloc 5.9.1)", said)
        rss = explained(profile.report["coverage"]["rss"])
        self.about(rss["maps"] + rss["unexplained"], 64 * MIB, repr(rss))
        self.assertLess(rss["heap_live"] + rss["heap_free"], MIB)

    def test_a_program_with_libcs_malloc_is_not_said_to_bring_its_own(self):
        for argv in ([self.subject("rss_kinds"), "heap_live"], ["/bin/sh", "-c", "/bin/ls / | /bin/cat"]):
            said = " ".join(self.run_seep(argv).report["coverage"]["not_seen"])
            self.assertNotIn("brings its own", said)

    def test_a_forked_child_explains_its_memory(self):
        script = ("import os\nx = [bytes(1000) for _ in range(30000)]\npid = os.fork()\n"
                  "if not pid:\n    y = [bytes(1000) for _ in range(20000)]\n    os._exit(0)\nos.waitpid(pid, 0)\n")
        report = self.run_seep([SYSTEM_PYTHON, "-c", script]).report
        child = next(p for p in report["processes"] if p["ppid"] in [q["pid"] for q in report["processes"]])
        rss = child["rss"]
        self.assertGreater(rss["explained"]["heap_live"], 45 * MIB)
        self.assertLess(rss["unexplained_bytes"], 2 * MIB)

    @needs(has_module(SYSTEM_PYTHON, "torch"), "no torch")
    def test_of_pytorch_hardly_anything_is_unexplained(self):
        script = "import os, torch\nx = [torch.rand(1000, 500) for _ in range(50)]\n(x[0].T @ x[1]).sum()\nos._exit(0)\n"
        rss = self.run_seep([SYSTEM_PYTHON, "-c", script], timeout=240).report["coverage"]["rss"]
        self.assertGreater(rss["explained"]["heap_live"], 95 * MIB)
        self.assertLess(rss["unexplained_bytes"], 0.03 * rss["peak_bytes"])

    def test_a_library_with_an_allocator_of_its_own_is_named(self):
        libraries = glob.glob("/usr/lib/x86_64-linux-gnu/libmimalloc.so.2")
        if not libraries:
            self.skipTest("no libmimalloc.so.2")
        script = ("import ctypes\nlibrary = ctypes.CDLL(%r)\nlibrary.mi_malloc.restype = ctypes.c_void_p\n"
                  "kept = [ctypes.memset(ctypes.c_void_p(library.mi_malloc(1 << 20)), 1, 1 << 20) for _ in range(32)]\n"
                  % libraries[0])
        report = self.run_seep([SYSTEM_PYTHON, "-c", script]).report
        said = " ".join(report["coverage"]["not_seen"])
        self.assertRegex(said, r"libraries with their own allocator: libmimalloc\.so\.2\S* \(mimalloc\)")
        self.assertIn("seep records the memory that they map", said)
        self.assertNotIn("brings its own", said)
        rss = explained(report["coverage"]["rss"])
        self.assertGreater(rss["maps"] + rss["unexplained"], 32 * MIB)


if __name__ == "__main__":
    unittest.main()
