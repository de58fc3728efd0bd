"""Python stacks are what Python itself says they are: file, function and line of every frame, innermost
first, for every CPython found."""
import json
import os
import shutil
import subprocess
import unittest

from tests.e2e.support import SOURCES, SeepCase, compile_c, has_module, python_frames, pythons, supported

SCRIPT = str(SOURCES / "stacks.py")
LARGE = 150000  # bytes: the blocks of the script, none of the interpreter's own
DEPTH_KEPT = 200  # of a deeper stack at least the innermost frames


def same_function(seen, want):
    """A report may give the qualified name; a name beyond all measure may be cut."""
    if len(want) > 200:
        return len(seen) >= 32 and want.startswith(seen.rstrip(".…").rsplit(">.", 1)[-1])
    return seen == want or seen.endswith("." + want)


def contents(n_bytes):
    """Bytes as up to 3.14: the scripts' are whole thousands and one, from 3.15 on with a head of 32."""
    return n_bytes - (32 if n_bytes % 1000 == 33 else 0)


def made(site):
    return contents(site["allocated_bytes"])


class Stacks(SeepCase):
    profiles = {}  # one run of the whole script serves all groups of an interpreter

    def profiled(self, python):
        if python not in self.profiles:
            self.profiles[python] = None
            profile = self.run_seep([python, SCRIPT, *groups_of(python)], timeout=120)
            self.profiles[python] = (profile.report, json.loads(profile.done.stdout))
        if self.profiles[python] is None:
            self.fail("the script's run under seep failed in another test of this interpreter")
        return self.profiles[python]

    def index(self, report):
        found = {}
        for site in report["sites"]:
            found.setdefault((site["space"], made(site)), []).append(site)
        return found

    def same(self, seen, want):
        """Whether the site's Python frames are the stack that Python told; a deep one may be cut outside."""
        n = len(want)
        if n > DEPTH_KEPT + 10:
            if len(seen) < DEPTH_KEPT:
                return False
            n = min(len(seen), n) - 1
        elif len(seen) != n:
            return False
        return all((s["file"], s["line"]) == (file, line) and same_function(s["function"], function)
                   for s, (file, function, line) in zip(seen[:n], want[:n]))

    def nearest(self, report, want):
        """For the message: the site that shares the most with the stack wanted, large blocks only."""
        def shared(site):
            seen = {(f["file"], f["line"]) for f in python_frames(site)}
            return len(seen & {(file, line) for file, _, line in want})
        best = max((s for s in report["sites"] if s["allocated_bytes"] > LARGE), key=shared, default=None)
        return [best["allocated_bytes"]] + [(f["file"], f["function"], f["line"]) for f in python_frames(best)] \
            if best else None

    def check(self, python, group):
        report, expected = self.profiled(python)
        expected = [e for e in expected if e["group"] == group]
        self.assertTrue(expected)
        wanted = {}  # blocks made at one stack go to one site
        for e in expected:
            entry = wanted.setdefault((e["space"], json.dumps(e["stack"])), [e, 0])
            entry[1] += e["bytes"]
        large = [s for s in report["sites"] if s["allocated_bytes"] > LARGE]
        wrong = []
        for e, total in wanted.values():
            seen = sum(s["allocated_bytes"] for s in large
                       if s["space"] == e["space"] and self.same(python_frames(s), e["stack"]))
            if seen != total:
                wrong.append("%s: %d of %d bytes\nwant %s\nnearest %s" % (
                    e["name"], seen, total, e["stack"][:12], (self.nearest(report, e["stack"]) or [])[:13]))
        self.assertFalse(wrong, "%d of %d stacks are wrong, the first:\n%s" % (
            len(wrong), len(wanted), "\n".join(wrong[:3]) + "\nall: " + ", ".join(w.split(":")[0] for w in wrong)))


GROUPS = ("plain", "recursion", "deep", "generators", "async", "threads", "callbacks", "control", "source",
          "reuse", "trace", "import", "native", "fork")


def groups_of(python):
    return [g for g in GROUPS if g != "native" or has_module(python, "ctypes", "mmap")]



def add_tests(version, path):
    label = "%d_%d_%d" % version + ("_system" if path.startswith("/usr/bin/") else "")

    def add(group):
        def test(self):
            if group not in groups_of(path):
                self.skipTest("this Python has no ctypes")
            self.check(path, group)
        setattr(Stacks, "test_%s_lines_are_exact_in_%s" % (label, group), test)

    for group in GROUPS:
        add(group)

    def identity(self):
        report, _ = self.profiled(path)
        main = report["processes"][0]
        self.assertEqual(main["python"], "%d.%d.%d" % version)
        self.assertFalse([x for x in report["coverage"]["not_seen"] if "python" in str(x).lower()])
    setattr(Stacks, "test_%s_version_is_told" % label, identity)

    def native_inside(self):
        report, expected = self.profiled(path)
        by_bytes = self.index(report)
        sites = [s for e in expected if e["group"] == "plain" for s in by_bytes.get(("host", contents(e["bytes"])), [])]
        self.assertTrue(sites)
        for site in sites:
            kinds = [f["kind"] for f in site["stack"]]
            self.assertEqual(kinds[0], "native", "the C frames of the interpreter come first")
            self.assertIn("python", kinds)
            named = [f["function"] for f in site["stack"] if f["kind"] == "native" and f["function"]]
            if version < (3, 14):  # there the functions that make one are static
                self.assertIn("PyByteArray_Resize", named)
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

    def no_file(self):
        """attrs and others compile what they have written themselves under no name."""
        made = "def f():\n    return bytearray(3000000)\nx = f()\n"
        report = self.run_seep([path, "-c", "exec(compile(%r, '', 'exec'))" % made]).report
        site, = self.index(report)["host", 3000001]
        self.assertEqual([(f["file"], f["line"]) for f in python_frames(site)],
                         [("<no file>", 2), ("<no file>", 3), ("<string>", 1)])
        self.assertEqual(report["job"]["dropped_events"], 0)
    setattr(Stacks, "test_%s_lines_of_code_without_a_file_name" % label, no_file)


def add_unknown(version, path):
    def test(self):
        block = "x = bytearray(3000000)\nprint('done')\n"
        profile = self.run_seep([path, "-c", block])
        self.assertEqual(profile.done.stdout, b"done\n")
        report = profile.report
        sites = [s for s in report["sites"] if made(s) == 3000001]
        self.assertEqual(len(sites), 1)
        self.assertTrue([f for f in sites[0]["stack"] if f["kind"] == "native"], "native stacks stay")
        said = [x for x in report["coverage"]["not_seen"] if "%d.%d" % version[:2] in json.dumps(x)]
        self.assertTrue(said, "coverage does not say that this Python's stacks are missing: %s" % report["coverage"])
    setattr(Stacks, "test_%d_%d_%d_unknown_keeps_native_stacks_and_says_so" % version, test)


for _version, _path in pythons():
    (add_tests if supported(_version) else add_unknown)(_version, _path)


class Settings(SeepCase):
    def test_some_python_was_found_for_these_tests(self):
        self.assertTrue(self.every_python())

    def test_a_virtual_environment_is_read_alike(self):
        version, python = [p for p in pythons() if supported(p[0])][-1]
        folder = self.path("bin")
        os.mkdir(folder)
        os.symlink(python, os.path.join(folder, "python3"))
        with open(self.path("pyvenv.cfg"), "w") as f:
            f.write("home = %s\n" % os.path.dirname(python))
        profile = self.run_seep([os.path.join(folder, "python3"), "-c", "x = bytearray(3000000)"])
        site = next(s for s in profile.report["sites"] if made(s) == 3000001)
        self.assertEqual([f["line"] for f in python_frames(site)], [1])

    def test_each_extension_module_belongs_to_the_line_that_imports_it(self):
        STEP = 100000
        source = SOURCES / "lib/initialiser.c"
        sizes = [3000000 + STEP * i for i in range(12)]  # and the loader's own blocks, at the same stack
        lines = ["import sys", "sys.path.insert(0, %r)" % self.path("modules")]
        wanted = {}
        os.mkdir(self.path("modules"))
        library = compile_c(self, source, self.path("library.so"), "-fPIC", "-shared")
        for size in sizes:
            shutil.copy(library, self.path("modules/seep_extension_%d.so" % size))
            lines += ["try:", "    import seep_extension_%d" % size, "except ImportError:", "    pass"]
            wanted[size] = len(lines) - 2
        job = self.path("job.py")
        with open(job, "w") as f:
            f.write("\n".join(lines) + "\n")
        for version, python in pythons():
            if not supported(version):
                continue
            report = self.run_seep([python, job]).report
            seen = {s["allocated_bytes"] // STEP * STEP: python_frames(s)[-1] for s in report["sites"]
                    if s["allocated_bytes"] >= sizes[0]}
            self.assertEqual({size: (f["file"], f["line"]) for size, f in seen.items()},
                             {size: (job, line) for size, line in wanted.items()}, python)

    def test_a_module_that_is_imported_again_belongs_to_the_line_that_imports_it(self):
        for version, python in self.every_python():
            if supported(version):
                with self.subTest(python):
                    profile = self.run_seep([python, str(SOURCES / "imports_again.py")])
                    lines = {}
                    for site in profile.report["sites"]:
                        for frame in python_frames(site):
                            if frame["file"].endswith("imports_again.py") and frame["function"] == "main" \
                                    and site["allocated_bytes"] >= 200_000:
                                lines[frame["line"]] = lines.get(frame["line"], 0) + site["allocations"]
                    self.assertEqual(sorted(lines), json.loads(profile.done.stdout))
                    for line, n in lines.items():
                        self.assertIn(n, (30, 31, 32), lines)  # and a table of the import's own

    def test_python_frames_of_a_job_killed_by_an_exception(self):
        _, python = [p for p in pythons() if supported(p[0])][0]
        profile = self.run_seep([python, "-c", "x = bytearray(3000000)\nraise SystemError('end')"], status=1)
        self.assertTrue([s for s in profile.report["sites"] if made(s) == 3000001])
        self.assertIn("SystemError: end", profile.done.err)


if __name__ == "__main__":
    unittest.main()
