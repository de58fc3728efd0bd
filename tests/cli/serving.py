"""A server of `seep view --serve`, and a job that goes on until it is told to stop."""
import http.client
import json
import re
import select
import signal
import socket
import subprocess
import time
import urllib.parse

from tests.cli.ci_jobs import CiCase
from tests.cli.running_jobs import WAIT, RunningJob
from tests.e2e.support import SEEP, job_env

JOB = '''
import os, sys, time
import seep

kept = []
HOSTILE = "def f():\\n    kept.append(bytearray(20000))\\n"
space = {"kept": kept}
exec(compile(HOSTILE, "</script><script>window.harmed=1</script>.py", "exec"), space)


def load():
    return bytearray(32 * 1024)


def other():
    return bytearray(24 * 1024)


for _ in range(30):
    exec("def g%d():\\n    return bytearray(%d)\\n" % (_, 1000 + 100 * _))
while not os.path.exists(sys.argv[1]):
    kept.append(load())
    kept.append(other())
    space["f"]()
    for n in range(30):
        kept.append(globals()["g%d" % n]())
    seep.step()
    time.sleep(0.05)
'''


def data_of(page):
    """What a page holds of the profile."""
    return json.loads(re.search(r'<script type="application/json" id="data">\n(.*?)</script>', page, re.S).group(1))


class Answer:
    def __init__(self, response):
        self.status, self.body = response.status, response.read()
        self.headers = {name.lower(): value for name, value in response.getheaders()}

    @property
    def text(self):
        return self.body.decode()

    def alike(self):
        """All of it that may not differ from one refusal to the next."""
        return self.status, self.body, {k: v for k, v in self.headers.items() if k != "date"}


class Server:
    """`seep view ARGS`, which has --serve in them."""

    def __init__(self, test, *args):
        self.test = test
        self.err_path = test.fresh("stderr")
        with open(self.err_path, "wb") as err:
            self.process = subprocess.Popen([SEEP, "view", *args], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=err, env=job_env(), start_new_session=True)
        test.addCleanup(self.end, signal.SIGKILL)
        self.url = self.line()
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def line(self):
        ready = select.select([self.process.stdout], [], [], WAIT)[0]
        line = self.process.stdout.readline().decode() if ready else ""
        self.test.assertRegex(line, r"^http://\S+:\d+/[0-9a-f]{40}/\n$", self.said())
        return line.strip()

    def said(self):
        with open(self.err_path, encoding="utf-8") as err:
            return err.read()

    def connect(self):
        return socket.create_connection((self.host, self.port), WAIT)

    def ask(self, path=None, method="GET", **headers):
        """The answer; `path` is from the page on unless it begins with a slash."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=WAIT)
        try:
            path = path if path and path.startswith("/") else self.path + (path or "")
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def raw(self, request):
        """What comes back for these bytes, until the server closes."""
        with self.connect() as s:
            try:
                s.sendall(request)
                s.shutdown(socket.SHUT_WR)
                answer = b""
                while more := s.recv(65536):
                    answer += more
                return answer
            except (BrokenPipeError, ConnectionResetError):
                return b""

    def look(self, after=0, until=lambda data: True):
        """The data of a later look."""
        end = time.monotonic() + WAIT
        while True:
            answer = self.ask("data?after=%d" % after)
            self.test.assertIn(answer.status, (200, 204))
            if answer.status == 200:
                data = json.loads(answer.body)
                self.test.assertGreater(data["live"]["version"], after)
                after = data["live"]["version"]
                if until(data):
                    return data
            self.test.assertLess(time.monotonic(), end, "what is waited for does not come")

    def end(self, number=signal.SIGTERM):
        """The exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(WAIT)
        self.process.stdout.close()
        return self.process.returncode


class ServeCase(RunningJob, CiCase):
    def serve(self, *args):
        return Server(self, *args)

    def start_job(self, folder, source=JOB):
        super().start_job(folder, source)
