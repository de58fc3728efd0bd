"""`seep-lab`: its page, wrong usage, what it lists and makes, every exit status."""
import fcntl
import glob
import json
import math
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import time
import unittest
import zlib

from tests.cli.lab_case import LAB, LabCase
from tests.cli.man_page import assert_page_says
from tests.e2e.support import ROOT, job_env, kill_session, needs, session_members

SCENARIOS = ("pointgroup", "minkowski", "maskrcnn", "splat", "featdepth")
MINKOWSKI = ("none", "empty-every-10", "empty-every-step", "expandable", "padded", "ddp", "roomy", "roomy-expandable",
             "roomy-largest-first", "coordinates-kept", "coordinates-cleared")
KINDS = ("colmap", "colmap-text", "nerf", "ply", "scannet", "coco")


class Words(LabCase):
    def test_help_is_the_manual_page(self):
        page = (ROOT / "docs/man/seep-lab.txt").read_bytes()
        for args in (("--help",), ("-h",), ("help",), ("run", "--help"), ("verify", "-h")):
            done = self.lab(*args)
            self.assertEqual((done.status, done.stdout, done.stderr), (0, page, b""), args)

    @needs(shutil.which("man"), "no man here")
    def test_the_manual_page_is_well_formed_and_says_what_help_says(self):
        assert_page_says(self, os.path.join(os.path.dirname(LAB), "man/seep-lab.1"),
                         self.lab("--help").stdout.decode())

    def test_every_option_is_in_the_page_and_in_the_completion(self):
        source = (ROOT / "kernels/lab/arguments.c").read_text()
        options = re.findall(r'\{"([a-z-]+)", (?:no|required)_argument', source)
        self.assertGreater(len(options), 10)
        page = (ROOT / "docs/man/seep-lab.txt").read_text()
        completion = (ROOT / "viewer/options/completion.bash").read_text().split("_seep_lab()")[1]
        for option in options:
            self.assertRegex(page, r"(?m)^    (?:-\w \w+, )?(?:--format [a-z|]+, )?--%s\b|, --%s\b" % (option, option))
            self.assertIn("--" + option, completion)

    def test_completion_offers_the_variants_of_the_scenario(self):
        script = ('source "$0"; COMP_WORDS=("$1" run minkowski --variant ""); COMP_CWORD=4; _seep_lab; '
                  'echo "${COMPREPLY[@]}"; COMP_WORDS=("$1" verify ma); COMP_CWORD=2; _seep_lab; echo "${COMPREPLY[@]}"')
        done = self.command(["bash", "-c", script, os.path.join(os.path.dirname(LAB), "completion.bash"), LAB])
        self.assertEqual(done.stdout.decode(), " ".join(MINKOWSKI) + "\nmaskrcnn\n", repr(done))

    def test_version(self):
        self.assertRegex(self.lab("--version").stdout.decode(), r"\Aseep-lab \d+\.\d+\.\d+\n\Z")

    def test_wrong_usage_is_one_line_and_2(self):
        run = ("run", "minkowski", "--variant", "none")
        for args in ((), ("walk",), ("-x",), ("run",), ("run", "walk", "--variant", "none"), ("run", "minkowski"),
                     ("run", "minkowski", "--variant", "walk"), ("run", "minkowski", "splat", "--variant", "none"),
                     run + ("--scale", "0"), run + ("--scale", "2"), run + ("--scale", "nan"), run + ("--scale",),
                     run + ("--device", "tpu"), run + ("--seed", "-1"), run + ("--seed", "x"), run + ("--epochs", "1e9"),
                     run + ("--keep", "x"), run + ("--data", "/nonexistent/folder"), run + ("-o", ""),
                     ("list", "x"), ("list", "--format", "yaml"), ("verify", "walk"), ("verify", "--variant", "none"),
                     ("verify", "--data", "."), ("verify", "featdepth", "--data", "."), ("verify", "featdepth", "--device", "cuda"),
                     ("run", "featdepth", "--variant", "right", "--data", "."), ("verify", "--jobs", "65"), ("make-data",), ("make-data", "walk", "x"),
                     ("make-data", "featdepth", "x"),
                     ("make-data", "ply", "/proc/x"), ("make-data", "colmap", ""), ("bench", "walk"), ("bench", "--data", "x"),
                     ("run", "pointgroup", "--variant", "in-thread", "--device", "cuda"),
                     run + ("--capacity", "x"), run + ("--capacity", "1M"), run + ("--capacity", "2T"),
                     ("run", "maskrcnn", "--variant", "deep", "--capacity", "1G"), ("verify", "--capacity", "1G"),
                     ("job", "splat", "--variant", "eager", "--capacity", "1G", "--data", "."),
                     ("bench", "copy", "--capacity", "1G"), ("bench", "--capacity", "1G"),
                     ("run", "pointgroup", "--variant", "eager", "--pictures", "pictures"),
                     ("run", "pointgroup", "--variant", "eager", "--save", "x.ply"),
                     ("run", "maskrcnn", "--variant", "alias", "--images", "images_2", "--data", "."),
                     ("run", "splat", "--variant", "eager", "--images", "images_2"),
                     ("job", "featdepth", "--variant", "right", "--device", "cuda"), ("job", "splat", "--variant", "eager")):
            with self.subTest(args=args):
                self.cannot(*args)
        self.assertEqual(os.listdir(self.dir), [])

    def test_list_names_all_scenarios_and_their_patterns(self):
        done = self.lab("list", "--format", "json")
        self.assertEqual((done.status, done.err), (0, ""))
        listed = {s["name"]: {v["name"]: v for v in s["variants"]} for s in done.json()}
        self.assertEqual(sorted(listed), sorted(SCENARIOS))
        self.assertEqual(listed["minkowski"]["none"]["pattern"], "out-of-memory")
        self.assertEqual(listed["minkowski"]["roomy"]["pattern"], "allocator-cache")
        self.assertIsNone(listed["minkowski"]["expandable"]["pattern"])
        self.assertTrue(listed["minkowski"]["empty-every-10"]["may_fail"])
        self.assertFalse(listed["minkowski"]["expandable"]["may_fail"])
        self.assertTrue(listed["maskrcnn"]["alias-del"]["fails"])
        text = self.lab("list").stdout.decode()
        for name, variants in listed.items():
            self.assertRegex(text, r"(?m)^%s: " % name)
            for variant in variants:
                self.assertRegex(text, r"(?m)^  %s +\S" % variant)


class MakeData(LabCase):
    def test_every_kind_is_made_and_never_into_a_folder_with_files(self):
        for kind in KINDS:
            with self.subTest(kind):
                folder = self.path("data", kind)
                done = self.lab("make-data", kind, folder, "--scale", "0.0005")
                self.assertEqual((done.status, done.stdout, done.err), (0, b"", ""), repr(done))
                self.assertTrue(os.listdir(folder))
                self.assertIn("not an empty folder", self.cannot("make-data", kind, folder))

    def test_a_seed_makes_the_same_again(self):
        for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
            self.assertEqual(self.lab("make-data", "scannet", self.path(name), "--scale", "0.001", "--seed", seed).status, 0)
        texts = [pathlib.Path(self.path(n, "scene0000_00_vh_clean_2.ply")).read_bytes() for n in "abc"]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def made(self, kind, *options):
        folder = self.path(kind)
        self.assertEqual(self.lab("make-data", kind, folder, "--scale", "0.0005", *options).status, 0)
        return folder

    def test_a_scene_in_another_form_trains_as_well(self):
        for kind in ("colmap", "colmap-text", "nerf"):
            folder = self.made(kind)
            done = self.lab("run", "splat", "--variant", "lazy-evicting", "--scale", "0.0005", "--data", folder, "--json",
                            "-o", self.fresh())
            self.assertEqual(done.status, 0, repr(done))
            measured = done.json()["measured"]
            self.assertGreater(measured["psnr_last"], measured["psnr_first"] + 3)

    def test_annotations_and_rooms_are_what_their_jobs_read(self):
        room = self.made("scannet", "--seed", "3")
        for name in os.listdir(room):
            for i in range(1, 8):  # a batch is of more than one
                shutil.copy(os.path.join(room, name), os.path.join(room, name.replace("scene0000", "scene%04d" % i)))
        for folder, scenario, variant, key in ((self.made("coco"), "maskrcnn", "deep", "mask_bytes"),
                                               (room, "pointgroup", "in-thread", "batch_bytes")):
            job = self.lab("job", scenario, "--variant", variant, "--scale", "0.001", "--data", folder,
                           "--measured", self.path("measured"))
            self.assertEqual((job.status, job.err), (0, ""), repr(job))
            with open(self.path("measured")) as f:
                self.assertGreater(json.load(f)[key], 1000)

    def test_a_point_cloud_holds_the_points_of_the_scene(self):
        with open(os.path.join(self.made("colmap-text"), "sparse/0/points3D.txt")) as f:
            scene = [line.split() for line in f if line.strip() and not line.startswith("#")]
        folder = self.made("ply")
        self.assertEqual(os.listdir(folder), ["points.ply"])
        head, body = pathlib.Path(folder, "points.ply").read_bytes().split(b"end_header\n", 1)
        self.assertIn(b"element vertex %d\n" % len(scene), head)
        points = list(struct.iter_unpack("<3f3B", body))
        self.assertGreaterEqual(len(points), 100)
        self.assertEqual(len(points), len(scene))
        for point, line in zip(points, scene):
            self.assertEqual(point[3:], tuple(map(int, line[4:7])))
            for got, true in zip(point, map(float, line[1:4])):
                self.assertAlmostEqual(got, true, delta=1e-5 * (1 + abs(true)))


class Run(LabCase):
    def test_what_is_expected_is_0_and_the_profile_stays(self):
        done = self.lab("run", "featdepth", "--variant", "bucket-all", "--scale", "0.002", "--epochs", "1")
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        self.assertRegex(done.stdout.decode(), r"(?m)^  pressure +collective-buffer .*in allreduce_coalesced")
        folders = os.listdir(self.dir)
        self.assertEqual(len(folders), 1)
        self.assertRegex(folders[0], r"^seep\.featdepth-bucket-all\.\d+\.d$")
        with open(self.path(folders[0], "report.json")) as f:
            report = self.valid(json.load(f))
        self.assertEqual(sorted(p["rank"] for p in report["processes"] if p["role"] == "rank"), [0, 1])

    def test_what_is_not_expected_is_1(self):
        done = self.lab("run", "maskrcnn", "--variant", "alias-del", "--scale", "0.001", "--epochs", "1",
                        "-o", self.fresh())
        self.assertEqual(done.status, 1, repr(done))
        self.assertRegex(done.stdout.decode(), r"(?m)^FAIL +alias-del: the job: ends with status 0")

    def test_a_job_that_could_not_be_run_is_2_also_where_it_is_to_fail(self):
        empty, damaged = self.path("empty"), self.path("damaged")
        os.mkdir(empty)
        self.assertEqual(self.lab("make-data", "maskrcnn", damaged, "--scale", "0.0005").status, 0)
        for name in os.listdir(os.path.join(damaged, "images")):
            pathlib.Path(damaged, "images", name).write_bytes(b"no picture")
        for scenario, variant, data, word in (("maskrcnn", "alias-del", empty, "annotations.json"),
                                              ("maskrcnn", "alias-del", damaged, "images/"),
                                              ("splat", "eager", empty, "sparse/0"),
                                              ("pointgroup", "in-thread", empty, "")):
            with self.subTest((scenario, data)):
                done = self.lab("run", scenario, "--variant", variant, "--data", data, "--scale", "0.001",
                                "-o", self.fresh())
                self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
                self.assertRegex(done.err, r"\Aseep-lab: [^\n]+: [^\n]+\n\Z")
                self.assertIn(word, done.err)

    def test_alias_del_fails_of_its_own_mistake(self):
        done = self.lab("run", "maskrcnn", "--variant", "alias-del", "--scale", "0.001", "-o", self.fresh())
        self.assertEqual(done.status, 0, repr(done))
        self.assertIn("KeyError", done.err)
        self.assertRegex(done.stdout.decode(), r"(?m)^PASS +alias-del: the job: ends with status 1")

    def test_without_a_report_nothing_holds(self):
        """A seep that profiles nothing must not make a fixed variant look good."""
        shutil.copy(LAB, self.path("seep-lab"))
        pathlib.Path(self.path("seep")).write_text("#!/bin/sh\nexit 0\n")
        os.chmod(self.path("seep"), 0o755)
        run = self.command([self.path("seep-lab"), "run", "minkowski", "--variant", "expandable", "--scale", "0.002"],
                           cwd=self.dir)
        self.assertEqual((run.status, run.err), (1, ""), repr(run))
        self.assertRegex(run.stdout.decode(), r"(?m)^FAIL +expandable: seep's report: none")
        verify = self.command([self.path("seep-lab"), "verify", "minkowski", "--scale", "0.002", "--json"],
                              cwd=self.dir)
        self.assertEqual((verify.status, verify.err), (1, ""), repr(verify))
        verdict = verify.json()
        self.assertTrue(verdict["complete"])
        self.assertEqual(sum(not r["pass"] for r in verdict["rows"]), verdict["rows_failed"])
        self.assertEqual([r["name"] for r in verdict["rows"] if r["name"].endswith("report") and not r["pass"]],
                         [v + ": seep's report" for v in MINKOWSKI])

    def test_pictures_are_pictures(self):
        folder = self.path("pictures")
        done = self.lab("run", "splat", "--variant", "lazy-evicting", "--scale", "0.0005", "--pictures", folder,
                        "-o", self.fresh())
        self.assertEqual(done.status, 0, repr(done))
        names = os.listdir(folder)
        self.assertGreater(len(names), 1)
        for name in names:
            self.assertRegex(name, r"^view-\d+-step-\d{5}\.png$")
            picture = pathlib.Path(folder, name).read_bytes()
            self.assertEqual(picture[:16], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
            width, height, depth, colour = struct.unpack(">IIBB", picture[16:26])
            self.assertEqual((depth, colour), (8, 2))
            pixels, at = b"", 8
            while at < len(picture):
                n, kind = struct.unpack(">I4s", picture[at:at + 8])
                pixels += picture[at + 8:at + 8 + n] if kind == b"IDAT" else b""
                at += n + 12
            pixels = zlib.decompress(pixels)
            self.assertEqual(len(pixels), height * (1 + 3 * width))
            self.assertGreater(len(set(pixels)), 10, "one colour is no picture")

    def test_what_splat_trained_is_a_point_cloud(self):
        data, cloud = self.path("scene"), self.path("point_cloud.ply")
        self.assertEqual(self.lab("make-data", "splat", data, "--scale", "0.0005").status, 0)
        os.rename(os.path.join(data, "images"), os.path.join(data, "images_2"))
        run = ("run", "splat", "--variant", "lazy-evicting", "--scale", "0.0005", "--data", data, "--epochs", "1", "--json")
        done = self.lab(*run, "--images", "images_2", "--save", cloud, "-o", self.fresh())
        self.assertEqual(done.status, 0, repr(done))
        n = int(done.json()["measured"]["gaussians_last"])
        names = ["x", "y", "z", "nx", "ny", "nz", *("f_dc_%d" % i for i in range(3)), *("f_rest_%d" % i for i in range(45)),
                 "opacity", *("scale_%d" % i for i in range(3)), *("rot_%d" % i for i in range(4))]
        head, _, body = pathlib.Path(cloud).read_bytes().partition(b"end_header\n")
        self.assertEqual(head.decode().splitlines(), ["ply", "format binary_little_endian 1.0", "element vertex %d" % n]
                         + ["property float " + name for name in names])
        self.assertEqual(len(body), 4 * len(names) * n)
        values = struct.unpack("<%df" % len(names), body[:4 * len(names)])
        self.assertTrue(all(map(math.isfinite, values)) and any(values[-4:]), values)

    def test_what_cannot_be_saved_is_not_trained_first(self):
        done = self.lab("run", "splat", "--variant", "lazy-evicting", "--scale", "0.0005", "--save", "/proc/x.ply",
                        "-o", self.fresh())
        self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
        self.assertIn("/proc/x.ply", done.err)

    def test_a_seed_gives_the_same_figures(self):
        figures = []
        for seed in ("5", "5", "6"):
            done = self.lab("run", "minkowski", "--variant", "roomy-expandable", "--scale", "0.002", "--epochs", "2",
                            "--seed", seed, "--json", "-o", self.fresh())
            self.assertEqual(done.status, 0, repr(done))
            figures.append(done.json()["measured"])
        self.assertEqual(figures[0], figures[1])
        self.assertNotEqual(figures[0], figures[2])

    def test_epochs_are_passes_over_the_list(self):
        """At this scale there are 241 scenes for training and 62 for validation."""
        done = self.lab("run", "minkowski", "--variant", "roomy-expandable", "--scale", "0.002", "--epochs", "2",
                        "--json", "-o", self.fresh())
        self.assertEqual(done.status, 0, repr(done))
        measured = done.json()["measured"]
        self.assertEqual([measured[key] for key in ("steps", "validation_steps", "scenes")], [2 * 21, 2 * 11, 2 * 241])

    def test_the_users_own_settings_for_seep_do_not_change_the_verdict(self):
        env = job_env(SEEP_NO_REPORT="1", SEEP_SAMPLE="1GiB", SEEP_QUIET="1", SEEP_OUT=self.path("elsewhere"), RANK="7")
        done = self.lab("run", "featdepth", "--variant", "wrong-device", "--scale", "0.002", "--epochs", "1", env=env)
        self.assertEqual(done.status, 0, repr(done))
        self.assertFalse(os.path.exists(self.path("elsewhere")))

    def test_without_seep_it_says_so(self):
        alone = self.path("seep-lab")
        shutil.copy(LAB, alone)
        done = self.command([alone, "run", "minkowski", "--variant", "none", "--scale", "0.002"], cwd=self.dir,
                            env=job_env(PATH="/nonexistent"))
        self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
        self.assertRegex(done.err, r"\Aseep-lab: seep: neither beside seep-lab nor in PATH: [^\n]+\n\Z")

    def test_a_folder_that_holds_a_profile_is_not_written_into(self):
        folder = self.fresh()
        args = ("run", "minkowski", "--variant", "expandable", "--scale", "0.002", "--epochs", "1", "-o", folder)
        self.assertEqual(self.lab(*args).status, 0)
        self.assertEqual(self.lab(*args).status, 2)

    @needs(not os.path.exists("/dev/nvidiactl"), "there is a GPU")
    def test_no_gpu_is_one_line_and_2(self):
        for args in (("run", "splat", "--variant", "eager"), ("verify", "splat"), ("bench", "voxels")):
            with self.subTest(args[0]):
                self.assertIn("CUDA", self.cannot(*args, "--device", "cuda"))
        self.assertEqual(os.listdir(self.dir), [])

    def test_it_leaves_nothing_in_the_temporary_folder(self):
        tmp = self.path("tmp")
        os.mkdir(tmp)
        done = self.lab("run", "maskrcnn", "--variant", "shallow", "--scale", "0.001", "-o", self.fresh(),
                        env=job_env(TMPDIR=tmp))
        self.assertEqual(done.status, 0, repr(done))
        self.assertEqual(os.listdir(tmp), [])


class Verify(LabCase):
    def test_what_does_not_hold_is_1(self):
        """One epoch is too short for the aliasing to be seen, and for what was deleted to be missed."""
        done = self.lab("verify", "maskrcnn", "--scale", "0.001", "--epochs", "1", "--json")
        self.assertEqual((done.status, done.err), (1, ""), repr(done))
        verdict = done.json()
        failed = [r["name"] for r in verdict["rows"] if not r["pass"]]
        self.assertEqual(len(failed), verdict["rows_failed"])
        self.assertIn("alias: seep finds", failed)
        self.assertIn("alias-del: the job", failed)
        self.assertNotIn("deep: seep finds", failed)

    def test_what_is_kept_is_of_one_run(self):
        kept, args = self.path("kept"), ("verify", "maskrcnn", "--scale", "0.001", "--keep", self.path("kept"))
        done = self.lab(*args, "--epochs", "3")
        self.assertEqual(done.status, 0, done.err + "\n".join(line for line in done.stdout.decode().splitlines() if "PASS" not in line))
        before = sorted(os.listdir(os.path.join(kept, "maskrcnn")))
        with open(self.path("table"), "w") as f:
            f.write("the last one\n")
        self.assertIn("not an empty folder", self.cannot(*args, "-o", self.path("table")))
        with open(self.path("table")) as f:
            self.assertEqual(f.read(), "the last one\n")
        self.assertEqual(sorted(os.listdir(os.path.join(kept, "maskrcnn"))), before)

    def on_terminal(self, columns, *args):
        """What it writes on a terminal of so many columns."""
        own, theirs = pty.openpty()
        self.addCleanup(os.close, own)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        job = subprocess.Popen([LAB, *args], stdin=theirs, stdout=theirs, stderr=theirs, env=job_env(), cwd=self.dir)
        os.close(theirs)
        written = b""
        while True:
            try:
                more = os.read(own, 65536)
            except OSError:  # the last one has closed it
                break
            written += more
            if not more:
                break
        return job.wait(), written.decode()

    def test_on_a_terminal_rows_fit_and_progress_is_shown(self):
        status, written = self.on_terminal(60, "verify", "featdepth", "--scale", "0.002")
        lines = re.sub(r"[^\r]*\r\033\[K", "", written.replace("\r\n", "\n")).splitlines()
        self.assertEqual(status, 0, written)
        self.assertEqual([line for line in lines if len(line) > 60], [])
        self.assertRegex(lines[-1], r"\A(\d+) of \1 rows pass, in (\d+ min )?\d+ s\Z")
        shown = re.findall(r"\033\[K(\d+) of \d+ variants, \d:\d\d: ([^\r]*)", written)
        self.assertTrue(shown and all("featdepth " in names for _, names in shown), written[:2000])
        self.assertGreaterEqual(max(int(n) for n, _ in shown), 3)

    def test_it_may_run_one_at_a_time(self):
        tables = []
        for jobs in ("1", "3"):
            done = self.lab("verify", "featdepth", "--scale", "0.002", "--jobs", jobs, "--json")
            rows = done.json()["rows"]
            self.assertEqual(([row for row in rows if not row["pass"]], done.status), ([], 0))
            tables.append([(row["name"], row["expected"]) for row in rows])
        self.assertEqual(tables[0], tables[1])

    def test_a_file_that_cannot_be_written_is_known_before_anything_runs(self):
        err = self.cannot("verify", "minkowski", "-o", self.path("none/table"), "--keep", self.path("kept"))
        self.assertIn("none/table", err)
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_failure_leaves_the_rows_there_are(self):
        os.mkdir(self.path("kept"))
        os.symlink("/nonexistent/seep", self.path("kept/maskrcnn"))
        args = ("verify", "minkowski", "maskrcnn", "--scale", "0.002", "--epochs", "2", "--keep", self.path("kept"))
        done = self.lab(*args, "--json", "-o", self.path("table"))
        self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
        self.assertRegex(done.err, r"\Aseep-lab: [^\n]+kept/maskrcnn[^\n]*: [^\n]+\n\Z")
        with open(self.path("table")) as f:
            verdict = json.load(f)
        self.assertFalse(verdict["complete"])
        self.assertEqual({r["scenario"] for r in verdict["rows"]}, {"minkowski"})
        self.assertGreater(verdict["rows_total"], 10)
        shutil.rmtree(self.path("kept/minkowski"))
        done = self.lab(*args)
        self.assertEqual(done.status, 2, repr(done))
        self.assertRegex(done.stdout.decode(), r"pass, in \d+ s\nthe run ended early: [^\n]+\n\Z")


class Signals(LabCase):
    """What ends seep-lab ends its job, too, and leaves nothing in the temporary folder."""
    def setUp(self):
        super().setUp()
        self.tmp = self.path("tmp")
        os.mkdir(self.tmp)

    def end(self, number, args, begun, group=False):
        """Starts seep-lab, waits until begun(), sends the signal; it must end by that."""
        log = open(self.path("log"), "wb+")
        self.addCleanup(log.close)
        lab = subprocess.Popen([LAB, *args], cwd=self.dir, env=job_env(TMPDIR=self.tmp), start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(kill_session, lab.pid)
        for _ in range(3000):
            if begun() or lab.poll() is not None:
                break
            time.sleep(0.01)
        self.assertIsNone(lab.poll(), "ended too early: %r" % pathlib.Path(log.name).read_text())
        (os.killpg if group else os.kill)(lab.pid, number)
        self.assertEqual(lab.wait(60), -number, pathlib.Path(log.name).read_text())
        self.assertEqual(os.listdir(self.tmp), [])
        for _ in range(200):
            if not session_members(lab.pid):
                return
            time.sleep(0.01)
        self.fail("left behind: %s" % session_members(lab.pid))

    def below(self, *patterns):
        return lambda: all(glob.glob(os.path.join(self.dir, p)) for p in patterns)

    def test_while_the_input_is_made(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                self.end(number, ("run", "pointgroup", "--variant", "eager", "--scale", "1"),
                         self.below("tmp/*/data/*.ply"))
        self.end(signal.SIGINT, ("verify", "pointgroup", "--scale", "1"), self.below("tmp/*/*/data/*.ply"), group=True)

    def test_while_the_job_runs(self):
        for n, (number, group) in enumerate(((signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGINT, False))):
            with self.subTest(number, group=group):
                self.end(number, ("run", "featdepth", "--variant", "right", "--epochs", "1000", "-o", "p%d.d" % n),
                         self.below("p%d.d/*" % n), group)

    def test_verify_ends_all_that_run_at_once(self):
        self.end(signal.SIGTERM, ("verify", "featdepth", "--epochs", "1000", "--keep", "kept", "--jobs", "3"),
                 self.below("kept/featdepth/log-node.d/*", "kept/featdepth/bucket-all.d/*"))

    def test_verify_does_not_go_on_with_the_next_variant(self):
        self.end(signal.SIGQUIT, ("verify", "featdepth", "--epochs", "1000", "--keep", "kept", "-o", "table", "--json", "--jobs", "1"),
                 self.below("kept/featdepth/log-node.d/*"), group=True)
        self.assertEqual(glob.glob(self.path("kept/featdepth/log-scalar*")), [])

    def test_one_that_is_ignored_stays_so(self):
        done = self.lab("run", "minkowski", "--variant", "expandable", "--scale", "0.002", "--epochs", "1", "-o",
                        self.fresh(),
                        preexec_fn=lambda: (signal.signal(signal.SIGINT, signal.SIG_IGN),
                                            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]),
                                            os.kill(os.getpid(), signal.SIGINT)))
        self.assertEqual(done.status, 0, repr(done))

    def test_a_parent_that_ignores_its_children_changes_no_verdict(self):
        for epochs, status in (("3", 0), ("1", 1)):
            done = self.lab("run", "maskrcnn", "--variant", "alias-del", "--scale", "0.001", "--epochs", epochs,
                            "-o", self.fresh(), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
            self.assertEqual(done.status, status, repr(done))


class Bench(LabCase):
    def test_the_copy_is_timed(self):
        rows = self.lab("bench", "copy", "--json").json()["copy"]
        self.assertEqual([r["kernel"] for r in rows], ["copy", "copy"])
        for row in rows:
            self.assertAlmostEqual(row["gb_per_s"], row["bytes_moved"] / row["median_ms"] / 1e6, delta=1e-6 * row["gb_per_s"])

    def test_a_file_that_is_not_there_is_named_and_left_out(self):
        os.mkdir(self.path("data"))
        done = self.lab("bench", "splat", "--data", "data", "--json")
        self.assertEqual(done.status, 0, repr(done))
        self.assertEqual(done.err, "seep-lab: data/garden.npz does not exist: splat is timed on generated inputs only\n")
        self.assertEqual({r["input"] for r in done.json()["splat"]}, {"100,000 at 640x360"})

    def test_a_damaged_file_is_named_and_finished_benches_are_printed(self):
        os.mkdir(self.path("data"))
        pathlib.Path(self.path("data/garden.npz")).write_bytes(b"no archive")
        done = self.lab("bench", "copy", "splat", "--data", "data", "--json")
        self.assertEqual(done.status, 2, repr(done))
        self.assertRegex(done.err, r"\Aseep-lab: data/garden\.npz: [^\n]+: [^\n]+\n\Z")
        self.assertEqual(len(done.json()["copy"]), 2)


if __name__ == "__main__":
    unittest.main()
