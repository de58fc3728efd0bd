"""Heap profiles in pprof's format, as JAX, Go and tcmalloc write them, stand for a folder."""
import gzip
import os
import unittest

from tests.e2e.support import SeepCase, said_of

MIB = 1 << 20


def number(n):
    """A varint."""
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(at, value):
    return number(at << 3 | 2) + number(len(value)) + value if isinstance(value, bytes) else number(at << 3) + number(value)


class Profile:
    """Makes one."""

    def __init__(self, *types):
        self.texts, self.body, self.frames = [""], b"", {}
        for name, unit in types:
            self.body += field(1, field(1, self.text(name)) + field(2, self.text(unit)))

    def text(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def frame(self, file, line, name):
        if (file, line, name) not in self.frames:
            at = self.frames[file, line, name] = len(self.frames) + 1
            self.body += field(5, field(1, at) + field(2, self.text(name)) + field(4, self.text(file)))
            self.body += field(4, field(1, at) + field(4, field(1, at) + field(2, line)))
        return self.frames[file, line, name]

    def sample(self, stack, values, **labels):
        """`stack`: innermost first."""
        at = b"".join(number(self.frame(*frame)) for frame in stack)
        said = b"".join(field(3, field(1, self.text(k)) + field(2, self.text(v))) for k, v in labels.items())
        self.body += field(2, field(1, at) + field(2, b"".join(map(number, values))) + said)
        return self

    def whole(self):
        return self.body + b"".join(field(6, text.encode()) for text in self.texts) + field(9, 1_790_000_000_000_000_000)


JAX = (("allocations", "count"), ("space", "bytes"))
MAIN = ("/job/train.py", 20, "<module>")
KEEP = [("/venv/lib/python3.11/site-packages/jax/_src/core.py", 500, "bind"), ("/job/train.py", 7, "remember"), MAIN]
STEP = [("/job/train.py", 12, "step"), MAIN]


class HeapProfiles(SeepCase):
    def file(self, name, data, folder=None):
        path = os.path.join(folder or self.fresh(), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(gzip.compress(data) if name.endswith(".gz") or name.endswith(".prof") else data)
        return path

    def jax(self, name, kept):
        made = Profile(*JAX).sample(KEEP, (kept, kept * MIB), kind="buffer", device="cuda:1")
        made.sample(STEP, (2, 3 * MIB), kind="buffer", device="cuda:1").sample(STEP, (1, 5 * MIB), device="cpu:0")
        return self.file(name, made.sample(STEP, (4, 0), kind="executable").whole())

    def test_what_is_live_is_there_by_line_and_device(self):
        report = self.report(self.jax("memory.prof", 10))
        self.assertEqual({name: space["live_bytes"] for name, space in report["spaces"].items() if space["live_bytes"]},
                         {"tensor:1": 13 * MIB, "host": 5 * MIB})
        line = max((s for s in report["sites"] if s["space"] == "tensor:1"), key=lambda s: s["live_bytes"])
        self.assertEqual((line["live_bytes"], line["allocations"]), (10 * MIB, 10))
        self.assertIn("a heap profile knows what was live", said_of(report))

    def test_two_of_them_tell_what_grew(self):
        done = self.seep("diff", self.jax("before.prof", 10), self.jax("after.prof", 30))
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertIn("+20.0 MiB", done.stdout.decode())
        self.assertIn("/job/train.py:7 in remember", done.stdout.decode())

    def test_a_profile_of_a_heap_in_use_is_one_too(self):
        made = Profile(("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes"))
        report = self.report(self.file("heap.pb", made.sample(STEP, (90, 900, 3, 12 * MIB)).whole()))
        self.assertEqual(report["spaces"]["host"]["live_bytes"], 12 * MIB)

    def test_names_of_any_length_and_ids_that_repeat_are_read(self):
        long = Profile(*JAX).sample([("/job/%s.py" % ("x" * 100_000), 3, "f" * 100_000), MAIN], (1, MIB))
        again = Profile(*JAX).sample(STEP, (1, MIB))
        again.body += field(4, b"") * 200_000 + field(5, b"") * 200_000
        for made in (long, again):
            self.assertEqual(self.report(self.file("odd.pb", made.whole()))["spaces"]["host"]["live_bytes"], MIB)

    def test_what_is_no_heap_profile_is_one_line(self):
        cpu = Profile(("samples", "count"), ("cpu", "nanoseconds")).sample(STEP, (3, 30)).whole()
        whole = Profile(*JAX).sample(STEP, (1, MIB)).whole()
        bomb = whole + field(2, b"") * 8_000_000  # of empty samples
        for name, data in (("cpu.pb", cpu), ("bomb.prof", bomb), ("cut.pb", whole[:-9]), ("odd.pb", whole[:4] + b"\xff" * 40)):
            with self.subTest(name=name):
                done = self.seep("report", self.file(name, data))
                self.assertEqual((done.status, done.stdout), (2, b""))
                self.assertEqual(len(done.err.strip().splitlines()), 1, done.err)


if __name__ == "__main__":
    unittest.main()
