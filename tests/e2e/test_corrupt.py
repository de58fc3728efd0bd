"""A profile is untrusted input: any bytes give a report or one error line, never a crash or a hang.

Run with SEEP_SAN=a sanitized build's seep, that one reads them."""
import json
import os
import random
import shutil
import struct
import tempfile
import unittest

from tests.e2e.support import FULL, SEEP, SYSTEM_PYTHON, SeepCase

READER = os.path.abspath(os.environ.get("SEEP_SAN") or SEEP)
HEADER = 112 * 1024
VALUES = (0, 1, 7, 8, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, HEADER // 8, HEADER // 8 + 1)


class Corrupt(SeepCase):
    def make(self, *argv):
        folder = self.path("whole.d")
        self.run_seep(list(argv), folder=folder)
        files = sorted(f for f in os.listdir(folder) if f.endswith(".seep"))
        self.assertTrue(files)
        data = {}
        for name in os.listdir(folder):
            if name != "report.json":
                with open(os.path.join(folder, name), "rb") as f:
                    data[name] = f.read()
        return files, data

    def write(self, data):
        folder = self.path("broken.d")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name, content in data.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
        return folder

    def read(self, folder, message, args=("--format", "json", "--all")):
        """The input of a failure is kept, for it depends on the run."""
        try:
            return self.read_once(folder, message, args)
        except AssertionError as why:
            kept = tempfile.mkdtemp(prefix="seep-found-")
            shutil.copytree(folder, os.path.join(kept, "p.d"))
            raise AssertionError("%s\nkept in %s" % (why, kept)) from None

    def read_once(self, folder, message, args):
        done = self.command([READER, "report", folder, *args], timeout=20)
        self.assertIn(done.status, (0, 2), "%s: %r" % (message, done))
        lines = done.err.splitlines()
        self.assertTrue(all(x.startswith("seep: ") for x in lines), "%s: %r" % (message, done))
        if done.status == 2:
            self.assertEqual(len(lines), 1, "%s: %r" % (message, done))
        elif "json" in args:
            try:
                report = json.loads(done.stdout)
            except ValueError as why:
                self.fail("%s: %s %r" % (message, why, done))
            self.valid(report)
            return report
        return None

    def test_truncated_anywhere(self):
        files, data = self.make(self.subject("forks"), "fork")
        for name in files[:1] + [n for n in data if n not in files]:
            whole = data[name]
            sizes = {0, 1, 7, 8, 16, 63, 64, 100, 511, 4095, 4096, 4097, HEADER - 1, HEADER, HEADER + 1, HEADER + 8,
                     len(whole) - 1, len(whole) - 4096}
            sizes |= {HEADER + k * 32768 + d for k in range(0, 12) for d in (-1, 0, 40)}
            for size in sorted(s for s in sizes if 0 <= s < len(whole)):
                self.read(self.write({**data, name: whole[:size]}), "%s cut to %d" % (name, size))

    def test_random_words_overwritten(self):
        files, data = self.make(self.subject("forks"), "fork")
        order = random.Random(7)
        for i in range(400 if FULL else 120):
            name = order.choice(sorted(data))
            content = bytearray(data[name])
            used = [at for at in range(0, len(content), 4) if content[at:at + 4] != b"\0\0\0\0"]
            for _ in range(order.choice((1, 3, 30, 300))):
                at = order.choice(used)
                struct.pack_into("<I", content, at, order.choice(VALUES + (order.getrandbits(32),)))
            self.read(self.write({**data, name: bytes(content)}), "words of %s, round %d" % (name, i))

    def test_random_bits_flipped_in_the_header(self):
        files, data = self.make(self.subject("counts_heap"), "malloc")
        order = random.Random(8)
        name = files[0]
        for i in range(200 if FULL else 60):
            content = bytearray(data[name])
            for _ in range(order.choice((1, 2, 8))):
                at = order.randrange(0, 16384)
                content[at] ^= 1 << order.randrange(8)
            self.read(self.write({**data, name: bytes(content)}), "bits, round %d" % i)

    def test_a_space_without_a_name(self):
        files, data = self.make(self.subject("counts_heap"), "malloc")
        content = bytearray(data[files[0]])
        at = content.index(b"host\0\0\0\0")
        for length in (1, 4):
            content[at:at + length] = bytes(length)
            self.read(self.write({**data, files[0]: bytes(content)}), "a space without a name")

    def test_python_profile_with_random_words(self):
        files, data = self.make(SYSTEM_PYTHON, "-c", "x = [bytearray(10**6) for _ in range(5)]")
        order = random.Random(9)
        name = files[0]
        used = [at for at in range(0, len(data[name]), 4) if data[name][at:at + 4] != b"\0\0\0\0"]
        for i in range(150 if FULL else 40):
            content = bytearray(data[name])
            for _ in range(order.choice((3, 100, 3000))):
                struct.pack_into("<I", content, order.choice(used), order.choice(VALUES + (order.getrandbits(32),)))
            self.read(self.write({**data, name: bytes(content)}), "python words, round %d" % i)

    def test_text_of_broken_profiles_is_text(self):
        files, data = self.make(self.subject("counts_heap"), "malloc")
        order = random.Random(10)
        for i in range(20):
            content = bytearray(data[files[0]])
            for _ in range(200):
                content[order.randrange(len(content))] = order.getrandbits(8)
            self.read(self.write({**data, files[0]: bytes(content)}), "text, round %d" % i, args=())

    def test_control_characters_of_a_hostile_name_do_not_reach_the_terminal(self):
        files, data = self.make(self.subject("counts_heap"), "malloc")
        content = data[files[0]].replace(b"subjects/counts_heap", b"subj\x1b]0;x\x07\x1b[31m\xff_heap"[:20])
        folder = self.write({**data, files[0]: content})
        done = self.command([READER, "report", folder])
        self.assertIn(done.status, (0, 2), repr(done))
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)
        self.assertNotIn(b"\x07", done.stdout + done.stderr)

    def test_nothing_readable_is_2_with_one_line(self):
        empty = self.path("empty.d")
        os.mkdir(empty)
        fifo = self.path("fifo.d")
        os.mkdir(fifo)
        os.mkfifo(os.path.join(fifo, "1-1.seep"))
        folders = self.path("folders.d")
        os.makedirs(os.path.join(folders, "1-1.seep"))
        loop = self.path("loop.d")
        os.mkdir(loop)
        os.symlink("1-1.seep", os.path.join(loop, "1-1.seep"))
        text = self.path("text.d")
        os.mkdir(text)
        with open(os.path.join(text, "1-1.seep"), "w") as f:
            f.write("hello\n" * 50000)
        sparse = self.path("sparse.d")
        os.mkdir(sparse)
        with open(os.path.join(sparse, "1-1.seep"), "wb") as f:
            f.truncate(1 << 40)
        for folder in (empty, fifo, folders, loop, text, sparse, self.path("missing"), "/etc/passwd", "/dev/null", ""):
            done = self.command([READER, "report", folder], timeout=20)
            self.assertEqual(done.status, 2, "%s %r" % (folder, done))
            self.one_line_error(done)

    def test_one_bad_file_beside_good_ones(self):
        files, data = self.make(self.subject("forks"), "nested")
        folder = self.write({**data, files[2]: b"rubbish" * 100000})
        report = self.read(folder, "rubbish beside good ones")
        self.assertIsNotNone(report)
        self.assertIs(report["job"]["complete"], False)
        self.assertGreaterEqual(len(report["processes"]), 3)

    def test_job_file_missing(self):
        files, data = self.make(self.subject("forks"), "fork")
        rest = {k: v for k, v in data.items() if k in files}
        report = self.read(self.write(rest), "no job file")
        self.assertEqual(len(report["processes"]), 2)

    def test_parent_profile_missing(self):
        files, data = self.make(self.subject("forks"), "nested")
        for gone in files:
            self.read(self.write({k: v for k, v in data.items() if k != gone}), "without " + gone)

    def test_a_profile_that_is_its_own_parent(self):
        files, data = self.make(self.subject("forks"), "nested")
        for name in files:
            for other in files:
                content = data[name]
                for old in files:
                    content = content.replace(old.encode() + b"\0", other.encode().ljust(len(old), b"\0")[:len(old)] + b"\0")
                self.read(self.write({**data, name: content}), "%s with parent %s" % (name, other))

    def test_output_that_cannot_be_written(self):
        self.make(self.subject("counts_heap"), "malloc")
        for target in ("/dev/full", "/nonexistent/x", self.dir):
            done = self.command([READER, "report", self.path("whole.d"), "-o", target])
            self.assertNotEqual(done.status, 0, target)
            self.one_line_error(done)


if __name__ == "__main__":
    unittest.main()
