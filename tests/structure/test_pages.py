"""Pages that list the tree's rooms list all of them, and none that is gone."""
import os
import re
import unittest

from tests.structure.sources import ROOT, lines_of

HALVES = ("libprof", "preload")
NO_ROOMS = {"libseep.so", "seep.h"}  # which README names in the row of preload, too


def rooms_below(half):
    """Folders with files of their own, as paths within the half."""
    found = set()
    for path, folders, names in os.walk(ROOT / half):
        folders[:] = [f for f in folders if not f.startswith((".", "__"))]
        if names and path != str(ROOT / half):
            found.add(os.path.relpath(path, ROOT / half))
    return found


def rooms_of_readme(half):
    row, = [line for line in lines_of("README.md") if line.startswith("| `%s/` |" % half)]
    return set(re.findall(r"`([^`]+)`", row.split("|")[2])) - NO_ROOMS


def rooms_of_architecture(half):
    """libprof's rooms stand there with their path; those of preload in a table of their own, by name."""
    rows = [line for line in lines_of("docs/architecture.md") if line.startswith("| `")]
    first_cells = {row.split("|")[1].strip().strip("`") for row in rows}
    if half == "preload":
        return first_cells
    return {cell[len("libprof/"):] for cell in first_cells if cell.startswith("libprof/") and not cell.endswith(".c")}


class Rooms(unittest.TestCase):
    def test_readme_names_each_room(self):
        for half in HALVES:
            rooms = {os.path.basename(room) for room in rooms_below(half)}
            rooms |= {room.split("/")[0] for room in rooms_below(half)}
            self.assertEqual(rooms_of_readme(half), rooms, "in README.md's row of %s/" % half)

    def test_architecture_says_what_each_room_is_for(self):
        self.assertEqual(rooms_of_architecture("libprof"), rooms_below("libprof"))
        missing = rooms_below("preload") - rooms_of_architecture("preload")
        self.assertFalse(missing, "in no table of docs/architecture.md")


if __name__ == "__main__":
    unittest.main()
