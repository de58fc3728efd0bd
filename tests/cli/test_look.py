"""`seep look`: a process that was not started under seep is looked at from outside, and is as it was before."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from tests.e2e.support import SEEP, SeepCase, compile_c, needs_to_read_children

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


def look(*arguments):
    return subprocess.run([str(SEEP), "look", *map(str, arguments)], capture_output=True, text=True)


@needs_to_read_children
class Look(SeepCase):
    def start(self, *arguments):
        self.write("job.py", JOB)
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
        return json.loads(done.stdout)

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

    def test_what_grows_without_an_end_is_told_and_is_the_exit_status(self):
        job = self.start("grow")
        document = self.holders(look("--every", "0.5", "--times", "3", "--format", "json", job.pid))
        history = self.named(document, "local 'history' of main()")
        self.assertEqual(history["growth"], "endless")
        self.assertEqual(sorted(history["length_by_look"]), history["length_by_look"])
        self.assertEqual(self.named(document, "notes.by_name")["growth"], "no")
        done = look("--every", "0.5", job.pid)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"Grows in every look.*\n.* local 'history' of main\(\)")

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
                                (("--times", "0", 1), "no number of looks"), (("--every", "x", 1), "no time between looks"),
                                ((2 ** 22 + 1,), "there is no process")):
            with self.subTest(arguments):
                done = look(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, r"^seep: .*%s[^\n]*\n$" % said)

    def test_a_process_that_has_ended_is_told_as_such(self):
        job = subprocess.Popen(["true"])
        os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT)
        done = look(job.pid)
        job.wait()
        self.assertEqual(done.returncode, 2)
        self.assertIn("has ended", done.stderr)


if __name__ == "__main__":
    unittest.main()
