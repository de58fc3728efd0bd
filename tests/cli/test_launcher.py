"""What `seep run` does around a job: signals, terminal, processes that are left behind, the environment."""
import fcntl
import json
import os
import pathlib
import pty
import shutil
import signal
import struct
import subprocess
import termios
import time
import unittest

from tests.e2e.support import MODULES, ROOT, SEEP, SYSTEM_PYTHON, SeepCase, compile_c, end_of, job_env, kill_session


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    return condition()


class LauncherCase(SeepCase):
    def begin(self, argv, options=("-q", "--no-report"), **kw):
        """Starts `seep run` and gives the process and its profile folder."""
        folder = self.fresh()
        p = subprocess.Popen([SEEP, "run", *options, "-o", folder, "--", *argv], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=kw.pop("env", job_env()),
                             start_new_session=True, **kw)
        self.addCleanup(kill_session, p.pid)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        return p, folder

    def written(self, name, seconds=20.0):
        """The contents of a file that the job makes, once it is there."""
        path = pathlib.Path(self.path(name))
        self.assertTrue(wait_for(lambda: path.exists() and path.read_text().endswith("\n"), seconds),
                        "%s was not written" % name)
        return path.read_text()


NOTE_SIGNALS = """
import os, signal, sys, time
seen = []
def note(number, frame):
    seen.append(number)
    if number == signal.SIGTERM:
        print(*seen, flush=True)
        os._exit(9)
    open(sys.argv[2], "a").write("%d\\n" % number)
for n in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM,
          signal.SIGALRM, signal.SIGRTMIN + 3):
    signal.signal(n, note)
open(sys.argv[1], "w").write("ready\\n")
while True:
    time.sleep(0.05)
"""


# The second process that seep makes is the job.
LATE_JOB = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static int n_forks;
pid_t fork(void)
{
    pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    if (++n_forks == 2) {
        close(open(getenv("ABOUT_TO_FORK"), O_WRONLY | O_CREAT, 0600));
        usleep(100 * 1000);
    }
    return real();
}
"""


OLD_KERNEL = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
long syscall(long n, ...)
{
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), a[6];
    va_list args;
    va_start(args, n);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (n == SYS_close_range) {
        errno = ENOSYS;
        return -1;
    }
    return real(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


class Signals(LauncherCase):
    def note(self, send, sent):
        """Sends one after the other, each once the job has the one before; the last one ends it."""
        p, _ = self.begin([SYSTEM_PYTHON, "-c", NOTE_SIGNALS, self.path("ready"), self.path("noted")])
        self.written("ready")
        for n, number in enumerate(sent, 1):
            send(p.pid, number)
            end = time.monotonic() + 20
            while n < len(sent) and time.monotonic() < end and self.noted() < n:
                time.sleep(0.005)
            time.sleep(0.1)  # for one that comes twice
        return p

    def noted(self):
        try:
            with open(self.path("noted")) as f:
                return len(f.readlines())
        except FileNotFoundError:
            return 0

    def test_signals_sent_to_seep_reach_the_job_once(self):
        sent = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM,
                signal.SIGRTMIN + 3, signal.SIGTERM]
        p = self.note(os.kill, sent)
        out, err = p.communicate(timeout=20)
        self.assertEqual([int(x) for x in out.split()], [int(x) for x in sent], err)
        self.assertEqual(p.returncode, 9)

    def test_signals_sent_to_the_whole_group_reach_the_job_once(self):
        """`kill -- -PGID`, timeout(1) and batch systems send to every process, seep and the job alike."""
        sent = [signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGINT, signal.SIGRTMIN + 3, signal.SIGTERM]
        p = self.note(os.killpg, sent)
        out, err = p.communicate(timeout=20)
        self.assertEqual([int(x) for x in out.split()], [int(x) for x in sent], err)
        self.assertEqual(p.returncode, 9)

    def preloaded(self, source, **env):
        with open(self.path("preloaded.c"), "w") as f:
            f.write(source)
        library = compile_c(self, self.path("preloaded.c"), self.path("preloaded.so"), "-shared", "-fPIC")
        return job_env(LD_PRELOAD=library, **env)

    def test_a_kernel_that_cannot_close_ranges_of_files_holds_nothing_up(self):
        """Before Linux 5.9: seep's helper must not hold the pipes that seep and its caller wait at."""
        p, _ = self.begin(["echo", "done"], env=self.preloaded(OLD_KERNEL))
        self.assertEqual(p.communicate(timeout=20)[0], b"done\n")

    def test_a_signal_to_the_whole_group_just_before_the_job_is_born_is_not_lost(self):
        env = self.preloaded(LATE_JOB, ABOUT_TO_FORK=self.path("forking"))
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                p, _ = self.begin(["sleep", "60"], env=env)
                self.assertTrue(wait_for(lambda: os.path.exists(self.path("forking"))))
                os.killpg(p.pid, number)
                self.assertEqual(p.wait(20), 128 + number)
                os.unlink(self.path("forking"))

    def test_a_signal_that_ends_the_job_gives_128_plus_n(self):
        p, _ = self.begin(["sh", "-c", "echo ready > %s; exec sleep 60" % self.path("ready")])
        self.written("ready")
        os.kill(p.pid, signal.SIGTERM)
        self.assertEqual(p.wait(20), 128 + signal.SIGTERM)

    def test_the_summary_is_still_made_after_a_signal(self):
        p, folder = self.begin(["sh", "-c", "echo ready > %s; exec sleep 60" % self.path("ready")], options=())
        self.written("ready")
        os.kill(p.pid, signal.SIGINT)
        _, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 128 + signal.SIGINT)
        self.assertTrue(os.path.exists(os.path.join(folder, "report.json")), err)

    def test_ignored_signals_stay_ignored(self):
        """As under nohup: a hang-up sent to seep must end neither."""
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        p, _ = self.begin(["sh", "-c", "echo ready > %s; sleep 1; echo done" % self.path("ready")], preexec_fn=ignore)
        self.written("ready")
        os.kill(p.pid, signal.SIGHUP)
        out, _ = p.communicate(timeout=20)
        self.assertEqual((p.returncode, out), (0, b"done\n"))

    def test_an_ignored_sigchld_does_not_hide_the_status(self):
        """The disposition comes from whoever starts seep; the job inherits it, seep does without."""
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        p, _ = self.begin(["grep", "-q", "SigIgn:.*1....$", "/proc/self/status"], preexec_fn=ignore)
        self.assertEqual(p.wait(20), 0, "the job does not ignore SIGCHLD any more")
        p, _ = self.begin(["sh", "-c", "exit 7"], preexec_fn=ignore)
        self.assertEqual(p.wait(20), 7)


class Terminal(LauncherCase):
    """A shell with job control on a pseudo-terminal."""

    def shell(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))

        def control():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        p = subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=slave, stdout=slave, stderr=slave,
                             preexec_fn=control, cwd=self.dir, env=job_env(PS1="> ", TERM="dumb", HISTFILE=None))
        os.close(slave)
        self.addCleanup(os.close, master)
        self.addCleanup(kill_session, p.pid)
        self.output = b""
        return master

    def expect(self, master, text):
        self.output = self.until(master, text, self.output).split(text, 1)[1]

    def test_control_c_ends_the_job_and_not_the_report(self):
        tty = self.shell()
        os.write(tty, b"%s run -q -o p.d -- sh -c 'echo rea''dy; exec sleep 60'; echo status $?\n" % SEEP.encode())
        self.expect(tty, b"ready")
        os.write(tty, b"\x03")
        self.expect(tty, b"status 130")
        self.assertTrue(os.path.exists(self.path("p.d", "report.json")))

    def test_control_c_reaches_the_job_once(self):
        tty = self.shell()
        job = ("import signal, time; n = []; signal.signal(signal.SIGINT, lambda *a: n.append(1)); "
               "print('rea' + 'dy', flush=True); time.sleep(2); print('cou' + 'nt', len(n))")
        os.write(tty, b"%s run -q --no-report -o p.d -- %s -c \"%s\"; echo\n"
                 % (SEEP.encode(), SYSTEM_PYTHON.encode(), job.encode()))
        self.expect(tty, b"ready")
        os.write(tty, b"\x03")
        self.expect(tty, b"count 1")

    def test_control_z_and_fg(self):
        tty = self.shell()
        os.write(tty, b"%s run -q --no-report -o p.d -- sh -c 'echo rea''dy; sleep 1; read x; echo got $x'\n"
                 % SEEP.encode())
        self.expect(tty, b"ready")
        os.write(tty, b"\x1a")
        self.expect(tty, b"Stopped")
        os.write(tty, b"fg\n")
        self.expect(tty, b"run -q")
        time.sleep(0.2)
        os.write(tty, b"line\n")
        self.expect(tty, b"got line")


class LeftBehind(LauncherCase):
    def test_a_daemon_is_not_waited_for(self):
        begin = time.monotonic()
        done = self.seep("run", "-q", "-o", self.fresh(), "--", "sh", "-c",
                         "setsid sleep 300 >/dev/null 2>&1 & echo $!; exit 3")
        self.addCleanup(os.kill, int(done.stdout), signal.SIGKILL)
        self.assertEqual(done.status, 3)
        self.assertLess(time.monotonic() - begin, 30)
        os.kill(int(done.stdout), 0)  # and it lives

    def test_an_orphans_status_is_known(self):
        """Its parent ends first, so that nobody in the job can tell how it ended."""
        script = """
            (sh -c 'echo $$ > $0; until [ -e $0.go ]; do sleep 0.05; done; kill -9 $$' "$0" & )
            until [ -s "$0" ]; do sleep 0.05; done
            read -r pid < "$0"
            : > "$0.go"
            # Whoever is init here reaps it, or leaves it be.
            while kill -0 $pid && ! grep -q '^State:.Z' /proc/$pid/status; do sleep 0.05; done
        """
        profile = self.run_seep(["sh", "-c", script, self.path("pid")])
        self.assertIn(("signal", 9), [end_of(p) for p in profile.report["processes"]])

    def test_no_process_of_ours_stays(self):
        p, _ = self.begin(["true"], options=("-q",))
        self.assertEqual(p.wait(30), 0)
        left = [n for n in os.listdir("/proc") if n.isdigit() and self.session_of(n) == p.pid]
        self.assertEqual(left, [])

    @staticmethod
    def session_of(pid):
        try:
            return int(pathlib.Path("/proc/%s/stat" % pid).read_text().rsplit(") ", 1)[1].split()[3])
        except OSError:
            return None


class Limits(LauncherCase):
    def test_a_file_size_limit_around_seep_costs_the_record_and_not_the_job(self):
        import resource

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, 100 << 10))
        folder = self.fresh()
        done = self.seep("run", "-q", "-o", folder, "--", "sh", "-c", "echo ran", preexec_fn=limit)
        self.assertEqual((done.status, done.stdout), (0, b"ran\n"), repr(done))
        self.assertIn("File too large", done.err.splitlines()[0])
        self.assertFalse(os.path.exists(folder))


class Environment(LauncherCase):
    def environment(self, *options, **variables):
        done = self.seep("run", "-q", "--no-report", "-o", self.fresh(), *options, "--", "env", "-0",
                         env=job_env(**variables))
        self.assertEqual(done.status, 0, repr(done))
        return dict(x.split("=", 1) for x in done.stdout.decode().split("\0") if x)

    def test_options_and_variables_mean_the_same(self):
        for options, variables in (((("--sample", "64KiB"), {}), ((), {"SEEP_SAMPLE": "64KiB"}),
                                    (("--sample=65536",), {"SEEP_SAMPLE": "1MiB"}))):
            self.assertEqual(self.environment(*options, **variables)["SEEP_SAMPLE"], "65536")
        self.assertNotIn("SEEP_SAMPLE", self.environment("--sample", "0", SEEP_SAMPLE="1MiB"))
        self.assertEqual(self.environment("--max-profile", "64MiB")["SEEP_MAX_PROFILE"], str(64 << 20))
        out = self.path("by-variable.d")
        done = self.seep("run", "-q", "--no-report", "--", "true", env=job_env(SEEP_OUT=out), cwd=self.dir)
        self.assertEqual(done.status, 0, repr(done))
        self.assertTrue(os.path.exists(os.path.join(out, "job.seepjob")))

    def test_a_budget_is_a_share_a_size_or_both(self):
        for given, exported in (("3%", "3%"), ("0.5%", "0.5%"), ("64MiB", str(64 << 20)), ("100%,1GiB", "100%,1073741824"),
                                ("off", "off")):
            self.assertEqual(self.environment("--overhead", given)["SEEP_OVERHEAD"], exported)
            self.assertEqual(self.environment(SEEP_OVERHEAD=given)["SEEP_OVERHEAD"], exported)
        self.assertNotIn("SEEP_OVERHEAD", self.environment(SEEP_OVERHEAD=None))
        for wrong in ("3", "%", "0%", "101%", "3%,", "3%64MiB", "64MiB,3%", "3%,4%", "1KiB", "-1%", "1e3%", "1.2.3%", "much"):
            done = self.seep("run", "-o", self.fresh(), "--overhead", wrong, "--", "true")
            self.assertEqual(done.status, 125, wrong)
            self.assertIn("--overhead %s is no budget" % wrong, self.one_line_error(done))

    def test_a_job_is_judged_for_the_machine_that_it_is_for(self):
        def limit(*options, **variables):
            out = self.fresh()
            done = self.seep("run", "-q", "-o", out, *options, "--", "true", env=job_env(**variables))
            self.assertEqual(done.status, 0, repr(done))
            with open(os.path.join(out, "report.json")) as f:
                job = json.load(f)["job"]
            return job["limit_bytes"], job["limit_kind"]

        here = limit()
        self.assertEqual(limit("--memory-limit", "64MiB"), (64 << 20, "--memory-limit"))
        self.assertEqual(limit(SEEP_MEMORY_LIMIT="32MiB"), (32 << 20, "--memory-limit"))
        self.assertEqual(limit("--memory-limit", "1000TiB"), here, "there is no more than there is")
        done = self.seep("run", "-o", self.fresh(), "--memory-limit", "much", "--", "true")
        self.assertEqual(done.status, 125)
        self.assertIn("--memory-limit much is not a size", self.one_line_error(done))

    def test_a_bad_variable_is_told(self):
        for name, value in (("SEEP_SAMPLE", "many"), ("SEEP_MAX_PROFILE", "3"), ("SEEP_MAX_PROFILE", "9GiB")):
            done = self.seep("run", "-o", self.fresh(), "--", "true", env=job_env(**{name: value}))
            self.assertEqual(done.status, 125)
            self.assertIn(name, self.one_line_error(done))

    def test_python_allocators_go_to_malloc_unless_the_job_says_otherwise(self):
        self.assertNotIn("PYTHONMALLOC", self.environment())
        self.assertEqual(self.environment("--python-allocators")["PYTHONMALLOC"], "malloc")
        self.assertEqual(self.environment(SEEP_PYTHON_ALLOCATORS="1")["PYTHONMALLOC"], "malloc")
        self.assertNotIn("PYTHONMALLOC", self.environment(SEEP_PYTHON_ALLOCATORS="no"))
        self.assertEqual(self.environment("--python-allocators", PYTHONMALLOC="debug")["PYTHONMALLOC"], "debug")

    def test_a_listed_step_that_was_not_reached_is_told(self):
        job = [SYSTEM_PYTHON, "-c", "import seep\nfor i in range(4): seep.step()"]
        for listed, said in (("2,4", ""), ("2,9", "step 9 of --holders was not reached: the job made 4 steps"),
                             ("9,2,7", "2 steps of --holders were not reached, the first of them 7: the job made 4 steps")):
            done = self.seep("run", "--no-report", "-o", self.fresh(), "--holders", listed, "--", *job)
            self.assertEqual((done.status, done.err.strip()), (0, "seep: " + said if said else ""))

    def test_quiet_by_variable(self):
        done = self.seep("run", "-o", self.fresh(), "--", "true", env=job_env(SEEP_QUIET="1"))
        self.assertEqual((done.status, done.stderr), (0, b""))

    def test_seep_under_seep(self):
        """The inner run is a job of the outer one and has a profile of its own."""
        outer, inner = self.fresh(), self.fresh()
        done = self.seep("run", "-q", "-o", outer, "--", SEEP, "run", "-q", "-o", inner, "--", "sh", "-c", "exit 5")
        self.assertEqual(done.status, 5, repr(done))
        for folder in (outer, inner):
            self.assertTrue(os.path.exists(os.path.join(folder, "report.json")), folder)
        done = self.seep("run", "-q", "-o", self.fresh(), "--", SEEP, "run", "-q", "--", "true", cwd=self.dir)
        self.assertEqual(done.status, 0, repr(done))


class PythonModule(LauncherCase):
    def test_without_seep_the_module_does_nothing(self):
        done = self.command([SYSTEM_PYTHON, "-c", "import seep; seep.step(); seep.epoch(); print(seep.active())"],
                            env=job_env(PYTHONPATH=str(ROOT / "preload/python")))
        self.assertEqual((done.status, done.stdout), (0, b"False\n"), repr(done))

    def test_under_seep_it_is_there_and_active(self):
        done = self.seep("run", "-q", "--no-report", "-o", self.fresh(), "--", SYSTEM_PYTHON, "-c",
                         "import seep; seep.step(); seep.epoch(); print(seep.active())")
        self.assertEqual((done.status, done.stdout), (0, b"True\n"), repr(done))

    def test_a_second_copy_of_the_package_is_as_good(self):
        """As from a wheel, or copied beside the job: neither yields to the other without an end."""
        shutil.copytree(ROOT / "preload/python/seep", self.path("seep"))
        script = "import seep; seep.step(); print(seep.active(), seep.__file__, hasattr(seep, '_in_place_of_another'))"
        for first in (self.dir, str(ROOT / "build/python")):
            done = self.seep("run", "-q", "--no-report", "-o", self.fresh(), "--", SYSTEM_PYTHON, "-c", script,
                             env=job_env(PYTHONPATH=first), cwd=self.dir)
            self.assertEqual(done.status, 0, repr(done))
            self.assertTrue(done.stdout.startswith(b"True /") and done.stdout.endswith(b"False\n"), repr(done))

    def test_a_package_of_that_name_that_the_job_has_wins_wherever_it_lies(self):
        folder = self.path("late")
        os.makedirs(os.path.join(folder, "seep"))
        with open(os.path.join(folder, "seep", "__init__.py"), "w") as f:
            f.write("from seep.part import mine\n")
        with open(os.path.join(folder, "seep", "part.py"), "w") as f:
            f.write("mine = 'the job has it'\n")
        shutil.copytree(ROOT / "preload/python/seep", self.path("installed", "seep"))
        os.makedirs(self.path("linked"))
        os.symlink(os.path.join(MODULES, "seep"), self.path("linked", "seep"))
        for before in ([], [self.path("installed")], [self.path("linked")]):
            job = "import sys; sys.path += %r; import seep; print(seep.mine, seep.part.__name__)" % (before + [folder])
            done = self.seep("run", "-q", "--no-report", "-o", self.fresh(), "--", SYSTEM_PYTHON, "-c", job)
            self.assertEqual((done.status, done.stdout), (0, b"the job has it seep.part\n"), repr(done))


if __name__ == "__main__":
    unittest.main()
