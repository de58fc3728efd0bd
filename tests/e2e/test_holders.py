"""Who holds what, asked of real interpreters: each answer is known."""
import glob
import json
import os
import sys
import unittest

from tests.e2e import support
from tests.e2e.support import ROOT, SeepCase

CASES = ROOT / "tests/e2e/holder_cases.py"
AT_ONCE = 12


def load():
    """Its table, without a word to seep."""
    sys.modules.setdefault("seep", type(sys)("seep"))
    sys.path.insert(0, str(CASES.parent))
    import holder_cases
    return holder_cases


@support.needs_to_read_children
class Holders(SeepCase):
    def answers(self, python, first):
        """{function: (state, path)} of the cases from `first` on."""
        profile = self.run_seep([python, str(CASES), str(first), str(AT_ONCE)], timeout=120)
        files = glob.glob(os.path.join(profile.folder, "holders-*.json"))
        self.assertEqual(len(files), 1, "%s: one was asked for" % python)
        with open(files[0]) as f:
            document = json.load(f)
        self.assertTrue(document["complete"], document["why_not"])
        return {line["frame"]["function"]: (line["state"], line["paths"][0]["text"] if line["paths"] else "")
                for line in document["lines"] if line["bytes"] > 500000}

    def hold(self, python):
        table = load()
        wrong = []
        for first in range(0, len(table.CASES), AT_ONCE):
            answers = self.answers(python, first)
            for case in table.CASES[first:first + AT_ONCE]:
                state, *paths = table.EXPECTED[case.__name__]
                found = [a for f, a in answers.items() if f == case.__name__ or a[1] in paths]  # made in an inner function
                if not any(a[0] == state and a[1] in paths for a in found):
                    wrong.append((case.__name__, found, paths))
        self.assertEqual(wrong, [], python)

    def test_each_pythons_ways_to_keep_something(self):
        for version, python in self.every_python():
            if support.supported(version):
                with self.subTest(python):
                    self.hold(python)


if __name__ == "__main__":
    unittest.main()
