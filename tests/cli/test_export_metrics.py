"""`seep export --format openmetrics`, as Prometheus reads it."""
import contextlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from tests.cli.test_export import ExportCase
from tests.e2e.support import ROOT, needs

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

PROMETHEUS_STARTS_S = 120
PLACES = os.pathsep.join([os.environ.get("PATH", ""), str(ROOT / "build/unpacked/prometheus/usr/bin")])
PROMTOOL, PROMETHEUS = (shutil.which(name, path=PLACES) for name in ("promtool", "prometheus"))


class OpenMetrics(ExportCase):
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
                "seep_process_rss_peak_bytes": {(("pid", str(p["pid"])),): p["rss_peak_bytes"]
                                                for p in report["processes"]}}

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
                self.assertEqual({tuple((k, v) for k, v in row["metric"].items()
                                        if k in ("space", "severity", "pid")): float(row["value"][1]) for row in rows},
                                 values, name)

    @contextlib.contextmanager
    def prometheus(self, target):
        """Prometheus on a port of its own, and a function that asks it for the samples of a name."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % s.getsockname()[1]
        with open(self.path("prometheus.yml"), "w") as f:
            f.write("scrape_configs:\n- job_name: seep\n  scrape_interval: 1s\n  static_configs:\n"
                    "  - targets: ['%s']\n" % target)
        with open(self.path("log"), "w") as log:
            server = subprocess.Popen([PROMETHEUS, "--config.file", self.path("prometheus.yml"),
                                       "--web.listen-address", address, "--storage.tsdb.path", self.path("tsdb")],
                                      stdout=log, stderr=log)

        def ask(name):
            query = "http://%s/api/v1/query?%s" % (address, urllib.parse.urlencode({"query": name}))
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            end = time.monotonic() + PROMETHEUS_STARTS_S
            while time.monotonic() < end and server.poll() is None:
                with contextlib.suppress(urllib.error.URLError, ConnectionError, ValueError):
                    with direct.open(query, timeout=10) as reply:
                        rows = json.load(reply)["data"]["result"]
                    if rows:
                        return rows
                time.sleep(0.2)
            with open(self.path("log")) as f:
                self.fail("Prometheus knows no %s:\n%s" % (name, f.read()[-3000:]))
        try:
            yield ask
        finally:
            server.terminate()
            server.wait(60)


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
