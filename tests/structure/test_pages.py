"""Pages that list the tree's folders list all of them, and none that is gone."""
import os
import re
import unittest

from tests.structure.sources import HALVES, ROOT, lines_of


def rooms_below(half):
    """Folders with files of their own, as paths within the half."""
    found = set()
    for path, folders, names in os.walk(ROOT / half):
        folders[:] = [f for f in folders if not f.startswith((".", "__"))]
        if names and path != str(ROOT / half):
            found.add(os.path.relpath(path, ROOT / half))
    return found


def folders_of_readme():
    return {cell for line in lines_of("README.md") for cell in re.findall(r"^\| `(\w+)/` \|", line)}


def rooms_of_architecture(half):
    """libprof's rooms stand there with their path; those of preload in a table of their own, by name."""
    rows = [line for line in lines_of("docs/architecture.md") if line.startswith("| `")]
    first_cells = {row.split("|")[1].strip().strip("`") for row in rows}
    if half == "preload":
        return first_cells
    return {cell[len("libprof/"):] for cell in first_cells if cell.startswith("libprof/") and not cell.endswith(".c")}


class Rooms(unittest.TestCase):
    def test_readme_names_each_folder_of_the_tree(self):
        self.assertEqual(folders_of_readme(), {*HALVES, "packaging", "docs", "tools", "tests"})

    def test_architecture_says_what_each_room_is_for(self):
        self.assertEqual(rooms_of_architecture("libprof"), rooms_below("libprof"))
        missing = rooms_below("preload") - rooms_of_architecture("preload")
        self.assertFalse(missing, "in no table of docs/architecture.md")


if __name__ == "__main__":
    unittest.main()
