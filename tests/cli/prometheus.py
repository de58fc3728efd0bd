"""The real Prometheus, where it can be had."""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from tests.e2e.support import ROOT

STARTS_S = 120
PLACES = os.pathsep.join([os.environ.get("PATH", ""), str(ROOT / "build/unpacked/prometheus/usr/bin")])
PROMTOOL, PROMETHEUS = (shutil.which(name, path=PLACES) for name in ("promtool", "prometheus"))


def direct(url):
    """The body of a reply, past every proxy."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=10) as reply:
        return reply.read()


class PrometheusCase:
    """Mixed into a SeepCase."""

    @contextlib.contextmanager
    def prometheus(self, target):
        """Prometheus on a port of its own, which scrapes the target, and a function that asks it for the samples of an
        expression until they are those that are waited for."""
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

        def ask(expression, until=bool):
            query = "http://%s/api/v1/query?%s" % (address, urllib.parse.urlencode({"query": expression}))
            end = time.monotonic() + STARTS_S
            while time.monotonic() < end and server.poll() is None:
                with contextlib.suppress(urllib.error.URLError, ConnectionError, ValueError):
                    rows = json.loads(direct(query))["data"]["result"]
                    if until(rows):
                        return rows
                time.sleep(0.2)
            with open(self.path("log")) as f:
                self.fail("Prometheus does not say what is waited for of %s:\n%s" % (expression, f.read()[-3000:]))
        try:
            yield ask
        finally:
            server.terminate()
            server.wait(60)
