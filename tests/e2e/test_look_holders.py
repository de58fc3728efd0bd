"""`seep look` at real interpreters not started under seep: the holder and how much it retains are known."""
import json
import os
import re
import subprocess
import unittest

from tests.e2e import support
from tests.e2e.holder_table import CASES, compile_libraries, environment, load
from tests.e2e.support import SEEP, SeepCase

MADE = 40 * 20000  # bytes by each case, at least: what is C's is not in Python's account
WAYS = ("--copy", "--stop", "--live")


ONE_ITEM = 0.03  # of 40: a word that a call has left on a stack may hold the last one too


class Named:
    """A holder as a look tells it; keys that it shows are counted, as in the table."""

    def __init__(self, holder):
        self.path = re.sub(r"\['[^']*'\]", "[1 keys]", holder["path"]["text"])
        self.name = re.sub(r" \([\w.]+\)$", "", self.path)
        self.bytes, self.bound = holder["retained_bytes"], holder["bound"]

    def is_at(self, container):
        """Where the path alone does not say what it leads to, its type is told."""
        return re.fullmatch(re.escape(container) + r"( \([\w.]+\))?", self.path)

    def __repr__(self):
        return "%s, %d bytes, bound %s" % (self.path, self.bytes, self.bound)


class Job:
    """All cases in one process, and its own account of them."""

    def __init__(self, test, python, names):
        self.process = subprocess.Popen([python, str(CASES / "looked_at.py"), *names], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment(test.path("libraries")), text=True,
                                        encoding="utf-8")
        for end in (self.process.wait, self.process.stdout.close, self.process.stdin.close):
            test.addCleanup(end)
        lines = list(iter(self.process.stdout.readline, "ready\n"))
        self.account = json.loads(lines[0])
        self.missing = [line.strip() for line in lines[1:]]

    def look(self, way):
        done = subprocess.run([SEEP, "look", way, "--format", "json", str(self.process.pid)], capture_output=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@support.needs_to_read_children
class LookHolders(SeepCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("libraries"))
        compile_libraries(self, self.path("libraries"))

    def wrong(self, name, expected, version, made, named):
        containers = expected.containers(version)
        found = [n for n in named if any(n.is_at(container) for container in containers)]
        if not containers:
            claims = [n for n in named if " of %s()" % name in n.path and n.bytes > made / 2
                      and not any(path.startswith(n.name) for path in expected.paths(version))]
            return claims and "%s: %s, and nobody retains it" % (name, claims)
        if len(found) != 1:
            return "%s: %s, not %s: %s" % (name, found, containers, [n for n in named if " of %s()" % name in n.path])
        if abs(found[0].bytes - made) > max(expected.apart, ONE_ITEM) * made or found[0].bound != expected.bound:
            return "%s: %s, not %d bytes, bound %s" % (name, found, made, expected.bound)

    def hold(self, python, version, way):
        table = load().TABLE
        job = Job(self, python, list(table))
        document = job.look(way)
        here = {name: max(job.account.get(name, 0), MADE) for name in table if name not in job.missing}
        named = [Named(holder) for holder in document["holders"]]
        wrong = [self.wrong(name, table[name], version, made, named) for name, made in here.items()]
        self.assertEqual([w for w in wrong if w], [], python)
        moment = document["looks"][0]
        self.assertTrue(moment["complete"])
        for state, told in (("cycle", "cycle_bytes"), ("lost", "lost_bytes")):
            self.assertGreaterEqual(moment[told], 0.98 * sum(made for name, made in here.items() if table[name].state == state))
        return job.missing

    def test_each_pythons_ways_to_keep_something_by_each_way_to_look(self):
        for i, (version, python) in enumerate(self.every_python()):
            if support.supported(version):
                # What is read while it runs meets more words that calls have left behind: one item of 40 may go astray.
                for way in WAYS if support.FULL else [("--copy", "--stop")[i % 2]]:
                    with self.subTest((python, way)):
                        missing = self.hold(python, version, way)
                        if missing:
                            print("%s: %d cases need what it lacks: %s" % (python, len(missing), ", ".join(missing)))

    def test_small_objects_of_each_kind_are_retained_to_the_byte(self):
        for i, (version, python) in enumerate(self.every_python()):
            if support.supported(version):
                with self.subTest(python):
                    self.hold_small_objects(python, ("--copy", "--stop")[i % 2])

    def hold_small_objects(self, python, way):
        with subprocess.Popen([python, str(support.SOURCES / "small_objects.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            account = json.loads(process.stdout.readline())
            document = json.loads(subprocess.run([SEEP, "look", way, "--format", "json", str(process.pid)],
                                                 stdout=subprocess.PIPE, check=True).stdout)
            process.stdin.close()
        for name, made in account.items():
            found = [h["retained_bytes"] for h in document["holders"]
                     if re.match(r"module __main__\.%s\b" % name, h["path"]["text"])]
            self.assertEqual(len(found), 1, (python, name))
            self.assertAlmostEqual(found[0], made, delta=0.02 * made, msg=name)
        self.assertLess(document["looks"][0]["lost_bytes"], 0.02 * sum(account.values()))


if __name__ == "__main__":
    unittest.main()
