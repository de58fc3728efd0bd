"""The zoo's verdicts: every leak found on its line and with who holds it, nobody accused of what is healthy.

SEEP_TEST_FULL=1 takes every job; without it a handful, one a family of patterns, keeps the check short."""
import unittest

from tests.e2e.support import FULL, ROOT, SYSTEM_PYTHON, has_module, needs
from tests.zoo import alike, zoo
from tests.zoo.reports import score

QUICK = ("annotation_cache", "total_loss", "pointgroup_loader", "pointgroup_workers", "lru_cached_decode",
         "kept_batches", "small_records", "checkpoint_copies", "short_run", "healthy_densification", "healthy_lru_decode")


class Verdicts(unittest.TestCase):
    pass


def _add(name, table, variant):
    def test(self):
        result = zoo.examine(name, table, variant)
        self.assertTrue(result["ok"], result)
    setattr(Verdicts, "test_%s_%s" % (name, variant), test)


@needs(has_module(SYSTEM_PYTHON, "torch", "numpy"), "no torch here")
class Tables(unittest.TestCase):
    def test_the_quick_jobs_are_there(self):
        self.assertEqual([n for n in QUICK if n not in dict(zoo.tables())], [])

    def test_every_table_is_of_a_job_with_its_lines(self):
        for name, table in zoo.tables():
            self.assertTrue((zoo.ZOO / (name + ".py")).exists(), name)
            if "leaky" in table:
                self.assertTrue(zoo.marked_lines(name), name)
                self.assertIn("fixed", table, name)
                source = (zoo.ZOO / (name + ".py")).read_text()
                self.assertEqual(source.count(table["leaky"]["holder"]["source"]), 1, name)
                self.assertIn(table["leaky"]["holder"].get("kept", ""), source, name)
            else:
                self.assertIn("healthy", table, name)


def _report(*findings):
    return {"findings": [{"pattern": pattern, "severity": severity, "confidence_word": word, "confidence": number,
                          "frame": {"file": "/home/zoo/kept_batches.py", "line": line}}
                         for pattern, severity, word, number, line in findings]}


class Confidence(unittest.TestCase):
    """What the number of a word is held against, on results that are made up."""
    TABLE = {"patterns": ["unbounded-growth"]}
    LINE = zoo.marked_lines("kept_batches")[0]

    def verdicts(self, variant, *findings):
        return zoo.verdicts("kept_batches", self.TABLE, variant, _report(*findings))

    def test_the_marked_line_is_right_and_any_other_is_not(self):
        self.assertEqual(self.verdicts("leaky", ("unbounded-growth", "leak", "certain", 0.9, self.LINE),
                                       ("unbounded-growth", "leak", "likely", 0.8, self.LINE + 1),
                                       ("allocator-cache", "pressure", "likely", 0.8, self.LINE + 1)),
                         [("certain", 0.9, True), ("likely", 0.8, False)])

    def test_another_pattern_is_wrong(self):
        self.assertEqual(self.verdicts("leaky", ("shm-growth", "leak", "certain", 0.9, self.LINE)), [("certain", 0.9, False)])

    def test_whoever_accuses_a_fixed_job_is_wrong(self):
        self.assertEqual(self.verdicts("fixed", ("unbounded-growth", "leak", "certain", 0.9, self.LINE),
                                       ("unbounded-growth", "info", "possible", 0.5, self.LINE)), [("certain", 0.9, False)])

    def test_a_word_is_worth_the_share_that_is_right(self):
        results = [{"verdicts": [("likely", 0.75, True)] * 8 + [("certain", 0.9, True)] * 9},
                   {"verdicts": [("likely", 0.75, True), *[("likely", 0.75, False)] * 3, ("certain", 0.9, False)]}]
        self.assertEqual(zoo.confidences(results), [("certain", 0.9, 9, 10), ("likely", 0.75, 9, 12)])
        self.assertEqual(zoo.overrated(results), [])
        self.assertEqual(zoo.overrated(results + [{"verdicts": [("likely", 0.75, False)]}]), ["likely"])

    def test_a_word_of_one_job_is_not_judged(self):
        self.assertEqual(zoo.overrated([{"verdicts": [("likely", 0.75, True), ("likely", 0.75, False)]}]), [])


class Reports(unittest.TestCase):
    """Jobs from reports want minutes, those on the device a PyTorch for CUDA; their tables want nothing."""

    def test_every_job_has_its_table(self):
        for name, folder in score.SETS.items():
            scripts = {p.stem for p in folder.glob("*.py")}
            self.assertEqual(scripts, {p.stem for p in folder.glob("*.toml")}, name)

    def test_every_table_says_what_is_true_of_its_job(self):
        schema = (ROOT / "docs/report.schema.json").read_text()
        for folder in score.SETS.values():
            for script, table in score.jobs(folder):
                self.assertLessEqual({"title", "models", "patterns"}, set(table), script.name)
                self.assertEqual([p for p in table["patterns"] if '"%s"' % p not in schema], [], script.name)
                self.assertEqual("leaky" in table, bool(score.marked(script)), script.name)
                self.assertLessEqual("leaky" in table, "fixed" in table, "what leaks has a mended twin: " + script.name)
                self.assertNotEqual("leaky" in table, "healthy" in table, script.name)

    def test_the_device_has_its_half(self):
        jobs = [table for _, table in score.jobs(score.SETS["gpu"])]
        self.assertGreaterEqual(sum("leaky" in table for table in jobs), 15)
        self.assertGreaterEqual(sum("healthy" in table for table in jobs), 8)


@needs(has_module(SYSTEM_PYTHON, "torch", "numpy"), "no torch here")
class Alike(unittest.TestCase):
    def test_five_runs_give_the_same_answer(self):
        for name in alike.JOBS if FULL else alike.JOBS[:1]:
            for line, texts in alike.answers(name, 5).items():
                self.assertEqual(dict(texts), {next(iter(texts)): 5}, "%s:%d" % (name, line))


if has_module(SYSTEM_PYTHON, "torch", "numpy"):
    for _name, _table, _variant in zoo.variants(zoo.tables()):
        if FULL or _name in QUICK:
            _add(_name, _table, _variant)

if __name__ == "__main__":
    unittest.main()
