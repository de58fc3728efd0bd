"""`seep view --serve`: which requests are answered, which are refused, and that no client can block others."""
import gzip
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import time
import unittest

from tests.cli.serving import WAIT, ServeCase, data_of
from tests.e2e.support import ROOT, SEEP, needs

POLICY = ("default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
          "form-action 'none'; connect-src 'self'; frame-ancestors 'none'")


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


def contents(folder):
    """Names, sizes, times and sums of all that is in a folder."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(path, name)
            with open(file, "rb") as f:
                found[file] = (os.stat(file).st_mtime_ns, hashlib.sha256(f.read()).hexdigest())
    return found


class Requests(ServeCase):
    def setUp(self):
        super().setUp()
        self.server = self.serve(self.leak, "--serve")

    def test_the_page_is_that_of_the_file_and_follows(self):
        self.assertEqual(self.server.host, "127.0.0.1")
        answer = self.server.ask()
        self.assertEqual((answer.status, self.server.said()), (200, ""))
        out = self.path("page.html")
        self.assertEqual(self.seep("view", self.leak, "-o", out).status, 0)
        with open(out, encoding="utf-8") as f:
            file = data_of(f.read())
        served = data_of(answer.text)
        self.assertEqual(served.pop("live")["state"], "ended")
        self.assertEqual(served, file)
        self.assertNotIn("live", file)
        self.assertEqual(json.loads(self.server.ask("data").body)["findings"], file["findings"])

    def test_every_answer_says_what_a_browser_may_do_with_it(self):
        answers = [self.server.ask(), self.server.ask("data"), self.server.ask("/"), self.server.ask(method="POST"),
                   self.server.ask(Host="evil.example")]
        self.assertEqual([answer.status for answer in answers], [200, 200, 404, 405, 421])
        for answer in answers:
            self.assertEqual(answer.headers["content-security-policy"], POLICY)
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
            self.assertEqual(answer.headers["referrer-policy"], "no-referrer")
            self.assertEqual(answer.headers["cache-control"], "no-store")
            self.assertEqual(answer.headers["x-frame-options"], "DENY")
            self.assertEqual(answer.headers["cross-origin-resource-policy"], "same-origin")
            self.assertNotIn("server", answer.headers)
            self.assertNotIn("access-control-allow-origin", answer.headers)
        self.assertEqual(answers[0].headers["content-type"], "text/html; charset=utf-8")
        self.assertEqual(answers[1].headers["content-type"], "application/json")

    def test_every_other_path_is_the_same_404(self):
        token = self.server.path.strip("/")
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        refused = self.server.ask("/")
        self.assertEqual(refused.status, 404)
        for path in ("/" + token, "/%s/" % wrong, "/%s/" % token.upper(), "/%s0/" % token, "/%s/data" % wrong,
                     "/%s/index.html" % token, "/%s/view.html" % token, "/%s/report.json" % token,
                     "/%s/job.seepjob" % token,
                     "/%s//" % token, "/%s/data/" % token, "/%s/./" % token, "/%s/../%s/" % (token, token),
                     "/%s/../../etc/passwd" % token, "/%s/..%%2f..%%2fetc%%2fpasswd" % token, "/%s/%%2e%%2e/" % token,
                     "/etc/passwd", "//etc/passwd", "/favicon.ico", "/%s" % ("a" * 4000), "/%00", "/?" + token,
                     "/data"):
            self.assertEqual(self.server.ask(path).alike(), refused.alike(), path)
        self.assertNotEqual(self.serve(self.leak, "--serve").path, self.server.path, "the next server has another name")

    def test_only_get_and_head(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "get"):
            for path in ("", "/"):
                answer = self.server.ask(path, method=method)
                self.assertEqual((answer.status, answer.headers["allow"]), (405, "GET, HEAD"), method)
        body = self.server.raw(b"GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1000000000\r\n\r\nx"
                               % (self.server.path.encode(), self.server.port))
        self.assertTrue(body.startswith(b"HTTP/1.1 400 "), body[:100])
        get, head = self.server.ask(), self.server.ask(method="HEAD")
        self.assertEqual(head.body, b"")
        self.assertEqual((head.status, int(head.headers["content-length"])), (200, len(get.body)))

    def test_a_host_that_is_not_the_bound_address_is_refused(self):
        port = self.server.port
        for host in ("127.0.0.1:%d", "localhost:%d", "[::1]:%d", "LOCALHOST:%d"):
            self.assertEqual(self.server.ask(Host=host % port).status, 200, host)
        for host in ("evil.example:%d" % port, "127.0.0.1", "127.0.0.1:%d" % (port ^ 1),
                     "127.0.0.1.evil.example:%d" % port,
                     "localhost", "", "0.0.0.0:%d" % port, "127.0.0.1:%dx" % port, "a" * 2000):
            self.assertIn(self.server.ask(Host=host).status, (400, 421), host)
        none = self.server.raw(b"GET %s HTTP/1.0\r\n\r\n" % self.server.path.encode())
        self.assertTrue(none.startswith(b"HTTP/1.") and none[8:13] == b" 421 ", none[:100])

    def test_what_is_compressed_is_the_same(self):
        for path in ("", "data"):
            plain, packed = self.server.ask(path), self.server.ask(path, Accept_Encoding="br, gzip;q=0.8")
            self.assertNotIn("content-encoding", plain.headers)
            self.assertEqual(packed.headers["content-encoding"], "gzip")
            self.assertEqual(packed.headers["vary"], "Accept-Encoding")
            self.assertLess(len(packed.body), len(plain.body) / 2)
            unpacked = gzip.decompress(packed.body)
            if plain.headers["etag"] == packed.headers["etag"]:  # another look may have come between
                self.assertEqual(unpacked, plain.body)
            for refusing in ("gzip;q=0", "gzip; q=0.0", "xgzip", "br", ""):
                self.assertNotIn("content-encoding", self.server.ask(path, Accept_Encoding=refusing).headers, refusing)

    def test_what_is_known_is_not_sent_again(self):
        self.server.look(until=lambda data: data["live"]["state"] == "ended")  # now it stays as it is
        for path in ("", "data"):
            first = self.server.ask(path)
            again = self.server.ask(path, If_None_Match=first.headers["etag"])
            self.assertEqual((again.status, again.body), (304, b""))
            self.assertEqual(self.server.ask(path, If_None_Match='"0", W/"999"').status, 200)
        version = json.loads(self.server.ask("data").body)["live"]["version"]
        begin = time.monotonic()
        self.assertEqual(self.server.ask("data?after=%d" % version).status, 204)
        self.assertGreater(time.monotonic() - begin, 20, "it waited for something newer")

    def test_nothing_is_written_to_the_folder(self):
        folder = self.fresh_copy(self.leak)
        before = contents(folder)
        server = self.serve("--serve", folder)
        server.look(until=lambda data: data["live"]["state"] == "ended")
        server.ask()
        self.assertEqual(server.end(), 0)
        self.assertEqual(contents(folder), before)

    def test_no_request_opens_a_file(self):
        for name in ("serve_http", "serve_rules", "serve_guests", "served"):
            text = (ROOT / "viewer/serve" / (name + ".c")).read_text()
            self.assertNotRegex(text, r"\b(f?open(at|dir)?|l?stat|fdopen|access|readlink|realpath|rename|unlink|"
                                r"exec\w*|system)\(", name)


class Crowds(ServeCase):
    def setUp(self):
        super().setUp()
        self.server = self.serve(self.leak, "--serve")
        self.request = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % (self.server.path.encode(), self.server.port)

    def crowd(self, n, begin):
        guests = []
        for _ in range(n):
            guest = self.server.connect()
            self.addCleanup(guest.close)
            guest.sendall(begin)
            guests.append(guest)
        return guests

    def test_two_hundred_at_once_are_answered(self):
        length = len(self.server.ask().body)
        guests = self.crowd(200, self.request)
        for guest in guests:
            guest.sendall(b"Connection: close\r\n\r\n")
        for guest in guests:
            answer = b""
            while more := guest.recv(1 << 20):
                answer += more
            head, body = answer.split(b"\r\n\r\n", 1)
            self.assertTrue(head.startswith(b"HTTP/1.1 200 "), head)
            self.assertLess(abs(len(body) - length), 100)

    def test_who_is_slow_keeps_nobody_waiting_and_is_shown_out(self):
        slow = self.crowd(400, self.request)
        self.assertEqual(self.server.ask().status, 200)
        left, end = set(slow), time.monotonic() + WAIT
        while left:
            self.assertLess(time.monotonic(), end, "%d slow ones are still there" % len(left))
            for guest in list(left):
                try:
                    guest.sendall(b"X")  # one more letter of a head that never ends
                    if guest.recv(1, socket.MSG_DONTWAIT) == b"":
                        left.remove(guest)
                except BlockingIOError:
                    pass
                except OSError:
                    left.remove(guest)
            time.sleep(0.2)
        self.assertEqual(self.server.ask().status, 200)

    def test_an_answer_that_nobody_takes_keeps_nobody_waiting(self):
        self.crowd(100, self.request + b"\r\n" + self.request + b"\r\n")
        self.assertEqual(self.server.ask().status, 200)

    def test_garbage_is_refused(self):
        chance = random.Random(1)
        host = b"Host: 127.0.0.1:%d\r\n" % self.server.port
        for bytes_ in (b"\0" * 1000, b"\r\n" * 10000, b"GET", b"GET \r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                       b"\x16\x03\x01\x02\x00\x01",
                       b"GET / HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n",
                       b"GET / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                       b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100000 + b"\r\n",
                       b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n\r\n",
                       self.request.replace(b"/ HTTP", b"/data?after=" + b"9" * 3000 + b" HTTP") + b"\r\n",
                       self.request + b"If-None-Match: " + b'"' * 8000 + b"\r\n\r\n",
                       *(chance.randbytes(chance.randrange(1, 5000)) for _ in range(50))):
            guest = self.server.connect()
            self.addCleanup(guest.close)  # until then it may wait for more, as far as its patience goes
            try:
                guest.sendall(bytes_)
                guest.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        self.assertEqual(self.server.ask().status, 200)
        self.assertEqual((self.server.end(), self.server.said()), (0, ""))


class Following(ServeCase):
    def test_a_running_job_is_followed_to_its_end(self):
        folder = self.path("run.d")
        os.mkdir(folder)
        server = self.serve(folder, "--serve")
        waits = server.ask()
        self.assertEqual(waits.status, 200)
        self.assertIn("seep waits for the job", waits.text)
        self.assertNotIn("<script", waits.text)
        self.assertEqual(json.loads(server.ask("data").body)["live"]["state"], "waiting")
        self.start_job(folder)
        first = server.look(until=lambda data: data.get("job", {}).get("steps", 0) > 3)
        self.assertEqual(first["live"]["state"], "live")
        self.assertIn("</script>", "".join(first["texts"]))
        later = server.look(first["live"]["version"], lambda data: data["job"]["steps"] > first["job"]["steps"] + 3)
        self.assertGreater(later["findings"][0]["live_bytes"], 0)
        page = server.ask().text
        self.assertGreaterEqual(data_of(page)["job"]["steps"], later["job"]["steps"])
        self.assertEqual(page.count("</script>"), 3, "names end no element")
        self.end_job()
        ended = server.look(later["live"]["version"], lambda data: data["live"]["state"] == "ended")
        self.assertEqual(server.ask().status, 200, "it stays until it is told to end")
        self.assertEqual(data_of(server.ask().text)["live"]["version"], ended["live"]["version"])
        self.assertEqual((server.end(signal.SIGINT), server.said()), (0, ""))

    def test_a_folder_that_vanishes_is_said_and_what_was_seen_stays(self):
        folder = self.path("run.d")
        self.start_job(folder)
        while not os.path.isdir(folder) or not any(name.endswith(".seep") for name in os.listdir(folder)):
            self.assertIsNone(self.job.poll())
            time.sleep(0.05)
        server = self.serve(folder, "--serve")
        seen = server.look(until=lambda data: "job" in data)
        os.rename(folder, folder + ".away")
        failed = server.look(seen["live"]["version"], lambda data: data["live"]["state"] == "failed")
        self.assertNotIn("job", failed)
        self.assertTrue(failed["live"]["why"])
        self.assertIn("job", data_of(server.ask().text))
        os.rename(folder + ".away", folder)
        server.look(failed["live"]["version"], lambda data: data["live"]["state"] == "live")

    def test_of_two_runs_the_newer_is_followed(self):
        folder = self.path("new.d")
        os.mkdir(folder)
        server = self.serve(self.leak, folder, "--serve")
        self.start_job(folder)
        first = server.look(until=lambda data: data.get("job", {}).get("steps", 0) > 0)
        self.assertIn("leak", first["comparison"]["job"]["command"])
        server.look(first["live"]["version"], lambda data: data["job"]["steps"] > first["job"]["steps"])

    def test_nobody_is_looked_for_where_nobody_follows(self):
        folder = self.path("run.d")
        self.start_job(folder)
        while not os.path.isdir(folder):
            time.sleep(0.05)
        server = self.serve(folder, "--serve")
        time.sleep(8)  # looks would come every two seconds
        data = json.loads(server.ask("data").body)
        self.assertLessEqual(data["live"]["version"], 2)


class Ends(ServeCase):
    def test_signals_end_it_well_whoever_waits(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            server = self.serve(self.leak, "--serve")
            ended = server.look(until=lambda data: data["live"]["state"] == "ended")
            with server.connect() as waiting:
                waiting.sendall(b"GET %sdata?after=%d HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"
                                % (server.path.encode(), ended["live"]["version"], server.port))
                server.ask()
                self.assertEqual((server.end(number), server.said()), (0, ""), number)

    def test_a_port_that_is_taken_is_said(self):
        server = self.serve(self.leak, "--serve")
        said = self.cannot("view", self.leak, "--serve", str(server.port))
        self.assertRegex(said, r"127\.0\.0\.1:%d .*in use" % server.port)

    def test_what_cannot_be_served_is_one_line_and_2(self):
        self.assertIn("nowhere.d", self.cannot("view", self.path("nowhere.d"), "--serve"))
        self.assertIn("-o", self.cannot("view", self.leak, "--serve", "-o", self.path("page.html")))
        self.cannot("view", "--serve")
        self.cannot("view", self.path("nowhere.d"), self.leak, "--serve")
        for address in ("host.example:8080", "127.0.0.1:99999", "[::1:80", "[1]:80", ":x", "1.2.3:80", "::1:80",
                        "", "-1"):
            self.assertIn("looked up", self.cannot("view", self.leak, "--serve=" + address), address)
        self.assertIn("looked up", self.cannot("view", self.leak, "--serve", "host.example:8080"))
        self.cannot("view", self.leak, "--serve", "192.0.2.1:0")
        with open("/dev/full", "w") as full:
            done = subprocess.run([SEEP, "view", self.leak, "--serve"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=WAIT)
        self.assertEqual(done.returncode, 2)

    def test_rules_that_cannot_be_read_end_it(self):
        rules = self.path("roles.toml")
        with open(rules, "w") as f:
            f.write("no rules")
        server = self.serve(self.leak, "--serve", "--roles", rules)
        server.process.wait(WAIT)
        self.assertEqual(server.end(), 2)
        self.assertRegex(server.said(), r"^seep: .*roles\.toml: .*: correct the rules")


class Addresses(ServeCase):
    def free_port(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    def test_an_address_is_given_in_many_ways(self):
        for words in ("127.0.0.1:%d", ":%d", "%d", "localhost:%d"):
            port = self.free_port()
            for args in ((self.leak, "--serve", words % port), ("--serve", words % port, self.leak),
                         ("--serve=" + words % port, self.leak)):
                server = self.serve(*args)
                self.assertEqual((server.host, server.port, server.said()), ("127.0.0.1", port, ""), args)
                server.end()
        for words in ("127.0.0.1", "127.0.0.1:0", "localhost", "0", ":0"):
            server = self.serve(self.leak, "--serve", words)
            self.assertEqual(server.host, "127.0.0.1")
            server.end()

    def test_a_folder_with_the_name_of_a_number_is_a_folder(self):
        folder = self.path("8080")
        os.rename(self.fresh_copy(self.leak), folder)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.dir)
        server = self.serve("--serve", "8080")
        self.assertIn("leak", data_of(server.ask().text)["job"]["command"])

    @needs(has_ipv6(), "no IPv6 here")
    def test_ipv6(self):
        server = self.serve(self.leak, "--serve=[::1]:0")
        self.assertTrue(server.url.startswith("http://[::1]:"), server.url)
        self.assertEqual((server.ask().status, server.said()), (200, ""))
        self.assertEqual(server.ask(Host="localhost:%d" % server.port).status, 200)
        self.assertEqual(server.ask(Host="[::2]:%d" % server.port).status, 421)

    def test_an_open_address_is_said_to_be_one(self):
        server = self.serve(self.leak, "--serve", "0.0.0.0:0")
        self.assertRegex(server.said(), r"^seep: 0\.0\.0\.0 is open to other machines: .*unencrypted.*\n$")
        self.assertNotIn("0.0.0.0", server.url)
        server.host = "127.0.0.1"
        self.assertEqual(server.ask(Host="gpu-box:%d" % server.port).status, 200)
        self.assertEqual(server.ask("/", Host="gpu-box").status, 404)


if __name__ == "__main__":
    unittest.main()
