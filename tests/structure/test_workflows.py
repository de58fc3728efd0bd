"""The public workflow builds seep as anybody does: by ./bootstrap, with targets and switches that the Makefile has."""
import itertools
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
            lists = {key: values for key, values in matrix.items() if key != "include"}
            rows = matrix.get("include", []) + [dict(zip(lists, row)) for row in itertools.product(*lists.values()) if row]
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

    def test_all_but_fuzzing_runs_on_both_processors(self):
        alone = []
        for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
            for name, job in yaml.safe_load(path.read_text())["jobs"].items():
                matrix = job.get("strategy", {}).get("matrix", {})
                runners = matrix.get("runner", []) + [row["runner"] for row in matrix.get("include", []) if "runner" in row]
                self.assertLessEqual(set(runners), {"ubuntu-latest", "ubuntu-24.04-arm"})
                if "ubuntu-24.04-arm" not in runners or "matrix.runner" not in job["runs-on"]:
                    alone.append(name)
        self.assertEqual(alone, ["fuzz"])


if __name__ == "__main__":
    unittest.main()
