"""Which objects hold memory, in real interpreters: each answer is known."""
import glob
import json
import os
import unittest

from tests.e2e import support
from tests.e2e.holder_table import CASES, compile_libraries, environment, load
from tests.e2e.support import SeepCase

AT_ONCE = 8  # so many answers come with what would be free without their holder
ATTEMPTS = 4

GROWS_AFTER_STEPS = """\
import torch

net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept = []
for step in range(10):
    net(torch.ones(4)).sum().backward()
    optimizer.step()
    for _ in range(50000):
        kept.append(None)
"""


class Answer:
    def __init__(self, line):
        self.function, self.state = line["frame"]["function"], line["state"]
        self.paths = [path["text"] for path in line["paths"]]
        self.whole = line["explained_bytes"] >= 0.98 * line["bytes"]
        self.bounds = [(path["holder"] or {}).get("bound") for path in line["paths"]]

    def is_right(self, expected, version):
        paths = expected.paths(version)
        return (self.state == expected.state and self.paths[:1] == [p for p in paths if p in self.paths[:1]][:1]
                and (expected.state != "shared" or sorted(self.paths) == sorted(paths))
                and (self.whole or not expected.whole)
                and (expected.bound is None or self.bounds[0] == expected.bound))

    def __repr__(self):
        return "%s %s %s" % (self.state, self.paths, [b for b in self.bounds if b is not None])


@support.needs_to_read_children
class Holders(SeepCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("libraries"))
        compile_libraries(self, self.path("libraries"))

    def answers(self, python, names):
        """(answers, names of cases that could not be run) of those cases."""
        profile = self.run_looked_at([python, str(CASES / "run.py"), *names], timeout=120,
                                     env=environment(self.path("libraries")))
        files = glob.glob(os.path.join(profile.folder, "holders-*.json"))
        self.assertEqual(len(files), 1, "%s: one was asked for: %r" % (python, profile.done))
        with open(files[0], encoding="utf-8") as f:
            document = json.load(f)
        self.assertTrue(document["complete"], document["why_not"])
        lines = [Answer(line) for line in document["lines"] if line["bytes"] > 500000]
        return lines, profile.done.stdout.decode().split()

    def wrong(self, table, python, version, names):
        """(names of cases that could not be run, what is wrong of the others)"""
        answers, missing = self.answers(python, names)
        said = []
        for name in names:
            expected = table.TABLE[name]
            paths = expected.paths(version)
            found = [a for a in answers if a.function == name or set(a.paths) & set(paths)]  # made further in
            if name not in missing and not any(a.is_right(expected, version) for a in found):
                said.append("%s: %s, not %s %s" % (name, found or answers, expected.state, paths))
        return missing, said

    def hold(self, python, version):
        table = load()
        wrong, skipped = [], []
        all_names = [case.__name__ for case in table.CASES]
        for first in range(0, len(all_names), AT_ONCE):
            names = all_names[first:first + AT_ONCE]
            for _ in range(ATTEMPTS):
                missing, said = self.wrong(table, python, version, names)
                if not said:
                    break
                # a word that a call has left behind may lead there, too: it does not in each run
                print("asked again: %s" % "\n".join(said))
            skipped += missing
            wrong += said
        self.assertEqual(wrong, [], "%s\n%s" % (python, "\n".join(wrong)))
        return skipped

    def test_each_pythons_ways_to_keep_something(self):
        for version, python in self.every_python():
            if support.supported(version):
                with self.subTest(python):
                    skipped = self.hold(python, version)
                    if skipped:
                        print("%s: %d cases need what it lacks: %s" % (python, len(skipped), ", ".join(skipped)))

    @support.needs(support.has_module(support.SYSTEM_PYTHON, "torch"), "no torch here")
    def test_a_list_is_not_looked_at_while_its_table_moves(self):
        """The end of a step is noticed by what comes next: here the list gets a longer table."""
        with open(self.path("job.py"), "w") as f:
            f.write(GROWS_AFTER_STEPS)
        profile = self.run_looked_at([support.SYSTEM_PYTHON, self.path("job.py")], ["--holders", "7"], timeout=120)
        with open(glob.glob(os.path.join(profile.folder, "holders-*.json"))[0], encoding="utf-8") as f:
            held = [path["text"] for line in json.load(f)["lines"] for path in line["paths"]]
        self.assertIn("module __main__.kept (list)", held)


if __name__ == "__main__":
    unittest.main()
