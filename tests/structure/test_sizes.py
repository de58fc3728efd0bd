"""What a reader has to take in at once stays small: files and functions."""
import re
import unittest

from tests.structure.sources import C_SOURCES, HALVES, files_below, lines_of

LONG_FILE, MOST_LINES = 500, 1500  # of a source; tables (*.def) may be longer
LONG_FUNCTION, MOST_FUNCTION_LINES = 60, 120  # from brace to brace, both included

HEAD = re.compile(r"^[A-Za-z_].*?(\w+)\(")


def functions_of(file):
    """(name, number of lines) of each; braces at the line's beginning belong to functions."""
    name, begin = "", None
    for number, line in enumerate(lines_of(file), 1):
        head = HEAD.match(line)
        if head:
            name = head.group(1)
        if line == "{":
            begin = number
        elif begin and line.startswith("}"):
            yield name, number - begin + 1
            begin = None


class Sizes(unittest.TestCase):
    """What is long is cut along its ideas, if it has several: a size alone is advice."""

    def judge(self, what, sizes, long, most):
        for name, n in sorted(sizes, key=lambda x: -x[1]):
            if n > long:
                print("advice: %s has %d lines" % (name, n))
        self.assertFalse([name for name, n in sizes if n > most], "%s of above %d lines" % (what, most))

    def test_files_have_at_most_1500_lines(self):
        self.judge("files", [(f, len(lines_of(f))) for f in files_below(".", endings=C_SOURCES + (".py",))],
                   LONG_FILE, MOST_LINES)

    def test_functions_have_at_most_120_lines(self):
        self.judge("functions", [("%s: %s" % (file, name), n) for file in files_below(*HALVES, endings=C_SOURCES)
                                 for name, n in functions_of(file)], LONG_FUNCTION, MOST_FUNCTION_LINES)


if __name__ == "__main__":
    unittest.main()
