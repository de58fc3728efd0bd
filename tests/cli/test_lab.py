"""`seep-lab`: its page, wrong usage, what it lists and makes, every exit status."""
import json
import os
import pathlib
import re
import shutil
import unittest

from tests.e2e.support import ROOT, SEEP, SeepCase, job_env, needs

LAB = os.path.join(os.path.dirname(SEEP), "seep-lab")
SCENARIOS = ("pointgroup", "minkowski", "maskrcnn", "splat", "featdepth")
KINDS = ("colmap", "colmap-text", "nerf", "ply", "scannet", "coco")


class LabCase(SeepCase):
    def lab(self, *args, **kwargs):
        kwargs.setdefault("timeout", 120)
        kwargs.setdefault("cwd", self.dir)
        return self.command([LAB, *args], **kwargs)

    def cannot(self, *args, **kwargs):
        done = self.lab(*args, **kwargs)
        self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
        self.assertRegex(done.err, r"\Aseep-lab: [^\n]+: [^\n]+\n\Z", repr(done))
        return done.err


class Words(LabCase):
    def test_help_is_the_manual_page(self):
        page = (ROOT / "docs/man/seep-lab.txt").read_bytes()
        for args in (("--help",), ("-h",), ("help",), ("run", "--help"), ("verify", "-h")):
            done = self.lab(*args)
            self.assertEqual((done.status, done.stdout, done.stderr), (0, page, b""), args)

    def test_every_option_is_in_the_page_and_in_the_completion(self):
        source = (ROOT / "kernels/harness/arguments.c").read_text()
        options = re.findall(r'\{"([a-z-]+)", (?:no|required)_argument', source)
        self.assertGreater(len(options), 10)
        page = (ROOT / "docs/man/seep-lab.txt").read_text()
        completion = (ROOT / "viewer/completion.bash").read_text().split("_seep_lab()")[1]
        for option in options:
            self.assertRegex(page, r"(?m)^    (?:-\w \w+, )?(?:--format [a-z|]+, )?--%s\b|, --%s\b" % (option, option))
            self.assertIn("--" + option, completion)

    def test_completion_offers_the_variants_of_the_scenario(self):
        script = ('source "$0"; COMP_WORDS=("$1" run minkowski --variant ""); COMP_CWORD=4; _seep_lab; '
                  'echo "${COMPREPLY[@]}"; COMP_WORDS=("$1" verify ma); COMP_CWORD=2; _seep_lab; echo "${COMPREPLY[@]}"')
        done = self.command(["bash", "-c", script, ROOT / "viewer/completion.bash", LAB])
        self.assertEqual(done.stdout.decode(), "none empty-every-10 bucketed expandable\nmaskrcnn\n", repr(done))

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
                     ("verify", "--data", "."), ("make-data",), ("make-data", "walk", "x"), ("make-data", "minkowski", "x"),
                     ("make-data", "ply", "/proc/x"), ("bench", "walk"), ("job", "splat", "--variant", "eager")):
            with self.subTest(args=args):
                self.cannot(*args)

    def test_list_names_all_scenarios_and_their_patterns(self):
        done = self.lab("list", "--format", "json")
        self.assertEqual((done.status, done.err), (0, ""))
        listed = {s["name"]: {v["name"]: v for v in s["variants"]} for s in done.json()}
        self.assertEqual(sorted(listed), sorted(SCENARIOS))
        self.assertEqual(listed["minkowski"]["none"]["pattern"], "allocator-cache")
        self.assertIsNone(listed["minkowski"]["bucketed"]["pattern"])
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

    def test_a_scene_in_another_form_trains_as_well(self):
        for kind in ("colmap-text", "nerf"):
            folder = self.path(kind)
            self.assertEqual(self.lab("make-data", kind, folder, "--scale", "0.0005").status, 0)
            done = self.lab("run", "splat", "--variant", "lazy-evicting", "--scale", "0.0005", "--data", folder, "--json",
                            "-o", self.fresh())
            self.assertEqual(done.status, 0, repr(done))
            measured = done.json()["measured"]
            self.assertGreater(measured["psnr_last"], measured["psnr_first"] + 3)


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

    def test_a_seed_gives_the_same_figures(self):
        figures = []
        for seed in ("5", "5", "6"):
            done = self.lab("run", "minkowski", "--variant", "none", "--scale", "0.002", "--seed", seed, "--json",
                            "-o", self.fresh())
            self.assertEqual(done.status, 0, repr(done))
            figures.append(done.json()["measured"])
        self.assertEqual(figures[0], figures[1])
        self.assertNotEqual(figures[0], figures[2])

    def test_epochs_are_passes_over_the_list(self):
        done = self.lab("run", "minkowski", "--variant", "expandable", "--epochs", "2", "--json", "-o", self.fresh())
        self.assertEqual(done.status, 0, repr(done))
        self.assertEqual(done.json()["measured"]["steps"], 400)

    def test_the_users_own_settings_for_seep_do_not_change_the_verdict(self):
        env = job_env(SEEP_NO_REPORT="1", SEEP_SAMPLE="1GiB", SEEP_QUIET="1", SEEP_OUT=self.path("elsewhere"), RANK="7")
        done = self.lab("run", "featdepth", "--variant", "wrong-device", "--scale", "0.002", "--epochs", "1", env=env)
        self.assertEqual(done.status, 0, repr(done))
        self.assertFalse(os.path.exists(self.path("elsewhere")))

    def test_without_seep_it_says_so(self):
        alone = self.path("seep-lab")
        shutil.copy(LAB, alone)
        done = self.command([alone, "run", "minkowski", "--variant", "none"], cwd=self.dir, env=job_env(PATH="/nonexistent"))
        self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
        self.assertRegex(done.err, r"\Aseep-lab: seep: neither beside seep-lab nor in PATH: [^\n]+\n\Z")

    def test_a_folder_that_holds_a_profile_is_not_written_into(self):
        folder = self.fresh()
        args = ("run", "minkowski", "--variant", "bucketed", "--scale", "0.002", "-o", folder)
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


class Bench(LabCase):
    def test_the_copy_is_timed(self):
        rows = self.lab("bench", "copy", "--json").json()["copy"]
        self.assertEqual([r["kernel"] for r in rows], ["copy", "copy"])
        for row in rows:
            self.assertAlmostEqual(row["gb_per_s"], row["bytes_moved"] / row["median_ms"] / 1e6, delta=1e-6 * row["gb_per_s"])


if __name__ == "__main__":
    unittest.main()
