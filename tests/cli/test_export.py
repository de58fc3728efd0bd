"""`seep export`: other tools read from a profile what the report says."""
import collections
import json
import os
import pty
import re
import shutil
import unittest

from tests.cli.ci_jobs import LEAK_BYTES, SCHEMAS, SEEP, CiCase, job_env, validate
from tests.e2e.support import ROOT, needs

VALUES = {"retained": lambda s: s["retained_bytes"], "live": lambda s: s["live_bytes"],
          "peak": lambda s: s["peak_bytes"], "allocated": lambda s: s["allocated_bytes"],
          "growth": lambda s: max(0, round(s["growth_bytes_per_step"]["value"]))}
ON_DEVICE = """
import ctypes, seep
made = ctypes.CDLL(None).seep_block_made
made.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_size_t]
made(b"device:0", 1 << 40, 4 << 20)
made(b"tensor:0", 1 << 40, 3 << 20)
for step in range(20):
    seep.step()
"""


class ExportCase(CiCase):
    def export(self, form, *args, folder=None):
        done = self.seep("export", folder or self.leak, "--format", form, *args)
        self.assertEqual((done.status, done.err), (0, ""), done.argv)
        return done.stdout

    def sites(self, folder=None):
        return self.seep("report", folder or self.leak, "--all", "--format", "json").json()["sites"]


class Collapsed(ExportCase):
    def lines(self, *args):
        return [line.rsplit(" ", 1) for line in self.export("collapsed", *args).decode().splitlines()]

    def test_every_measure_adds_up_to_the_reports(self):
        for measure, value in VALUES.items():
            said = collections.Counter()
            for stack, n in self.lines("--measure", measure):
                said[stack.split(";")[0]] += int(n)
            wanted = collections.Counter()
            for site in self.sites():
                wanted[site["space"]] += value(site)
            self.assertEqual(+said, +wanted, measure)
            self.assertGreater(said["host"], 0)

    def test_the_leak_has_its_stack_outermost_first(self):
        stack, n = max(self.lines(), key=lambda line: int(line[1]) if "(job.py:" in line[0] else 0)
        self.assertGreater(int(n), 45 * LEAK_BYTES)
        self.assertRegex(stack, r"^host;.*<module> \(job.py:\d+\);main \(job.py:\d+\);load \(job.py:\d+\)")


class Tensors(ExportCase):
    """They lie inside memory of the device's: what adds up a file counts them there, or alone."""

    def folder(self):
        path = os.path.join(self._root, "on_device.py")
        with open(path, "w") as f:
            f.write(ON_DEVICE)
        return self.profile("on-device", script=path)

    def spaces(self, *args, about):
        done = self.seep("export", self.folder(), "--format", "collapsed", "--measure", "peak", *args)
        self.assertEqual(done.status, 0, repr(done))
        self.assertRegex(done.err, about)
        sums = collections.Counter()
        for line in done.stdout.decode().splitlines():
            sums[line.split(";")[0]] += int(line.rsplit(" ", 1)[1])
        return sums

    def test_collapsed_stacks_have_one_book_and_say_what_is_left_out(self):
        sums = self.spaces(about=r"^seep: collapsed leaves out 3\.0 MiB of tensors, .* --tensors .*\n$")
        self.assertEqual(sums["device:0"], 4 << 20)
        self.assertNotIn("tensor:0", sums)
        self.assertEqual(self.spaces("--tensors", about="^$"), {"tensor:0": 3 << 20})

    def test_speedscope_has_profiles_of_tensors_alone(self):
        for args, active in (((), "peak"), (("--tensors",), "peak, tensors")):
            file = json.loads(self.export("speedscope", "--measure", "peak", *args, folder=self.folder()))
            self.assertEqual(validate(SCHEMAS / "speedscope.schema.json", file), [])
            self.assertEqual(file["profiles"][file["activeProfileIndex"]]["name"], active)
        frames, roots = file["shared"]["frames"], {}
        for profile in file["profiles"]:
            roots[profile["name"]] = {frames[stack[0]]["name"] for stack in profile["samples"]}
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
        self.assertEqual(roots["peak, tensors"], {"tensor:0"})
        self.assertIn("device:0", roots["peak"])
        self.assertNotIn("tensor:0", roots["peak"])

    @needs(shutil.which("go"), "no go here")
    def test_pprof_shows_them_first_where_they_are_asked_for(self):
        path = self.path("x.pb.gz")
        self.export("pprof", "--tensors", "-o", path, folder=self.folder())
        done = self.command(["go", "tool", "pprof", "-top", path], env=job_env(HOME=self.dir, PPROF_TMPDIR=self.dir))
        self.assertIn("Type: tensor_retained_space", done.stdout.decode())


class Speedscope(ExportCase):
    def test_it_keeps_to_the_schema_and_says_every_measure(self):
        file = json.loads(self.export("speedscope", "--measure", "growth"))
        self.assertEqual(validate(SCHEMAS / "speedscope.schema.json", file), [])
        self.assertEqual(file["profiles"][file["activeProfileIndex"]]["name"], "growth per step")
        frames = file["shared"]["frames"]
        for measure, profile in zip(VALUES, file["profiles"]):
            self.assertTrue(profile["name"].startswith(measure))
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
            self.assertEqual(profile["endValue"], sum(map(VALUES[measure], self.sites())))
            self.assertLess(max(max(stack) for stack in profile["samples"]), len(frames))

    def test_the_leaks_stack_begins_with_its_space_and_has_its_lines(self):
        file = json.loads(self.export("speedscope"))
        frames, profile = file["shared"]["frames"], file["profiles"][0]
        names = [[frames[i]["name"] for i in stack] for stack in profile["samples"]]
        weight, stack = max((w, i) for i, w in enumerate(profile["weights"]) if "load" in names[i])
        self.assertGreater(weight, 45 * LEAK_BYTES)
        self.assertEqual(names[stack][0], "host")
        self.assertLess(names[stack].index("main"), names[stack].index("load"))
        frame = frames[profile["samples"][stack][names[stack].index("load")]]
        self.assertTrue(frame["file"].endswith("/job.py"), frame)
        self.assertGreater(frame["line"], 1)

    def test_frames_are_there_once(self):
        frames = [tuple(sorted(f.items())) for f in json.loads(self.export("speedscope"))["shared"]["frames"]]
        self.assertLess(len(frames), 1.2 * len(set(frames)))


class Pprof(ExportCase):
    TYPES = {"alloc_objects/count": lambda s: s["allocations"], "alloc_space/bytes": VALUES["allocated"],
             "inuse_objects/count": lambda s: s["allocations"] - s["frees"], "inuse_space/bytes": VALUES["live"],
             "retained_space/bytes": VALUES["retained"], "peak_space/bytes": VALUES["peak"],
             "growth_space_per_step/bytes": VALUES["growth"]}

    def pprof(self, *args, folder=None):
        path = self.path("x.pb.gz")
        with open(path, "wb") as f:
            f.write(self.export("pprof", folder=folder))
        done = self.command(["go", "tool", "pprof", *args, path], env=job_env(HOME=self.dir, PPROF_TMPDIR=self.dir))
        self.assertEqual(done.status, 0, repr(done))
        return done.stdout.decode()

    @needs(shutil.which("go"), "no go here")
    def test_go_reads_what_the_report_says(self):
        head, samples = self.pprof("-raw").split("Samples:\n", 1)
        samples = samples.split("Locations\n", 1)[0].splitlines()
        self.assertEqual([t.split("[")[0] for t in samples[0].split()], list(self.TYPES))
        rows = [[int(n) for n in line.split(":")[0].split()] for line in samples[1:] if re.match(r"[ \d]+: \d", line)]
        self.assertEqual([sum(column) for column in zip(*rows)],
                         [sum(map(value, self.sites())) for value in self.TYPES.values()])
        labels = collections.Counter(re.findall(r"space:\[(\S+)\]", "\n".join(samples)))
        self.assertEqual(labels, collections.Counter(s["space"] for s in self.sites()))

    @needs(shutil.which("go"), "no go here")
    def test_tensors_are_not_added_to_the_device_that_they_lie_on(self):
        folder = Tensors.folder(self)
        for sort, space, n in (("peak_space", "device:0", 4 << 20), ("tensor_peak_space", "tensor:0", 3 << 20)):
            shown = self.pprof("-raw", "-sample_index=" + sort, folder=folder)
            types = shown.split("Samples:\n", 1)[1].splitlines()[0].split()
            at = [t.split("/")[0] for t in types].index(sort)
            found = re.findall(r"(?m)^((?: *\d+)+): [\d ]+\n +.*space:\[(\S+)\]", shown)
            by_space = {s: int(numbers.split()[at]) for numbers, s in found if int(numbers.split()[at])}
            self.assertEqual({s: b for s, b in by_space.items() if ":" in s}, {space: n})

    @needs(shutil.which("go"), "no go here")
    def test_go_shows_the_leak_by_its_function(self):
        top = self.pprof("-top", "-cum", "-unit=B", "-nodecount=100")
        self.assertIn("Type: retained_space", top)
        bytes_of = {name: int(float(n)) for n, name in re.findall(r"(?m)^ *\S+ +\S+ +\S+ +(\d+)B +\S+ +(.*)$", top)}
        self.assertGreater(bytes_of["load"], 45 * LEAK_BYTES)
        self.assertGreaterEqual(bytes_of["<module>"], bytes_of["main"])


class Export(ExportCase):
    def test_a_file_is_written_whole(self):
        path = self.path("out")
        self.assertEqual(self.export("collapsed", "-o", path), b"")
        with open(path, "rb") as f:
            self.assertEqual(f.read(), self.export("collapsed"))

    def test_a_terminal_is_given_text_alone(self):
        for form in ("pprof", "perfetto", "snapshot"):
            ours, theirs = pty.openpty()
            done = self.command([SEEP, "export", self.leak, "--format", form], preexec_fn=lambda: os.dup2(theirs, 1))
            os.close(theirs)
            os.close(ours)
            with self.subTest(form):
                self.assertEqual(done.status, 2, repr(done))
                self.assertIn("%s is binary" % form, self.one_line_error(done))
                self.assertIn("-o FILE", done.err)

    def test_what_cannot_be_read_is_2(self):
        for what, folder in self.spoiled():
            if what != "cut":  # what is left of it can be written
                self.cannot("export", folder, "--format", "collapsed", about=what)

    def test_what_cannot_be_written_is_2(self):
        self.cannot("export", self.leak, "--format", "collapsed", "-o", "/dev/full")
        self.cannot("export", self.leak, "--format", "collapsed", "-o", self.path("no", "folder"))

    def test_every_format_is_in_the_page_and_completed(self):
        formats = re.findall(r"[a-z]+", self.cannot("export", self.leak, "--format", "svg").split("choose ")[1])
        formats.remove("or")
        page = self.seep("help", "export").stdout.decode().split("FORMATS\n")[1].split("\nEXIT")[0]
        self.assertEqual(re.findall(r"(?m)^ {4}([a-z]+)$", page), formats)

    def test_wrong_usage_is_2(self):
        for args in ((), (self.leak,), ("--format", "collapsed"), (self.leak, self.leak, "--format", "collapsed"),
                     (self.leak, "--format", "svg"), (self.leak, "--format", "collapsed", "--measure", "most")):
            with self.subTest(args=args[1:]):
                self.cannot("export", *args)


if __name__ == "__main__":
    unittest.main()
