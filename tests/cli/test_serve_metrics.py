"""`seep view --serve --metrics`: who may see the figures of a job, and the real Prometheus, which scrapes them."""
import gzip
import os
import socket
import time
import unittest

from tests.cli.prometheus import PROMETHEUS, PrometheusCase
from tests.cli.serving import ServeCase
from tests.e2e.support import needs


def samples(text):
    """{name{labels}: value}"""
    rows = (line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    return {name: float(value) for name, value in rows}


class Served(PrometheusCase, ServeCase):
    def metrics(self, server, path="/metrics"):
        answer = server.ask(path)
        self.assertEqual((answer.status, answer.headers["content-type"]),
                         (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
        return samples(answer.text)

    def test_they_are_those_of_the_export_behind_the_secret(self):
        server = self.serve(self.leak, "--serve")
        self.assertEqual(server.ask("/metrics").alike(), server.ask("/").alike(), "nobody was allowed to see them")
        served = self.metrics(server, "metrics")
        done = self.seep("export", self.leak, "--format", "openmetrics")
        known = samples(done.stdout.decode())
        read = 'seep_read_time_seconds{profile="leak.d"}'
        self.assertLess(abs(time.time() - served.pop(read)), 600)
        known.pop(read)
        self.assertEqual(served, known)
        self.assertEqual(gzip.decompress(server.ask("metrics", Accept_Encoding="gzip").body)[-6:], b"# EOF\n")

    def test_metrics_alone_are_open(self):
        server = self.serve(self.leak, "--serve", "--metrics")
        self.assertEqual(server.process.stdout.readline().decode(), "http://127.0.0.1:%d/metrics\n" % server.port)
        self.metrics(server)
        for path in ("/", "/data", "/metrics/", "/metrics/../", "/x/metrics"):
            self.assertEqual(server.ask(path).status, 404, path)
        self.assertEqual(server.ask("/metrics", Host="evil.example").status, 421)
        self.assertEqual(server.ask("/metrics", method="POST").status, 405)

    def test_a_job_that_has_not_begun_has_none(self):
        folder = self.path("new.d")
        os.mkdir(folder)
        server = self.serve(folder, "--serve", "--metrics")
        self.assertEqual(server.ask("/metrics").status, 503)
        self.start_job(folder)
        server.look(until=lambda data: "job" in data)
        self.metrics(server)

    def test_where_there_are_none_the_command_says_so(self):
        self.assertIn("--serve", self.cannot("view", self.leak, "--metrics"))
        look = self.path("look.json")
        with open(look, "w") as f:
            f.write("{}")
        self.assertIn("a look has no metrics", self.cannot("view", look, "--serve", "--metrics"))

    @needs(PROMETHEUS, "no Prometheus here")
    def test_prometheus_scrapes_a_job_that_runs(self):
        folder = self.path("run.d")
        os.mkdir(folder)
        server = self.serve(folder, "--serve", "--metrics")
        self.start_job(folder)
        live = 'seep_process_live_bytes{role="trainer",space="host",profile="run.d"}'
        with self.prometheus("127.0.0.1:%d" % server.port) as ask:
            first = ask(live)[0]
            self.assertEqual(first["metric"]["host"], socket.gethostname())
            self.assertTrue(first["metric"]["pid"].isdigit())
            ask(live, lambda rows: float(rows[0]["value"][1]) > float(first["value"][1]))
            self.assertEqual([row["value"][1] for row in ask("seep_running")], ["1"])
            grows = ask('seep_finding_growth_bytes_per_step{severity="leak"} > 0')
            self.assertTrue(any("job.py" in row["metric"]["line"] for row in grows), grows)
            self.end_job()
            ask("seep_running", lambda rows: [row["value"][1] for row in rows] == ["0"])
            ask(live, lambda rows: not rows)


if __name__ == "__main__":
    unittest.main()
