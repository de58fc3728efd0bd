"""Pages that list the tree's folders list all of them, and none that is gone; what is named is there."""
import os
import re
import unittest

from tests.structure.sources import HALVES, ROOT, files_below, lines_of


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


# A path that ends as pages and scripts do, or the target of a link. What a recipe calls NAME is to be made.
FOLDERS = r"(?:docs|findings|kernels|libprof|packaging|preload|tests/[\w-]+|tools|viewer)/"
NAMED = re.compile(r"(?<![\w/.-])(%s(?:(?!NAME)[\w./-])*\.(?:md|json|yml|py|sh|txt))\b|\]\((?!\w+:)([\w./-]+)\)" % FOLDERS)


def named_files():
    """(page or source, name) of each file of the tree that a page or a comment names by its path, or links to."""
    for file in (*files_below(*HALVES, "docs", "findings", "packaging", "tests", "tools", ".github",
                              endings=(".md", ".txt", ".def", ".c", ".h", ".py", ".yml", ".mk")),
                 *(path.name for path in ROOT.glob("*.md")), "Makefile", "bootstrap"):
        for path, link in NAMED.findall("\n".join(lines_of(file))):
            if path:
                yield file, path
            elif file.endswith(".md"):
                yield file, os.path.relpath(ROOT / os.path.dirname(file) / link, ROOT)


def rooms():
    """What tests/ROOM may be called: viewer and kernels are one room each, with folders for their parts."""
    return (rooms_below("libprof") | rooms_below("preload") | {"viewer"}
            | {os.path.join("kernels", part) for part in rooms_below("kernels")})


class Links(unittest.TestCase):
    def test_a_file_that_is_named_is_there(self):
        named = list(named_files())
        self.assertGreater(len(named), 200)
        self.assertEqual(sorted({pair for pair in named if not (ROOT / pair[1]).exists()}), [])

    def test_each_page_of_docs_is_in_the_index(self):
        index = "\n".join(lines_of("README.md"))
        self.assertEqual([path.name for path in (ROOT / "docs").glob("*.md") if "docs/" + path.name not in index], [])


class Rooms(unittest.TestCase):
    def test_readme_names_each_folder_of_the_tree(self):
        self.assertEqual(folders_of_readme(), {*HALVES, "packaging", "docs", "tools", "tests"})

    def test_readme_has_a_row_for_each_command(self):
        commands = re.findall(r"^SEEP_COMMAND\((\w+),", "\n".join(lines_of("viewer/options/commands.def")), re.M)
        first_cells = " ".join(line.split(" | ")[0] for line in lines_of("README.md") if line.startswith("| `seep "))
        self.assertGreater(len(commands), 10)
        self.assertEqual([name for name in commands if "`seep %s" % name not in first_cells], [])

    def test_unit_tests_lie_in_the_folder_of_their_room(self):
        suites = [file for file in files_below("tests", endings=(".c",)) if "/test_" in file]
        allowed = {"tests/" + room for room in rooms()}
        self.assertGreater(len(suites), 100)
        self.assertEqual([file for file in suites if os.path.dirname(file) not in allowed], [])

    def test_each_folder_of_tests_is_a_rooms_or_on_the_page_of_tests(self):
        page = "\n".join(lines_of("docs/testing.md"))
        folders, of_rooms = ({path.split("/")[0] for path in paths} for paths in (rooms_below("tests"), rooms()))
        self.assertEqual({name for name in folders - of_rooms if "`tests/%s/`" % name not in page}, set())

    def test_architecture_says_what_each_room_is_for(self):
        self.assertEqual(rooms_of_architecture("libprof"), rooms_below("libprof"))
        missing = rooms_below("preload") - rooms_of_architecture("preload")
        self.assertFalse(missing, "in no table of docs/architecture.md")


if __name__ == "__main__":
    unittest.main()
