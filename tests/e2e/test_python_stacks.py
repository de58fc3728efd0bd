"""Python stacks are what Python itself says they are: file, function and line of every frame, innermost
first, for every CPython found."""
import json
import os
import subprocess
import unittest

from tests.e2e.support import SOURCES, SeepCase, has_module, needs, python_frames, pythons, supported

SCRIPT = str(SOURCES / "stacks.py")
DEPTH_KEPT = 200  # of a deeper stack at least the innermost frames


def same_function(seen, want):
    """A report may give the qualified name; a name beyond all measure may be cut."""
    if len(want) > 200:
        return len(seen) >= 32 and want.startswith(seen.rstrip(".…").rsplit(">.", 1)[-1])
    return seen == want or seen.endswith("." + want)


class Stacks(SeepCase):
    def profiled(self, python, *groups, **kw):
        profile = self.run_seep([python, SCRIPT, *groups], timeout=120, **kw)
        return profile, json.loads(profile.done.stdout)

    def index(self, report):
        found = {}
        for site in report["sites"]:
            found.setdefault((site["space"], site["allocated_bytes"]), []).append(site)
        return found

    def compare(self, site, want):
        frames = python_frames(site)
        seen = [(f["file"], f["function"], f["line"]) for f in frames]
        n = len(want)
        if len(want) > DEPTH_KEPT + 10:
            self.assertGreaterEqual(len(seen), DEPTH_KEPT)
            n = min(len(seen), len(want)) - 1
        else:
            self.assertEqual(len(seen), len(want), "%s\nwant %s" % (seen, want))
        for got, (file, function, line) in zip(seen[:n], want[:n]):
            self.assertEqual((got[0], got[2]), (file, line), "%s\nwant %s" % (seen, want))
            self.assertTrue(same_function(got[1], function), "%s is not %s" % (got[1], function))

    def check(self, python, *groups):
        profile, expected = self.profiled(python, *groups)
        by_bytes = self.index(profile.report)
        self.assertTrue(expected)
        wrong = []
        for e in expected:
            sites = by_bytes.get((e["space"], e["bytes"]), [])
            try:
                self.assertEqual(len(sites), 1, "%d sites of %d bytes" % (len(sites), e["bytes"]))
                self.compare(sites[0], e["stack"])
            except AssertionError as why:
                wrong.append("%s: %s" % (e["name"], str(why)[:1500]))
        self.assertFalse(wrong, "%d of %d stacks are wrong, the first:\n%s" % (
            len(wrong), len(expected), "\n".join(wrong[:3]) + "\nall: " + ", ".join(w.split(":")[0] for w in wrong)))
        return profile, expected


GROUPS = ("plain", "recursion", "deep", "generators", "async", "threads", "callbacks", "control", "source",
          "reuse", "trace", "import", "native", "fork")


def add_tests(version, path):
    label = "%d_%d_%d" % version + ("_system" if path.startswith("/usr/bin/") else "")

    def add(group):
        @needs(group != "native" or has_module(path, "ctypes", "mmap"), "this Python has no ctypes")
        def test(self):
            self.check(path, group)
        setattr(Stacks, "test_%s_lines_are_exact_in_%s" % (label, group), test)

    for group in GROUPS:
        add(group)

    def identity(self):
        profile, _ = self.profiled(path, "plain")
        main = profile.report["processes"][0]
        self.assertEqual(main["python"], "%d.%d.%d" % version)
        self.assertFalse([x for x in profile.report["coverage"]["not_seen"] if "python" in str(x).lower()])
    setattr(Stacks, "test_%s_version_is_told" % label, identity)

    def native_inside(self):
        profile, expected = self.profiled(path, "plain")
        by_bytes = self.index(profile.report)
        sites = [s for e in expected for s in by_bytes.get(("host", e["bytes"]), [])]
        self.assertTrue(sites)
        for site in sites:
            kinds = [f["kind"] for f in site["stack"]]
            self.assertEqual(kinds[0], "native", "the C frames of the interpreter come first")
            self.assertIn("python", kinds)
        named = [s for s in sites if s["stack"][0].get("function")]
        self.assertTrue(named, "no native frame has a name")
    setattr(Stacks, "test_%s_native_frames_lie_inside" % label, native_inside)

    def other_starts(self):
        block = "x = bytearray(3000000)\ny = bytearray(4000000)\n"
        for argv, data, file in (([path, "-c", block], subprocess.DEVNULL, "<string>"),
                                 ([path, "-"], block.encode(), "<stdin>"),
                                 ([path, "-X", "importtime", "-S", "-E", "-c", block], subprocess.DEVNULL, "<string>"),
                                 ([path, "-I", "-c", block], subprocess.DEVNULL, "<string>")):
            profile = self.run_seep(argv, stdin=data)
            for size, line in ((3000001, 1), (4000001, 2)):
                sites = self.index(profile.report).get(("host", size), [])
                self.assertEqual(len(sites), 1, argv)
                self.assertEqual([(f["file"], f["line"]) for f in python_frames(sites[0])], [(file, line)], argv)
    setattr(Stacks, "test_%s_lines_of_commands_and_stdin" % label, other_starts)


def add_unknown(version, path):
    def test(self):
        block = "x = bytearray(3000000)\nprint('done')\n"
        profile = self.run_seep([path, "-c", block])
        self.assertEqual(profile.done.stdout, b"done\n")
        report = profile.report
        sites = [s for s in report["sites"] if s["allocated_bytes"] == 3000001]
        self.assertEqual(len(sites), 1)
        self.assertTrue([f for f in sites[0]["stack"] if f["kind"] == "native"], "native stacks stay")
        said = [x for x in report["coverage"]["not_seen"] if "%d.%d" % version[:2] in json.dumps(x)]
        self.assertTrue(said, "coverage does not say that this Python's stacks are missing: %s" % report["coverage"])
    setattr(Stacks, "test_%d_%d_%d_unknown_keeps_native_stacks_and_says_so" % version, test)


for _version, _path in pythons():
    (add_tests if supported(_version) else add_unknown)(_version, _path)


class Settings(SeepCase):
    def test_a_virtual_environment_is_read_alike(self):
        version, python = [p for p in pythons() if supported(p[0])][-1]
        folder = self.path("bin")
        os.mkdir(folder)
        os.symlink(python, os.path.join(folder, "python3"))
        with open(self.path("pyvenv.cfg"), "w") as f:
            f.write("home = %s\n" % os.path.dirname(python))
        profile = self.run_seep([os.path.join(folder, "python3"), "-c", "x = bytearray(3000000)"])
        site = next(s for s in profile.report["sites"] if s["allocated_bytes"] == 3000001)
        self.assertEqual([f["line"] for f in python_frames(site)], [1])

    def test_python_frames_of_a_job_killed_by_an_exception(self):
        _, python = [p for p in pythons() if supported(p[0])][0]
        profile = self.run_seep([python, "-c", "x = bytearray(3000000)\nraise SystemError('end')"], status=1)
        self.assertTrue([s for s in profile.report["sites"] if s["allocated_bytes"] == 3000001])
        self.assertIn("SystemError: end", profile.done.err)


if __name__ == "__main__":
    unittest.main()
