"""docs/monitoring.md: its shell sends Pyroscope and Parca what these document, as a stand-in gets it."""
import base64
import contextlib
import email
import http.server
import json
import os
import re
import shutil
import threading
import unittest
import urllib.parse

from tests.cli.ci_jobs import CiCase
from tests.e2e.support import ROOT, SEEP, job_env, needs

DOCS = ROOT / "docs"
PAGE = (DOCS / "monitoring.md").read_text()


def block(language):
    found = re.findall(r"(?ms)^```%s\n(.*?)^```$" % language, PAGE)
    assert len(found) == 1, language
    return found[0]


class Pushed(CiCase):
    def push(self, server):
        with stand_in() as (url, requests):
            env = job_env(PROFILE=self.leak, DOCS=str(DOCS), NAME="training", no_proxy="*",
                          PATH="%s:%s" % (os.path.dirname(SEEP), os.environ["PATH"]),
                          **{name: url if name == server else "" for name in ("PYROSCOPE", "PARCA")})
            done = self.command(["sh", "-c", block("sh")], env=env, cwd=self.dir)
            self.assertEqual((done.status, done.err), (0, ""), repr(done))
            self.assertEqual(len(requests), 1)
            with open(self.path("profile.pb.gz"), "rb") as f:
                return requests[0], f.read()

    @needs(shutil.which("curl"), "no curl here")
    def test_pyroscope_gets_what_its_documentation_asks_for(self):
        (path, headers, body), profile = self.push("PYROSCOPE")
        url = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(url.query, strict_parsing=True))
        self.assertEqual((url.path, query["format"]), ("/ingest", "pprof"))
        self.assertRegex(query["name"], r"^training\{host=[^{}]+\}$")
        self.assertLess(int(query["from"]), int(query["until"]))
        form = email.message_from_bytes(b"Content-Type: %s\r\n\r\n%s" % (headers["Content-Type"].encode(), body))
        parts = {part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
                 for part in form.get_payload()}
        self.assertEqual(set(parts), {"profile", "sample_type_config"})
        self.assertEqual(parts["profile"], profile)
        types = json.loads(parts["sample_type_config"])
        source = (ROOT / "libprof/export/pprof.c").read_text()
        ours = re.findall(r'\{"(\w+)", "(?:count|bytes)", ', source)
        self.assertEqual(set(types), set(ours) | {"tensor_" + name for name in ours})
        for name, its in types.items():
            self.assertEqual(set(its), {"units", "aggregation", "display-name", "sampled"}, name)
            self.assertIn(its["units"], ("samples", "objects", "bytes"), name)
            self.assertIn(its["aggregation"], ("sum", "average"), name)

    @needs(shutil.which("curl"), "no curl here")
    def test_parca_gets_what_its_protocol_asks_for(self):
        (path, headers, body), profile = self.push("PARCA")
        self.assertEqual((path, headers["Content-Type"]), ("/profiles/writeraw", "application/json"))
        request = json.loads(body)
        self.assertEqual(set(request), {"normalized", "series"})
        [series] = request["series"]
        labels = {label["name"]: label["value"] for label in series["labels"]["labels"]}
        self.assertEqual(labels, {"__name__": "memory", "job": "training"})
        [sample] = series["samples"]
        self.assertEqual(base64.b64decode(sample["rawProfile"], validate=True), profile)


@contextlib.contextmanager
def stand_in():
    """The URL of a server that takes everything, and the list of (path, headers, body) that it got."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, self.headers, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "http://127.0.0.1:%d" % server.server_port, requests
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    unittest.main()
