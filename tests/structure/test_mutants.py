"""The table of the lab's constants, of which `make mutants` asks who notices them: it names what is in the sources."""
import importlib.util
import pathlib
import unittest

from tests.structure.sources import ROOT

SPEC = importlib.util.spec_from_file_location("mutants", pathlib.Path(ROOT) / "tests/mutants/mutants.py")
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)


class Constants(unittest.TestCase):
    def test_each_is_in_its_file_once_and_says_where_it_comes_from(self):
        for constant in mutants.table():
            with self.subTest(constant["name"], scenario=constant["scenario"]):
                mutants.place(constant)
                self.assertRegex(constant["why"], r"\A(published: .|measured: .|chosen)")

    def test_no_two_have_one_name(self):
        names = [(c["scenario"], c["name"]) for c in mutants.table()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
