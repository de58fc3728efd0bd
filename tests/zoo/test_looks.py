"""What `seep look` says of jobs of the zoo that do not run under seep: who holds what leaks, and that nothing else grows
without bound. `make zoo-looks` asks it of all of them."""
import concurrent.futures
import unittest

from tests.e2e.support import SYSTEM_PYTHON, has_module, needs, needs_to_read_children
from tests.zoo import looks, zoo

QUICK = ("replay_buffer", "pool_plans")  # a list of the job's own; a dict in each of its children
EVERY_S, TIMES, WARM_S = 1, 3, 3


def _holder(text, mib, growth="no", state="held", within=None, by_another=False):
    return {"state": state, "path": {"text": text}, "within": within, "growth": growth, "by_another": by_another,
            "growth_bytes_per_minute": mib * 2.0 ** 20, "retained_bytes": mib << 20}


def _document(*holders):
    return {"tree": {"holders": list(holders)}}


class Answers(unittest.TestCase):
    """What is right, on documents that are made up."""
    LEAK, OTHER = "local 'replay' of main() (list)", "module __main__.cache (dict)"

    def told(self, *holders):
        return looks.is_found(*looks.judge(_document(*holders), ["local 'replay' of main()"], ["held"])[:2])

    def test_the_holder_that_grows_is_among_the_first_two(self):
        self.assertTrue(self.told(_holder(self.OTHER, 9, "steady"), _holder(self.LEAK, 5, "endless")))
        self.assertTrue(self.told(_holder(self.OTHER, 9, "endless"), _holder(self.LEAK, 5, "endless")))
        self.assertFalse(self.told(_holder(self.OTHER, 9, "endless"), _holder(self.OTHER, 8, "endless"), _holder(self.LEAK, 5, "grew")))

    def test_who_does_not_grow_is_among_the_largest_two(self):
        self.assertTrue(self.told(_holder(self.OTHER, 9), _holder(self.LEAK, 5)))
        self.assertFalse(self.told(_holder(self.OTHER, 9), _holder(self.OTHER, 8), _holder(self.LEAK, 5)))
        self.assertFalse(self.told(_holder(self.OTHER, 9, "endless")), "it is not told at all")

    def test_nobody_of_a_fixed_job_grows_without_bound(self):
        told = _holder(self.OTHER, 9, "endless")
        self.assertEqual(looks.endless(_document(_holder(self.OTHER, 9, "steady"), _holder(self.OTHER, 9, "endless", by_another=True))), [])
        self.assertEqual(looks.endless(_document(told)), [told])

    def test_each_job_runs_the_variant_that_is_asked_for(self):
        for name, table in zoo.tables():
            if "look" in table.get("leaky", {}):
                for variant, args in (("leaky", looks.arguments(table, False)), ("fixed", looks.arguments(table, True))):
                    self.assertEqual(args[0], table[variant]["args"][0], name)
                    self.assertEqual(args[1:], table["leaky"]["look"]["args"][1:], name)


@needs_to_read_children
@needs(has_module(SYSTEM_PYTHON, "torch", "numpy"), "no torch here")
class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Both variants of a job at the same time."""
        cls.tables = dict(zoo.tables(QUICK))
        cls.looked = {}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name in QUICK:
                made = [pool.submit(looks.run, name, cls.tables[name], fixed, EVERY_S, TIMES, WARM_S) for fixed in (False, True)]
                cls.looked[name] = [one.result() for one in made]

    def document(self, name, fixed):
        document, errors = self.looked[name][fixed]
        self.assertTrue(document, errors)
        self.assertEqual(len(document["looks"]), TIMES, errors)
        return document

    def test_what_leaks_is_held_and_grows(self):
        for name in QUICK:
            document, holder = self.document(name, False), self.tables[name]["leaky"]["holder"]
            by_growth, _, growing, _ = looks.judge(document, holder["named"], holder["state"])
            self.assertIn(by_growth, (1, 2), [h["path"]["text"] for h in growing])

    def test_what_is_fixed_does_not_grow_without_bound(self):
        for name in QUICK:
            self.assertEqual([h["path"]["text"] for h in looks.endless(self.document(name, True))], [], name)


if __name__ == "__main__":
    unittest.main()
