"""A drawing of states names the tests that hold its edges, and there are such tests."""
import re
import unittest

from tests.structure.sources import files_below, lines_of

DRAWINGS = ("preload/snapshot/snapshot.h", "viewer/watch/copies.h")
TEST = re.compile(r"^ \*     (?:\w+ → \w+ )? +((?:test_)?\w+_\w+_\w+)$", re.M)


def text(file):
    return "\n".join(lines_of(file))


class Drawings(unittest.TestCase):
    def test_each_test_of_a_drawing_is_there(self):
        tests = "".join(text(file) for file in files_below("tests", endings=(".c", ".py")))
        for drawing in DRAWINGS:
            named = TEST.findall(text(drawing))
            self.assertGreater(len(named), 8, drawing)
            self.assertEqual([name for name in named if not re.search(r"(TEST\(|def )%s\b" % name, tests)], [], drawing)


if __name__ == "__main__":
    unittest.main()
