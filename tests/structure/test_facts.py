"""Verdicts hang on facts: kinds, types, whole names. A rule that looks for a word in a text also finds it in the name of
something else, and changes when the text is said better."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("measure", "who/merge", "verdict", "gate")
SEARCH = re.compile(r"\b(strstr|strcasestr|memmem)\s*\(")


class Facts(unittest.TestCase):
    def test_no_rule_searches_a_text(self):
        sources = [path for room in ROOMS for path in sorted((ROOT / "libprof" / room).glob("*.[ch]"))]
        self.assertGreater(len(sources), 50)
        found = ["%s: %s" % (path.relative_to(ROOT), line.strip()) for path in sources
                 for line in path.read_text().splitlines() if SEARCH.search(line)]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
