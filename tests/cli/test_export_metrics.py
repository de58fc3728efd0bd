"""`seep export --format openmetrics`, as Prometheus reads it."""
import contextlib
import http.server
import threading
import unittest

from tests.cli.prometheus import PROMETHEUS, PROMTOOL, PrometheusCase
from tests.cli.test_export import ExportCase
from tests.e2e.support import needs

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

LABELS = ("space", "severity", "pid", "host", "role")


class OpenMetrics(PrometheusCase, ExportCase):
    def wanted(self):
        """{name: {labels beside the profile's: value}} of some names, as the report has them."""
        report = self.seep("report", self.leak, "--format", "json").json()
        spaces = report["spaces"]
        return {"seep_peak_bytes": {(("space", s),): t["peak_bytes"] for s, t in spaces.items()},
                "seep_growth_bytes_per_step": {(("space", s),): t["growth_bytes_per_step"]["value"]
                                               for s, t in spaces.items() if t["growth_bytes_per_step"]},
                "seep_steps": {(): 60}, "seep_complete": {(): 1},
                "seep_findings": {(("severity", s),): sum(f["severity"] == s for f in report["findings"])
                                  for s in ("leak", "retention", "pressure", "info")},
                "seep_process_rss_peak_bytes": {(("host", p["host"]), ("role", p["role"]), ("pid", str(p["pid"]))):
                                                p["rss_peak_bytes"] for p in report["processes"]}}

    @needs(PROMTOOL, "no promtool here")
    def test_promtool_has_nothing_to_say(self):
        done = self.command([PROMTOOL, "check", "metrics"], stdin=self.export("openmetrics"))
        self.assertEqual((done.status, done.stdout, done.err), (0, b"", ""))

    @needs(text_string_to_metric_families, "no python3-prometheus-client here")
    def test_it_is_openmetrics_and_says_what_the_report_says(self):
        said = {}
        for family in text_string_to_metric_families(self.export("openmetrics").decode()):
            self.assertEqual(family.type, "gauge", family.name)
            self.assertTrue(family.documentation.endswith("."), family.name)
            for sample in family.samples:
                labels = dict(sample.labels)
                self.assertEqual(labels.pop("profile"), "leak.d")
                said.setdefault(sample.name, {})[tuple(labels.items())] = sample.value
        for name, values in self.wanted().items():
            self.assertEqual(said[name], values, name)

    @needs(PROMETHEUS, "no Prometheus here")
    def test_prometheus_scrapes_it(self):
        with served(self.export("openmetrics")) as target, self.prometheus(target) as ask:
            for name, values in self.wanted().items():
                rows = ask(name)
                self.assertEqual({frozenset((k, v) for k, v in row["metric"].items() if k in LABELS):
                                  float(row["value"][1]) for row in rows},
                                 {frozenset(labels): value for labels, value in values.items()}, name)


@contextlib.contextmanager
def served(text):
    """The address of an HTTP server that gives the text as OpenMetrics."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "127.0.0.1:%d" % server.server_port
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    unittest.main()
