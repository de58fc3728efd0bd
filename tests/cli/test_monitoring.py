"""docs/monitoring.md: what its alerts, dashboard and configuration ask for exists, and Prometheus accepts them."""
import json
import os
import re
import shutil
import stat
import unittest

import yaml

from tests.cli.ci_jobs import CiCase
from tests.cli.prometheus import PROMTOOL
from tests.e2e.support import ROOT, SEEP, SeepCase, needs

DOCS = ROOT / "docs"
PAGE = (DOCS / "monitoring.md").read_text()
RULES = yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((DOCS / "grafana.json").read_text())
NAME = re.compile(r"\bseep_[a-z_]+")


def block(language):
    found = re.findall(r"(?ms)^```%s\n(.*?)^```$" % language, PAGE)
    assert len(found) == 1, language
    return found[0]


def exported():
    """The names of all metrics, from the sources that write them."""
    files = [ROOT / "libprof/export/openmetrics.c", *(ROOT / "libprof/export").glob("metric_*.c")]
    return set(re.findall(r'"(seep_[a-z_]+)"', "".join(file.read_text() for file in files)))


def expressions():
    """Of all panels and variables of the dashboard, as Prometheus gets them, if everything is chosen."""
    found = [t["expr"] for panel in DASHBOARD["panels"] for t in panel["targets"]]
    return [re.sub(r"\$\w+", ".*", text) for text in found]


class Documents(SeepCase):
    def test_what_is_asked_for_is_exported_and_what_is_exported_is_on_the_page(self):
        asked = " ".join(expressions() + [rule["expr"] for rule in RULES]
                         + [v["definition"] for v in DASHBOARD["templating"]["list"] if "definition" in v])
        self.assertEqual(set(NAME.findall(asked)) - exported(), set())
        table = "".join(line for line in PAGE.splitlines() if line.startswith("| `seep_"))
        self.assertEqual(set(NAME.findall(table)), exported())

    def test_the_dashboard_is_one_that_grafana_can_draw(self):
        self.assertEqual(len({panel["id"] for panel in DASHBOARD["panels"]}), len(DASHBOARD["panels"]))
        cells = [(x, y) for at in (panel["gridPos"] for panel in DASHBOARD["panels"])
                 for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
        self.assertEqual(len(set(cells)), len(cells), "panels overlap")
        self.assertLess(max(x for x, _ in cells), 24)
        for panel in DASHBOARD["panels"]:
            self.assertTrue(panel["title"] and panel["description"])
            self.assertEqual({t["datasource"]["uid"] for t in panel["targets"]}, {"${datasource}"})
            self.assertEqual(len({t["refId"] for t in panel["targets"]}), len(panel["targets"]))
        named = {v["name"] for v in DASHBOARD["templating"]["list"]}
        self.assertEqual(set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD["panels"]))) - named, set())

    @needs(PROMTOOL, "no promtool here")
    def test_promtool_accepts_rules_expressions_and_configuration(self):
        shutil.copy(DOCS / "alerts.yml", self.path("alerts.yml"))
        for name, document in (("prometheus.yml", block("yaml")), ("dashboard.yml", json.dumps(
                {"groups": [{"name": "panels", "rules": [{"record": "panel:x%d" % i, "expr": text}
                                                         for i, text in enumerate(expressions())]}]}))):
            with open(self.path(name), "w") as f:
                f.write(document)
        for what, path in (("config", self.path("prometheus.yml")), ("rules", self.path("dashboard.yml")),
                           ("rules", str(DOCS / "alerts.yml"))):
            done = self.command([PROMTOOL, "check", what, path])
            self.assertEqual(done.status, 0, repr(done))

    @needs(PROMTOOL, "no promtool here")
    def test_alerts_fire_when_they_should(self):
        done = self.command([PROMTOOL, "test", "rules", str(ROOT / "tests/cli/alerts_test.yml")])
        self.assertEqual(done.status, 0, repr(done))


class Textfile(CiCase):
    def test_the_collector_never_sees_half_a_file(self):
        """It reads what ends in .prom, whenever it likes."""
        folder = self.path("node-exporter")
        os.mkdir(folder)
        path = os.path.join(folder, "train.prom")
        command = ["export", self.leak, "--format", "openmetrics", "-o", path]
        self.assertEqual(self.seep(*command).status, 0)
        before = os.stat(path)
        self.assertEqual(stat.S_IMODE(before.st_mode) & 0o600, 0o600)
        with open(path) as f:
            old = f.read()
            self.assertEqual(self.seep(*command).status, 0)
            f.seek(0)
            self.assertEqual(f.read(), old, "who has it open goes on reading the old one")
        self.assertNotEqual(os.stat(path).st_ino, before.st_ino)
        done = self.command(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", SEEP, *command])
        self.assertNotEqual(done.status, 0, repr(done))
        with open(path) as f:
            self.assertTrue(f.read().endswith("# EOF\n"))
        self.assertEqual([name for name in os.listdir(folder) if name.endswith(".prom")], ["train.prom"])


if __name__ == "__main__":
    unittest.main()
