"""`seep look` at core files: the same holders as of the process, and a word about what is not in the file."""
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import unittest

from tests.cli import core_file
from tests.cli.look_case import LookCase
from tests.cli.serving import data_of
from tests.e2e.support import SEEP, SYSTEM_PYTHON, needs_to_read_children

JOB = '''
import os, sys
class Annotations:
    def __init__(self):
        self.by_name = {}
notes = Annotations()
def main():
    history = []
    for i in range(200):
        notes.by_name["image %d" % i] = bytearray(20000)  # NOTES
        history.append([float(i + k) for k in range(2000)])
    print(os.getpid(), flush=True)
    if sys.stdin.read():
        os.abort()
main()
'''

NOTES, HISTORY = 200 * 20100, 200 * 2000 * 40
with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as f:
    INTO_FOLDER = f.read().strip() == "core"  # not to a collector of core files


@needs_to_read_children
class LookCore(LookCase):
    def start(self, *command, **environment):
        with open(self.path("job.py"), "w", encoding="utf-8") as f:
            f.write(JOB)
        self.job = subprocess.Popen([*(command or [sys.executable]), self.path("job.py")], stdin=subprocess.PIPE, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", cwd=self.path("."),
                                    env={**os.environ, **environment}, preexec_fn=self.allow_core)
        self.addCleanup(lambda: self.job.stdin.closed or self.job.communicate())
        return int(self.job.stdout.readline())

    @staticmethod
    def allow_core():
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))

    def written(self):
        core_file.write(self.start(), self.path("written"))
        return self.path("written")

    def named(self, document, text):
        found = [h for h in document["holders"] if text in h["path"]["text"].replace(" (Annotations)", "")]
        self.assertTrue(found, [h["path"]["text"] for h in document["holders"]])
        return found[0]

    def check(self, document):
        for text, bytes_ in (("notes.by_name", NOTES), ("local 'history' of main()", HISTORY)):
            holder = self.named(document, text)
            self.assertEqual(holder["length"], 200)
            self.assertAlmostEqual(holder["retained_bytes"], bytes_, delta=0.03 * bytes_)
        self.assertEqual((document["looks"][0]["way"], document["looks"][0]["incomplete"]), ("core", None))

    def test_a_core_file_tells_what_the_process_does(self):
        pid = self.start()
        alive = {h["key"]: h for h in self.look("--stop", pid)["holders"]}
        core_file.write(pid, self.path("written"))
        document = self.look(self.path("written"))
        self.check(document)
        self.assertEqual((document["pid"], document["parent"]), (pid, os.getpid()))
        self.assertEqual(document["core"], {"file": self.path("written"), "bytes": os.path.getsize(self.path("written"))})
        dead = {h["key"]: h for h in document["holders"]}
        self.assertEqual(set(dead), set(alive))
        for key, holder in dead.items():
            self.assertAlmostEqual(holder["retained_bytes"], alive[key]["retained_bytes"], delta=4096)

    def test_one_that_gdb_has_written(self):
        if not shutil.which("gcore"):
            self.skipTest("no gcore")
        pid = self.start()
        subprocess.run(["gcore", "-o", self.path("core"), str(pid)], capture_output=True, check=True)
        self.check(self.look(self.path("core.%d" % pid)))

    def test_one_that_the_kernel_has_written(self):
        if not INTO_FOLDER or not resource.getrlimit(resource.RLIMIT_CORE)[1]:
            self.skipTest("the kernel writes no core file here")
        self.start()
        self.job.communicate("abort")
        written = [name for name in os.listdir(self.path(".")) if name.startswith("core")]
        self.assertEqual(len(written), 1)
        self.check(self.look(self.path(written[0])))

    def test_of_a_process_under_seep_it_tells_the_lines(self):
        pid = self.start(SEEP, "run", "-q", "--no-report", "-o", self.path("out"), "--", sys.executable)
        core_file.write(pid, self.path("written"))
        self.job.communicate()
        document = self.look(self.path("written"))
        self.check(document)
        line = self.named(document, "notes.by_name")["made_at"][0]
        self.assertEqual(line["frame"]["line"], 1 + ["# NOTES" in text for text in JOB.splitlines()].index(True))
        self.assertAlmostEqual(line["bytes"], NOTES, delta=0.03 * NOTES)
        self.is_shown(document)

    def is_shown(self, document):
        """The page has the core file and the lines."""
        with open(self.path("look.json"), "w", encoding="utf-8") as f:
            json.dump(document, f)
        subprocess.run([SEEP, "view", self.path("look.json")], capture_output=True, check=True)
        with open(self.path("look.html"), encoding="utf-8") as f:
            shown = data_of(f.read())["look"]
        self.assertEqual(shown["core"], document["core"])
        for holder, told in zip(shown["holders"], document["holders"], strict=True):
            self.assertEqual([(one["frame"]["file"], one["frame"]["line"], one["bytes"]) for one in holder["made_at"]],
                             [(one["frame"]["file"], one["frame"]["line"], one["bytes"]) for one in told["made_at"]])

    def test_the_text_says_what_it_is_of(self):
        done = subprocess.run([SEEP, "look", self.written()], capture_output=True, text=True)
        self.assertRegex(done.stdout, r"^core file of \S*python\S* \S+/job\.py \(process \d+\): [\d.]+ MiB\n[\d.]+ MiB live in \d+ ")
        self.assertRegex(done.stdout, r"\n3\.[89] MiB  module __main__\.notes \(Annotations\)\.by_name")
        self.assertNotRegex(done.stdout, "RSS|paused|Not everything")

    def test_what_is_not_in_it_is_said(self):
        pid = self.start()
        whole, cut, no_memory, no_headers = (self.path(name) for name in ("whole", "cut", "no-memory", "no-headers"))
        core_file.write(pid, whole)
        core_file.write(pid, no_memory, memory_too=False)
        core_file.write(pid, no_headers, headers_too=False)
        with open(whole, "rb") as f, open(cut, "wb") as to:
            to.write(f.read(os.path.getsize(whole) - (3 << 20)))
        for path, said in ((cut, r"the file is cut short by 3\.0 MiB"),
                           (no_memory, r"MiB of memory was left out of it \(see coredump_filter\)"),
                           (no_headers, r"no page in it to be compared by \(see coredump_filter\)")):
            with self.subTest(said):
                document = self.look(path)
                self.assertRegex(document["looks"][0]["incomplete"], said)
                self.assertFalse(document["looks"][0]["complete"])
                self.assertEqual([h["path"]["text"] for h in document["holders"] if h["state"] in ("lost", "reference")], [])
                self.assertRegex(subprocess.run([SEEP, "look", path], capture_output=True, text=True).stdout,
                                 "Not everything was read: .*" + said)

    def test_a_program_that_has_moved_is_read_where_the_user_says(self):
        if subprocess.run("ldd %s | grep -q libpython" % SYSTEM_PYTHON, shell=True).returncode == 0:
            self.skipTest("%s is not the interpreter itself" % SYSTEM_PYTHON)
        version = os.path.basename(os.path.realpath(SYSTEM_PYTHON))
        was, now = self.path(version), self.path("moved")
        shutil.copy(os.path.realpath(SYSTEM_PYTHON), was)
        core_file.write(self.start(was, PYTHONHOME="/usr"), self.path("written"))
        self.job.communicate()
        os.rename(was, now)
        self.assertIn("1 of the files that it had mapped is not as then, such as " + version,
                      self.look(self.path("written"))["looks"][0]["incomplete"])
        os.rename(now, self.path("moved-" + version))
        self.check(self.look("--exe", self.path("moved-" + version), self.path("written")))

    def test_what_is_no_core_file_is_said(self):
        core = self.written()
        for arguments, said in (((self.path("job.py"),), "job.py: this is no core file"), ((SEEP,), "a program or library, not a core file"),
                                (("nowhere",), "no such core file"), (("--tree", core), "is looked at once"),
                                (("--every", "5", core), "is looked at once"), (("--stop", core), "is looked at once"),
                                (("--exe", "/bin/true", core), "/bin/true: it is not the program"),
                                (("--exe", "/bin/true", os.getpid()), "for a core file"), ((self.path("."),), "this is no core file")):
            with self.subTest(arguments):
                done = subprocess.run([SEEP, "look", *map(str, arguments)], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"^seep: .*%s[^\n]*\n$" % said)

    def test_more_segments_than_a_head_can_count_are_read(self):
        one = (0x10000000, 0x10001000, 6, b"x" * 4096)
        many = [(0x20000000 + 0x2000 * i, 0x20001000 + 0x2000 * i, 6, b"") for i in range(70000)]
        with open(self.path("many"), "wb") as f:
            f.writelines(core_file.assemble([one, *many[:-1], (*many[-1][:3], b"y" * 4096)], core_file.process_note(7, 1, b"job")))
        document = self.look(self.path("many"))
        self.assertEqual((document["pid"], document["command"]), (7, "job"))
        self.assertEqual(document["looks"][0]["live_bytes"], 2 * 4096)

    def test_any_damage_costs_a_word(self):
        with open(self.written(), "rb") as f:
            whole = f.read()
        chance = random.Random(1)
        heads = 64 + 56 * 200
        for _ in range(40):
            damaged = bytearray(whole[:chance.choice([len(whole), chance.randrange(len(whole)), chance.randrange(heads)])])
            for _ in range(chance.randrange(40)):
                if damaged:
                    damaged[chance.randrange(min(len(damaged), heads))] = chance.choice([0, 1, 127, 255])
            with open(self.path("damaged"), "wb") as f:
                f.write(damaged)
            done = subprocess.run([SEEP, "look", self.path("damaged")], capture_output=True, text=True, timeout=120)
            self.assertIn(done.returncode, (0, 2))
            self.assertRegex(done.stderr, r"^(seep: [^\n]+\n)?$")
            self.assertEqual(bool(done.stderr), done.returncode == 2)


if __name__ == "__main__":
    unittest.main()
