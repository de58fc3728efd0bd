"""kernels/lab/README.md, "What the documents say": 49 claims, each with a command that seep-lab takes and with rows that
it prints."""
import functools
import os
import pathlib
import re
import shlex
import shutil
import unittest

from tests.cli.lab_case import LAB, LabCase

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLAIMS = {"PointGroup": 13, "MinkowskiEngine": 7, "Mask R-CNN": 10, "3D Gaussian Splatting": 12, "FeatDepth": 7}
# A seep that finds nothing in no time, of a job that measures next to nothing: rows have their names all the same.
SEEP = """#!/bin/sh
for word; do
    if [ "$last" = -o ]; then
        mkdir -p "$word"
        echo '{"findings": []}' >"$word/report.json"
        echo '{"space": "host"}' >"$word/measured.json"
    fi
    last=$word
done
"""


@functools.cache
def tables():
    """{document: [(number, claim, shown by, what you see)]}"""
    text = (ROOT / "kernels/lab/README.md").read_text()
    text = re.search(r"(?ms)^## What the documents say\n(.*?)^## ", text).group(1)
    found = {}
    for part in text.split("\n### ")[1:]:
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.splitlines() if line.startswith("| ")]
        found[part.split("'s document\n")[0]] = [tuple(row) for row in rows[2:]]
    return found


def claims():
    return [claim for rows in tables().values() for claim in rows]


def quoted(cell):
    """What stands in backticks, commands and names."""
    return re.findall(r"`([^`]+)`", cell)


def commands(claim):
    """Those of seep-lab and of the zoo; an option alone is one of the command before it."""
    found = []
    for words in quoted(claim[2]) + quoted(claim[3]):
        if words.startswith(("seep-lab ", "tests/zoo/zoo.py ")):
            found.append(words)
        elif words.startswith("--variant "):
            found.append("seep-lab run %s %s" % (found[0].split()[2], words))
    return found


class Claims(LabCase):
    def test_there_are_49_and_they_are_counted(self):
        self.assertEqual({document: len(rows) for document, rows in tables().items()}, CLAIMS)
        self.assertEqual([claim[0] for claim in claims()], [str(i + 1) for i in range(49)])
        for claim in claims():
            self.assertEqual(len(claim), 4, claim)
            self.assertTrue(all(claim), claim)

    def test_each_is_shown_by_a_command(self):
        for claim in claims():
            self.assertTrue(quoted(claim[2]) and quoted(claim[2])[0] in commands(claim), claim)

    def test_what_is_in_the_zoo_or_in_a_unit_test_is_there(self):
        suites = {path.stem for path in (ROOT / "tests/kernels").rglob("test_*.c")}
        for claim in claims():
            words = " ".join(quoted(claim[2]) + quoted(claim[3]))
            self.assertLessEqual(set(re.findall(r"\btest_\w+", words)), suites, claim)
            for path in re.findall(r"tests/\S+\.py", words):
                self.assertTrue((ROOT / path).is_file(), path)
            for name in re.findall(r"zoo\.py (\w+)", words):
                self.assertTrue((ROOT / "tests/zoo" / (name + ".toml")).is_file(), name)


class Shown(LabCase):
    """With a seep that profiles nothing, so that it does not take the time of the jobs."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        shutil.copy(LAB, self.path("bin"))
        seep = pathlib.Path(self.path("bin"), "seep")
        seep.write_text(SEEP)
        seep.chmod(0o755)

    def alone_lab(self, *args, **kwargs):
        return self.command([self.path("bin", "seep-lab"), *args], cwd=self.dir, timeout=300, **kwargs)

    def understood(self, *args):
        """It does what it can do here: there may be no GPU."""
        done = self.alone_lab(*args)
        if done.status == 2 and "cuda" in args:
            self.assertIn("no CUDA", done.err)
        else:
            self.assertIn(done.status, (0, 1), repr(done))

    def data_for(self, kind):
        if not os.path.exists(self.path(kind)):
            self.assertEqual(self.alone_lab("make-data", kind, self.path(kind), "--scale", "0.0005").status, 0)
        return self.path(kind)

    def test_each_command_is_understood(self):
        tried = set()
        for claim in claims():
            for line in commands(claim):
                words = shlex.split(line)[1:]
                if not line.startswith("seep-lab ") or tuple(words) in tried or words[0] == "verify":
                    continue  # rows below
                tried.add(tuple(words))
                with self.subTest(line):
                    if words[0] == "make-data":
                        self.data_for(words[1])
                        continue
                    if words[0] == "bench":
                        words += ["--capacity", "975MB"]
                    else:
                        kind = {"splat": "colmap"}.get(words[1], words[1])
                        words = [self.data_for(kind) if word == "DIR" else word for word in words]
                        words += ["--scale", "0.0005", "-o", self.fresh()]
                    self.understood(*words)
        self.assertGreater(len(tried), 25)

    def test_each_row_is_there(self):
        rows = {}
        for args in (("pointgroup",), ("minkowski", "maskrcnn", "splat", "featdepth", "--scale", "0.002")):
            done = self.alone_lab("verify", *args, "--json")
            self.assertEqual(done.status, 1, repr(done))
            self.assertTrue(done.json()["complete"])
            for row in done.json()["rows"]:
                rows.setdefault(row["scenario"], set()).add(row["name"])
        cited = 0
        for claim in claims():
            scenarios = {shlex.split(line)[2] for line in commands(claim) if line.split()[1] in ("run", "verify", "bench")}
            known = set().union(*(rows[s] for s in scenarios))
            for name in re.findall(r"`([^`]+)`", claim[3]):
                if re.match(r"[-_]|seep|tests?[/_]|\w+\(\)$", name):
                    continue  # options, commands, suites, functions
                cited += 1
                self.assertIn(name, known, claim)
        self.assertGreater(cited, 50)


if __name__ == "__main__":
    unittest.main()
