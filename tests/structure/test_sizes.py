"""What a reader has to take in at once stays small: folders, files and functions."""
import os
import re
import unittest

from tests.structure.sources import C_SOURCES, HALVES, ROOT, files_below, lines_of

MOST_FILES = 30  # in a folder of libprof, preload and viewer
MOST_LINES = 500  # of a source; tables (*.def) may be longer
MOST_FUNCTION_LINES = 60  # from brace to brace, both included

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
    def test_folders_hold_at_most_30_files(self):
        for half in ("libprof", "preload", "viewer"):
            for path, folders, names in os.walk(ROOT / half):
                folders[:] = [f for f in folders if not f.startswith("__")]
                n = len([name for name in names if not name.startswith(".")])
                self.assertLessEqual(n, MOST_FILES, "%s holds %d files: find the room within it"
                                     % (os.path.relpath(path, ROOT), n))

    def test_files_have_at_most_500_lines(self):
        found = [f for f in files_below(".", endings=C_SOURCES + (".py",)) if len(lines_of(f)) > MOST_LINES]
        self.assertFalse(found, "above %d lines: cut them along their ideas" % MOST_LINES)

    def test_functions_have_at_most_60_lines(self):
        found = ["%s: %s" % (file, name) for file in files_below(*HALVES, endings=C_SOURCES)
                 for name, n in functions_of(file) if n > MOST_FUNCTION_LINES]
        self.assertFalse(found, "above %d lines: give their steps names" % MOST_FUNCTION_LINES)


if __name__ == "__main__":
    unittest.main()
