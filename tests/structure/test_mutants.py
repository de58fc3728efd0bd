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
                self.assertRegex(constant["why"], r"\A(published|measured|chosen): .{4,}")
                self.assertRegex(constant.get("free", "where it is free, it says why"), r".{20,}")
                self.assertTrue(mutants.scales(constant))

    def test_each_move_changes_the_number(self):
        for constant in mutants.table():
            with self.subTest(constant["name"], scenario=constant["scenario"]):
                old = float(mutants.place(constant)[2])
                up, down = (float(new) for _, new in mutants.moves(constant))
                self.assertTrue(down < old < up)

    def test_variants_are_the_scenarios(self):
        for constant in mutants.table():
            sources = "".join(path.read_text() for path in (pathlib.Path(ROOT) / "kernels/lab/scenarios").glob("*.c"))
            for variant in constant.get("variants", "").split():
                self.assertIn('.name = "%s"' % variant, sources)

    def test_no_two_have_one_name(self):
        names = [(c["scenario"], c["name"]) for c in mutants.table()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
