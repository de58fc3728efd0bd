"""The job does not notice: output, errno, signals, descriptors."""
import os
import pty
import shutil
import signal
import subprocess
import time
import unittest

from tests.e2e.alike import JEMALLOC, MIMALLOC, TCMALLOC, Alike
from tests.e2e.support import (SEEP, SOURCES, SYSTEM_PYTHON, compile_c, functions, job_env, kill_session, needs,
                               sum_sites)


class Output(Alike):
    def test_bytes_of_stdout_and_stderr(self):
        script = "import os; os.write(1, bytes(range(256)) * 500); os.write(2, bytes(range(256)) * 300)"
        self.alike([SYSTEM_PYTHON, "-c", script])

    def test_stdin_passes_through(self):
        data = os.urandom(1 << 20)
        done = self.run_seep(["cat"], stdin=data).done
        self.assertEqual(done.stdout, data)

    def test_closed_standard_descriptors_stay_closed(self):
        """With a standard descriptor closed, no file of ours may land on it and swallow the job's output."""
        look = "import os,sys\nfor fd in range(3):\n try: os.fstat(fd); s='open'\n except OSError: s='closed'\n " \
               "open(sys.argv[1], 'a').write('%d %s\\n' % (fd, s))\n"
        for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            said = []
            for with_seep in (False, True):
                out = self.path("look%d" % len(os.listdir(self.dir)))
                argv = [SYSTEM_PYTHON, "-S", "-c", look, out]

                def close(fds=closed):
                    for fd in fds:
                        os.close(fd)
                if with_seep:
                    profile = self.run_seep(argv, preexec_fn=close)
                    self.assertTrue(profile.report["processes"])
                else:
                    self.command(argv, preexec_fn=close)
                with open(out) as f:
                    said.append(f.read())
            self.assertEqual(said[0], said[1], closed)

    def test_closed_stderr_with_a_summary_to_print(self):
        folder = self.fresh()
        done = self.seep("run", "-o", folder, "--", "echo", "hello", preexec_fn=lambda: os.close(2))
        self.assertEqual((done.status, done.stdout), (0, b"hello\n"))
        self.assertTrue(os.path.exists(os.path.join(folder, "report.json")))

    def test_stdout_that_nobody_reads(self):
        read, write = os.pipe()
        os.close(read)
        folder = self.fresh()
        p = subprocess.Popen([SEEP, "run", "-o", folder, "--", "sh", "-c", "exit 3"], stdout=write,
                             stderr=write, stdin=subprocess.DEVNULL, env=job_env())
        os.close(write)
        self.assertEqual(p.wait(30), 3, "the summary's broken pipe must not change the status")

    def test_process_looks_as_without(self):
        self.alike([self.subject("transparent"), "looks"])

    def test_environment_holds_nothing_but_ours(self):
        plain = self.command(["env", "-0"], env=job_env(FOO="a\nb", EMPTY=""))
        done = self.run_seep(["env", "-0"], env=job_env(FOO="a\nb", EMPTY="")).done

        def rest(out):
            return sorted(x for x in out.split(b"\0")
                          if x and not x.startswith((b"LD_PRELOAD=", b"SEEP_", b"_=", b"PYTHONPATH=")))
        self.assertEqual(rest(plain.stdout), rest(done.stdout))

    def test_arguments_pass_through(self):
        argv = ["printf", "[%s]", "", " ", "ü", "a\nb", "--", "-o", "*"]
        self.alike(argv)

    def test_report_holds_no_environment(self):
        folder = self.fresh()
        self.run_seep(["true"], folder=folder, env=job_env(SECRET_TOKEN="hunter2hunter2"))
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as f:
                self.assertNotIn(b"hunter2hunter2", f.read(), name)


class ErrnoAndSignals(Alike):
    def test_errno_is_kept(self):
        self.subject_ok("errno")

    def test_a_thread_s_first_call_needs_no_memory(self):
        self.subject_ok("first-call")

    def test_an_allocation_that_fails_before_seep_has_started_says_so(self):
        library = compile_c(self, SOURCES / "lib/before_start.c", self.path("libbefore.so"), "-shared", "-fPIC",
                            "-Wl,-z,initfirst")
        main = self.path("main.c")
        with open(main, "w") as f:
            f.write("int main(void) { return 0; }\n")
        program = compile_c(self, main, self.path("main"), "-Wl,--no-as-needed", library)
        self.assertEqual(self.alike([program]).done.stdout, b"as it should\n")

    def test_alarms_while_allocating(self):
        self.subject_ok("alarms", "handlers")

    def test_maps_made_in_a_signal_handler_do_not_deadlock(self):
        self.subject_ok("map-in-handler", "handlers", timeout=30)

    def test_exit_from_a_signal_handler_does_not_deadlock(self):
        self.subject_ok("exit-in-handler", "handlers", timeout=60)

    def test_jumps_out_of_a_signal_handler(self):
        self.subject_ok("jump", "handlers")

    def test_malloc_in_a_handler_on_a_small_stack(self):
        self.subject_ok("malloc-in-handler", "handlers")

    def test_threads_with_the_smallest_stack(self):
        self.subject_ok("small-stack")

    def test_very_deep_stacks(self):
        self.subject_ok("deep")

    def test_coroutines_on_stacks_from_malloc(self):
        self.subject_ok("coroutines")

    def test_code_without_unwind_information(self):
        self.subject_ok("jit")

    def test_backtrace_of_the_job_is_its_own(self):
        self.subject_ok("backtrace")

    # Short sleeps: Python does not run its handler for a signal that comes just before a sleep begins.
    INTERRUPTED = ("import os, signal, time\nsignal.signal(signal.SIGINT, lambda *a: os._exit(5))\n"
                   "print('ready', flush=True)\nfor _ in range(300):\n    time.sleep(.1)\n")

    def test_ctrl_c_at_the_terminal_ends_the_job_not_the_report(self):
        """Ctrl-C goes to the job and to seep: the job decides, seep waits and reports."""
        folder = self.fresh()
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(SEEP, [SEEP, "run", "-q", "-o", folder, "--", SYSTEM_PYTHON, "-c", self.INTERRUPTED], job_env())
        self.addCleanup(os.close, terminal)
        self.addCleanup(kill_session, pid)
        self.until(terminal, b"ready")
        os.write(terminal, b"\x03")
        deadline = time.monotonic() + 20
        done = status = 0
        while not done and time.monotonic() < deadline:
            done, status = os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)
        self.assertTrue(done, "hung after Ctrl-C")
        self.assertEqual(os.WEXITSTATUS(status), 5)
        self.assertTrue(os.path.exists(os.path.join(folder, "report.json")))

    def test_interrupting_the_whole_group_ends_the_job_not_the_report(self):
        folder = self.fresh()
        p = subprocess.Popen([SEEP, "run", "-q", "-o", folder, "--", SYSTEM_PYTHON, "-c", self.INTERRUPTED],
                             env=job_env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(kill_session, p.pid)
        self.assertEqual(self.until(p.stdout.fileno(), b"\n"), b"ready\n")
        os.killpg(p.pid, signal.SIGINT)
        self.assertEqual(p.wait(20), 5)
        self.assertTrue(os.path.exists(os.path.join(folder, "report.json")))

    @needs(shutil.which("g++"), "no g++")
    def test_cpp_exceptions_and_new(self):
        source = self.path("throws.cc")
        with open(source, "w") as f:
            f.write("""
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>
struct Guard { int *n; ~Guard() { ++*n; } };
__attribute__((noipa)) int deep(int d, int *unwound) {
    Guard g{unwound};
    if (d == 0) throw std::runtime_error("from the bottom " + std::string(100, 'x'));
    return deep(d - 1, unwound) + 1;
}
__attribute__((noipa)) int *subject_new_array(size_t n) { int *p = new int[n]; p[0] = 1; asm volatile(""); return p; }
int main() {
    int unwound = 0, caught = 0;
    for (int i = 0; i < 1000; i++)
        try { deep(i % 50, &unwound); } catch (const std::exception &e) { caught++; }
    try { std::vector<char> v; v.resize(size_t(1) << 60); } catch (const std::bad_alloc &) { caught++; }
    catch (const std::length_error &) { caught++; }
    for (int i = 0; i < 100; i++) subject_new_array(250);
    std::printf("%d %d\\n", caught, unwound);
    return 0;
}
""")
        program = self.path("throws")
        done = self.command(["g++", "-O2", "-g", "-o", program, source])
        self.assertEqual(done.status, 0, repr(done))
        profile = self.alike([program])
        seen = [s for s in profile.report["sites"] if any("subject_new_array" in (f or "") for f in functions(s))]
        self.assertEqual(sum(s["allocations"] for s in seen), 100)
        self.assertEqual(sum(s["live_bytes"] for s in seen), 100 * 1000)
        self.assertTrue(any((f or "").startswith("subject_new_array(") or f == "subject_new_array"
                            for s in seen for f in functions(s)), "C++ names are demangled")
        for allocator in (JEMALLOC, TCMALLOC, MIMALLOC):
            if allocator:
                env = job_env(LD_PRELOAD=allocator)
                if self.command([program], env=env).status != 0:  # a C build of mimalloc aborts where it should throw
                    continue
                profile = self.alike([program], env=env)
                seen = [s for s in profile.report["sites"]
                        if any("subject_new_array" in (f or "") for f in functions(s))]
                self.assertEqual(sum(s["live_bytes"] for s in seen), 100 * 1000, allocator)


class Descriptors(Alike):
    def test_a_job_that_closes_everything_moves_away_and_forks(self):
        for folder in (self.fresh(), "relative.d"):
            profile = self.run_seep([self.subject("transparent"), "closes-all"], folder=folder, cwd=self.dir)
            self.assertEqual(profile.done.stdout, b"ok\n")
            report = self.report(os.path.join(self.dir, folder), "--all")
            self.assertEqual(sum_sites(report, "late_malloc")["allocations"], 150)

    def test_a_job_with_files_on_every_descriptor_keeps_them_untouched(self):
        self.subject_ok("reuses-descriptors")

    @needs(os.geteuid() == 0, "needs root")
    def test_a_job_that_drops_its_rights(self):
        profile = self.subject_ok("drops-rights")
        self.assertGreaterEqual(sum_sites(profile.report, "late_malloc")["allocations"], 20)

    @needs(os.geteuid() == 0, "needs root")
    def test_a_job_that_changes_its_root(self):
        profile = self.subject_ok("chroot")
        self.assertGreaterEqual(sum_sites(profile.report, "late_malloc")["allocations"], 10)


if __name__ == "__main__":
    unittest.main()
