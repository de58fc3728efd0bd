"""The public workflow builds seep as anybody does: by ./bootstrap, with targets and switches that the Makefile has."""
import re
import subprocess
import unittest

import yaml

from tests.structure.sources import ROOT

GIT = "apt-get update && apt-get install -y --no-install-recommends git ca-certificates"


def commands():
    """Every command of every job, once for each row of its matrix."""
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            rows = matrix.get("include", []) + [{key: value} for key, values in matrix.items() if key != "include" for value in values]
            for row in rows or [{}]:
                for step in job["steps"]:
                    if "run" in step:
                        yield re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda m: row.get(m.group(1), ""), step["run"])


class Workflows(unittest.TestCase):
    def test_they_run_what_the_makefile_has(self):
        listed = subprocess.run(["make", "help"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
        targets = set(re.findall(r"^  ([a-z-]+) ", listed, re.M))
        wanted = set()
        for command in commands():
            if command == GIT:
                continue
            program, *words = command.split()
            self.assertEqual(program, "./bootstrap", command)
            named = [word for word in words if "=" not in word]
            wanted.update(named)
            self.assertLessEqual(set(named), targets, command)
            for switch in (word for word in words if "=" in word):
                self.assertRegex(switch, r"^(CC|CXX|SAN|FUZZ_SECONDS)=\S+$", command)
        self.assertLessEqual({"check", "check-unit", "fuzz", "wheel-debians", "deb-check"}, wanted)


if __name__ == "__main__":
    unittest.main()
