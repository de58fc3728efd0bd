"""`seep look`: reads a process that was not started under seep from outside, and leaves it unchanged. Those under `seep run`
are in test_look_recorded.py."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from tests.cli.ci_jobs import validate
from tests.e2e.support import (ROOT, SEEP, SYSTEM_PYTHON, SeepCase, compile_c, needs, needs_others_to_reach_the_build,
                               needs_to_read_children)

JOB = '''
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)  # PR_SET_PTRACER, anybody: where Yama lets only ancestors look
class Annotations:
    def __init__(self):
        self.by_name = {}
notes = Annotations()
def main():
    history = []
    bounded = [bytes(100000)] * 3
    for i in range(200):
        notes.by_name["image %d" % i] = bytearray(20000)
        history.append([float(i + k) for k in range(2000)])
    print("ready", flush=True)
    while not os.path.exists(sys.argv[1]):
        if len(sys.argv) > 2:
            history.append([float(k) for k in range(2000)])
        time.sleep(0.01)
main()
'''

UNHELD = '''
import ctypes, gc, os, sys, time
libc = ctypes.CDLL(None)
libc.prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
libc.malloc.restype = ctypes.c_void_p
gc.disable()
class Ring:
    def __init__(self):
        self.me, self.payload = self, bytearray(30000)
def main():
    for _ in range(100):
        Ring()
        ctypes.memset(libc.malloc(50000), 1, 50000)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(bytearray(40000)))
    print("ready", flush=True)
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
main()
'''

FAMILY = '''
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
def work():
    ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
    cache = [bytearray(30000) for _ in range(100)]
    os.write(ready, b"x")
    while not os.path.exists(sys.argv[1]) and os.getppid() != 1:
        time.sleep(0.01)
    os._exit(0)
done, ready = os.pipe()
for _ in range(2):
    if os.fork() == 0:
        work()
for _ in range(2):
    os.read(done, 1)
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
'''

LARGE = '''
import array, ctypes, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
class Node:
    def __init__(self, next):
        self.mask, self.next = bytes(20000), next
table = array.array("d", [0]) * 1000000
same = [None] * 1000000
head = None
for _ in range(40):
    head = Node(head)
print("ready", flush=True)
sys.stdin.read()
'''

IMPORTS_TORCH = '''
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
import torch
print("ready", flush=True)
sys.stdin.read()
'''

FREES = '''
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
kept = [str(i) * 4 for i in range(100000)]
numbers = [float(i) for i in range(600000)]
some = numbers[::30000]
del numbers
print("ready", flush=True)
sys.stdin.read()
'''

SANDBOXED = '''
import ctypes, struct, sys
libc = ctypes.CDLL(None)
libc.prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
ends_for_a_clone = struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, 56, 6, 0, 0, 0x80000000, 6, 0, 0, 0x7fff0000)
program = ctypes.create_string_buffer(ends_for_a_clone)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(program)))) == 0
print("ready", flush=True)
sys.stdin.read()
'''

WAITS = r'''
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *wait_in_epoll(void *arg)
{
    struct epoll_event event;
    int fd = epoll_create1(0);

    for (;;)
        if (epoll_wait(fd, &event, 1, 200) < 0) {
            printf("epoll_wait: %d\n", errno);
            _exit(3);
        }
    return arg;
}

/* Threads that wait in the kernel in several ways, a child that ends, and a parent that waits for any. */
int main(void)
{
    pthread_t threads[3];
    struct timespec rest = {.tv_nsec = 5000000};

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, wait_in_epoll, NULL);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 400; i++) {
        pid_t child = fork();
        if (!child)
            _exit(i % 7);
        int status;
        if (waitpid(-1, &status, __WALL) != child || !WIFEXITED(status) || WEXITSTATUS(status) != i % 7) {
            puts("a stranger was met");
            _exit(4);
        }
        if (nanosleep(&rest, NULL)) {
            printf("nanosleep: %d\n", errno);
            _exit(5);
        }
    }
    return 6;
}
'''

CHURNS = r'''
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *end(void *arg)
{
    return arg;
}

static void *begin_others(void *arg)
{
    pthread_t thread;

    for (;;)
        if (!pthread_create(&thread, NULL, end, NULL))
            pthread_join(thread, NULL);
    return arg;
}

int main(void)
{
    pthread_t thread;

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    for (int i = 0; i < 8; i++)
        pthread_create(&thread, NULL, begin_others, NULL);
    puts("ready");
    fflush(stdout);
    pause();
}
'''


def is_kernels(pid):
    """Whether it is a thread of the kernel: PF_KTHREAD in its flags."""
    try:
        with open("/proc/%s/stat" % pid) as f:
            return bool(int(f.read().rpartition(")")[2].split()[6]) & 0x200000)
    except OSError:
        return False


def look(*arguments):
    return subprocess.run([str(SEEP), "look", *map(str, arguments)], capture_output=True, text=True)


@needs_to_read_children
class Look(SeepCase):
    def start(self, *arguments, program=JOB):
        self.write("job.py", program)
        job = subprocess.Popen([sys.executable, self.path("job.py"), self.path("stop"), *arguments], stdout=subprocess.PIPE,
                               text=True)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        self.addCleanup(job.stdout.close)
        return job

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def holders(self, done):
        self.assertIn(done.returncode, (0, 1), done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(validate(ROOT / "docs/look.schema.json", document), [])
        self.assertLess(0, time.time() - document["looked_unix_s"])
        for moment in document["looks"]:
            self.assertEqual(moment["live_bytes"], sum(moment[part + "_bytes"] for part in ("held", "cycle", "reference", "lost")))
        return document

    def named(self, document, text):
        found = [h for h in document["holders"] if text in h["path"]["text"].replace(" (Annotations)", "")]
        self.assertTrue(found, [h["path"]["text"] for h in document["holders"]])
        return found[0]

    def test_each_way_tells_what_each_variable_keeps(self):
        job = self.start()
        for way in ("--copy", "--stop", "--live"):
            with self.subTest(way):
                document = self.holders(look(way, "--format", "json", job.pid))
                notes, history = (self.named(document, t) for t in ("notes.by_name", "local 'history' of main()"))
                self.assertEqual((notes["length"], notes["type"]), (200, "dict"))
                self.assertEqual((history["length"], history["type"]), (200, "list"))
                # 200 x (20,000 bytes and the head of a bytearray); 200 lists of 2,000 floats, each in a block of 32 bytes.
                self.assertAlmostEqual(notes["retained_bytes"], 200 * 20100, delta=0.02 * 200 * 20100)
                self.assertAlmostEqual(history["retained_bytes"], 200 * 2000 * 40, delta=0.03 * 200 * 2000 * 40)
                self.assertEqual(document["looks"][0]["way"], way[2:])

    def test_what_no_variable_holds_is_told_by_what_it_is(self):
        job = self.start(program=UNHELD)
        document = self.holders(look("--format", "json", job.pid))
        for state, said, each in (("cycle", "nobody but a cycle (Ring).payload", 30000),
                                  ("reference", "a reference that was never given back (bytearray)", 40000),
                                  ("lost", "nobody (blocks of 32.0 KiB and more)", 50000)):
            with self.subTest(state):
                holder = self.named(document, said)
                self.assertEqual(holder["state"], state)
                # A word that a call has left on a stack may still point to the last ones.
                self.assertAlmostEqual(holder["retained_bytes"], 100 * each, delta=0.06 * 100 * each)
                self.assertAlmostEqual(document["looks"][0][state + "_bytes"], 100 * each, delta=0.1 * 100 * each)
        done = look(job.pid)
        self.assertRegex(done.stdout, r"(?m)^No variable holds 2\.[789] MiB in reference cycles, 3\.[678] MiB behind references")
        self.assertRegex(done.stdout, r"(?m)^4\.[5678] MiB +nobody \(blocks of 32\.0 KiB and more\)")

    def test_one_large_thing_is_told_by_its_name(self):
        self.write("job.py", LARGE)
        job = subprocess.Popen([sys.executable, self.path("job.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for end in (job.wait, job.stdout.close, job.stdin.close):
            self.addCleanup(end)
        self.assertEqual(job.stdout.readline(), "ready\n")
        document = self.holders(look("--format", "json", job.pid))
        for name, bytes_ in (("module __main__.table (array)", 8000000), ("module __main__.same (list)", 8000000),
                             ("module __main__.head (Node).next (Node)", 40 * 20000)):
            holder = self.named(document, name)
            self.assertAlmostEqual(holder["retained_bytes"], bytes_, delta=0.03 * bytes_)

    def test_what_python_has_freed_is_not_live(self):
        job = subprocess.Popen([sys.executable, "-c", FREES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for end in (job.wait, job.stdout.close, job.stdin.close):
            self.addCleanup(end)
        self.assertEqual(job.stdout.readline(), "ready\n")
        document = self.holders(look("--format", "json", job.pid))
        self.assertLess(document["looks"][0]["live_bytes"], 20 << 20)  # it has freed as much, and keeps some of it
        self.assertIn("module __main__.kept ", document["holders"][0]["path"]["text"])

    def test_what_the_process_takes_is_explained(self):
        """After `import torch`: what is live and files' pages; the rest is what malloc has free and data of libraries."""
        job = subprocess.Popen([SYSTEM_PYTHON, "-c", IMPORTS_TORCH], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        for end in (job.wait, job.stdout.close, job.stdin.close):
            self.addCleanup(end)
        if not job.stdout.readline():
            self.skipTest("%s has no torch" % SYSTEM_PYTHON)
        moment = self.holders(look("--format", "json", job.pid))["looks"][0]
        explained = moment["live_bytes"] + moment["file_bytes"]
        self.assertGreater(explained, 0.9 * moment["rss_bytes"])
        self.assertLess(explained, 1.02 * moment["rss_bytes"])
        self.assertGreater(moment["held_bytes"], 0.9 * moment["live_bytes"])

    def test_what_grows_without_an_end_is_told_and_is_the_exit_status(self):
        job = self.start("grow")
        document = self.holders(look("--every", "0.5", "--times", "3", "--format", "json", job.pid))
        history = self.named(document, "local 'history' of main()")
        self.assertEqual(history["growth"], "endless")
        self.assertEqual(sorted(history["length_by_look"]), history["length_by_look"])
        self.assertEqual(self.named(document, "notes.by_name")["growth"], "no")
        done = look("--every", "0.5", "--color", "always", job.pid)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"\n\x1b\[1;38;5;166mGrows in every look.*\n.* local 'history' of main\(\)")

    def test_children_are_looked_at_and_what_they_hold_alike_is_one_holder(self):
        job = self.start(program=FAMILY)
        document = self.holders(look("--tree", "--every", "1s", "--times", "2", "--format", "json", job.pid))
        processes = document["tree"]["processes"]
        self.assertEqual([p["pid"] == job.pid for p in processes], [True, False, False])
        self.assertEqual([(p["parent"] == job.pid, len(p["looks"])) for p in processes[1:]], [(True, 2)] * 2)
        cache = self.named(document["tree"], "local 'cache' of work()")
        self.assertEqual(sorted(cache["pids"]), sorted(p["pid"] for p in processes[1:]))
        self.assertAlmostEqual(cache["retained_bytes"], 2 * 100 * 30000, delta=0.02 * 2 * 100 * 30000)
        self.assertFalse([h for h in document["holders"] if "'cache'" in h["path"]["text"]], "those are the parent's own")
        done = look("--tree", job.pid)
        self.assertRegex(done.stdout, r"^3 processes: PSS .*\n  %d: PSS" % job.pid)
        self.assertRegex(done.stdout, r"(?m)^5\.7 MiB in 2 processes +local 'cache' of work\(\) \(list\): length 100; 2 objects$")

    def test_what_stays_does_not_grow(self):
        done = look("--every", "0.2", "--times", "3", self.start().pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("No holder grew", done.stdout)

    def test_a_program_that_waits_and_forks_does_not_notice(self):
        self.write("waits.c", WAITS)
        compile_c(self, self.path("waits.c"), self.path("waits"), "-pthread")
        job = subprocess.Popen([self.path("waits")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        looks = 0
        while job.poll() is None:
            done = look("--copy" if looks % 2 else "--stop", job.pid)
            looks += done.returncode == 0
        self.assertEqual((job.stdout.read(), job.returncode), ("", 6))
        job.stdout.close()
        self.assertGreater(looks, 0)

    def test_threads_that_end_meanwhile_are_no_reason_to_refuse(self):
        self.write("churns.c", CHURNS)
        compile_c(self, self.path("churns.c"), self.path("churns"), "-pthread")
        job = subprocess.Popen([self.path("churns")], stdout=subprocess.PIPE, text=True)
        for end in (job.wait, job.stdout.close, job.kill):
            self.addCleanup(end)
        self.assertEqual(job.stdout.readline(), "ready\n")
        said = [look("--stop", job.pid).stderr for _ in range(30)]
        self.assertEqual([s for s in said if "may not be looked at" in s], [])

    def test_what_has_no_memory_of_its_own_is_said_and_not_who_should_ask(self):
        kernels = [pid for pid in os.listdir("/proc") if pid.isdigit() and is_kernels(pid)]
        own = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" look $$', SEEP], stderr=subprocess.PIPE, text=True)
        said = own.communicate()[1]
        self.assertEqual((said, own.returncode), ("seep: process %d is this seep itself: give the number of another process\n"
                                                  % own.pid, 2))
        if not kernels:
            self.skipTest("no thread of the kernel can be seen here")
        for way in "--copy", "--stop", "--live":
            done = look(way, kernels[0])
            self.assertEqual((done.stderr, done.returncode),
                             ("seep: process %s is a thread of the kernel and has no memory of its own: give the number of a "
                              "program's process\n" % kernels[0], 2))

    def test_nothing_is_left_behind(self):
        job = self.start()
        for _ in range(5):
            self.assertEqual(look("--copy", job.pid).returncode, 0)
        with open("/proc/%d/task/%d/children" % (job.pid, job.pid)) as f:
            self.assertEqual(f.read(), "")
        with open("/proc/%d/status" % job.pid) as f:
            self.assertIn("TracerPid:\t0\n", f.read())
        self.write("stop", "")
        self.assertEqual(job.wait(), 0)

    def test_a_stopped_job_stays_stopped(self):
        job = self.start()
        os.kill(job.pid, signal.SIGSTOP)
        self.assertEqual(look("--stop", job.pid).returncode, 0)
        time.sleep(0.2)
        with open("/proc/%d/stat" % job.pid) as f:
            self.assertEqual(f.read().rsplit(")", 1)[1].split()[0], "T")
        os.kill(job.pid, signal.SIGCONT)
        self.write("stop", "")
        self.assertEqual(job.wait(), 0)

    def test_what_cannot_be_looked_at_is_said(self):
        for arguments, said in (((), "no process is given"), (("x",), "no number of a process"), ((1, 2), "only one process"),
                                (("--times", "0", 1), "no number of looks"), (("--every", "x", 1), "is no time"),
                                ((2 ** 22 + 1,), "there is no process")):
            with self.subTest(arguments):
                done = look(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, r"^seep: .*%s[^\n]*\n$" % said)

    def test_a_process_in_a_sandbox_is_never_made_to_fork(self):
        self.write("job.py", SANDBOXED)
        job = subprocess.Popen([sys.executable, self.path("job.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for end in (job.wait, job.stdout.close, job.stdin.close):
            self.addCleanup(end)
        self.assertEqual(job.stdout.readline(), "ready\n")
        done = look("--copy", job.pid)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^seep: no copy of process \d+ was made, for a sandbox may forbid it to fork: try --stop\n$")
        self.assertEqual(self.holders(look("--format", "json", job.pid))["looks"][0]["way"], "stop")
        self.assertIsNone(job.poll())

    @needs(os.geteuid() == 0, "only root can become another user who may trace but not signal")
    @needs_others_to_reach_the_build
    def test_without_the_right_to_end_a_copy_none_is_made(self):
        job = subprocess.Popen([sys.executable, "-c", "print('ready', flush=True)\ninput()"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        for end in (job.wait, job.stdout.close, job.stdin.close):
            self.addCleanup(end)
        self.assertEqual(job.stdout.readline(), "ready\n")
        other = ["setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps", "+sys_ptrace", "--ambient-caps", "+sys_ptrace"]
        done = self.command([*other, SEEP, "look", job.pid])
        self.assertEqual(done.status, 0, repr(done))
        self.assertIn("while it was read: seep may not end a copy of it", done.stdout.decode())
        self.assertIn(pathlib.Path("/proc/%d/stat" % job.pid).read_text().split(") ")[1][0], "SR")

    def test_a_process_that_has_ended_is_told_as_such(self):
        job = subprocess.Popen(["true"])
        os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT)
        done = look(job.pid)
        job.wait()
        self.assertEqual(done.returncode, 2)
        self.assertIn("has ended", done.stderr)


if __name__ == "__main__":
    unittest.main()
