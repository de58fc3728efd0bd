"""The job does not notice: status, output, errno, signals, limits, other allocators, and its bad luck.

Longer than most files: one class a promise, all in one place to see what is promised."""
import glob
import os
import pty
import resource
import shutil
import signal
import subprocess
import time
import unittest

from tests.e2e.support import (SHIM, SOURCES, SYSTEM_PYTHON, SeepCase, compile_c, functions, job_env, needs,
                               sum_sites)


def library(*names):
    for name in names:
        for folder in ("/usr/lib/*", "/usr/lib", "/lib/*", "/usr/local/lib"):
            found = sorted(glob.glob(os.path.join(folder, name)))
            if found:
                return found[0]
    return None


JEMALLOC = library("libjemalloc.so.2", "libjemalloc.so.[0-9]")
TCMALLOC = library("libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so.[0-9]", "libtcmalloc.so.4")
MIMALLOC = library("libmimalloc.so.2", "libmimalloc.so.[0-9]*")


class Alike(SeepCase):
    """Runs a command without and with seep."""

    def alike(self, argv, **kw):
        plain = self.command(argv, **kw)
        profile = self.run_seep(argv, status=None, **kw)
        done = profile.done
        status = plain.status if plain.status >= 0 else 128 - plain.status
        self.assertEqual((done.status, done.stdout, done.stderr), (status, plain.stdout, plain.stderr),
                         "without seep %r\nwith seep %r" % (plain, done))
        return profile

    def subject_ok(self, section, subject="transparent", **kw):
        profile = self.run_seep([self.subject(subject), section], **kw)
        self.assertEqual(profile.done.stdout, b"ok\n", repr(profile.done))
        return profile


class Statuses(Alike):
    def test_exit_status_passes_through(self):
        for status in (0, 1, 2, 42, 124, 125, 126, 127, 128, 137, 255):
            self.alike(["sh", "-c", "exit %d" % status])

    def test_killed_by_a_signal_is_128_plus_n(self):
        for number in (1, 2, 3, 6, 9, 11, 13, 14, 15, 24, 25):
            if signal.getsignal(number) == signal.SIG_IGN and number not in (13, 25):
                continue  # ignored here (nohup), so it is in every job; Popen restores 13 and 25
            profile = self.run_seep(["sh", "-c", "kill -%d $$" % number], status=128 + number)
            exits = [p["exit"] for p in profile.report["processes"]]
            self.assertIn({"kind": "signal", "value": number}, exits)

    def test_missing_command_is_127(self):
        done = self.seep("run", "-q", "-o", self.fresh(), "--", "/nonexistent/program")
        self.assertEqual(done.status, 127)
        self.assertIn("/nonexistent/program", self.one_line_error(done))
        done = self.seep("run", "-q", "-o", self.fresh(), "--", "no-such-command-anywhere")
        self.assertEqual(done.status, 127)
        self.one_line_error(done)

    def test_not_executable_is_126(self):
        for path in ("/etc/passwd", "/"):
            done = self.seep("run", "-q", "-o", self.fresh(), "--", path)
            self.assertEqual(done.status, 126, repr(done))
            self.one_line_error(done)

    def test_a_failed_start_leaves_no_folder_behind(self):
        folder = self.fresh()
        self.seep("run", "-q", "-o", folder, "--", "/nonexistent/program")
        self.assertFalse(os.path.exists(folder))

    def test_wrong_usage_is_125_with_one_line(self):
        for args in (("run",), ("run", "-q"), ("run", "--no-such-option", "--", "true"), ("run", "-o"),
                     ("run", "-o", self.fresh(), "--"), ("run", "--sample", "many", "--", "true"),
                     ("run", "--max-profile", "-5", "--", "true")):
            done = self.seep(*args, cwd=self.dir)
            self.assertEqual(done.status, 125, "%s %r" % (args, done))
            self.one_line_error(done)

    def test_unwritable_folder_is_125_and_the_job_does_not_run(self):
        with open(self.path("file"), "w"):
            pass
        for folder in ("/proc/seep.d", "/dev/null/x.d", self.path("file"), self.path("file", "x.d"),
                       "/nonexistent/a/b/x.d", ""):
            done = self.seep("run", "-q", "-o", folder, "--", "sh", "-c", "echo ran")
            self.assertEqual((done.status, done.stdout), (125, b""), "%r %r" % (folder, done))
            self.one_line_error(done)

    def test_a_folder_without_write_permission_is_125(self):
        folder = self.path("closed")
        os.mkdir(folder, 0o555)
        os.chmod(self.dir, 0o755)

        def drop():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
        done = self.seep("run", "-q", "-o", os.path.join(folder, "x.d"), "--", "sh", "-c", "echo ran", preexec_fn=drop)
        self.assertEqual((done.status, done.stdout), (125, b""), repr(done))
        self.one_line_error(done)

    def test_a_folder_that_exists(self):
        empty = self.path("empty.d")
        os.mkdir(empty)
        profile = self.run_seep([self.subject("counts_heap"), "malloc"], folder=empty)
        first = profile.report["job"]["started_unix_s"]
        # A second run into it: refused, or a profile of its own job alone; never a mixture.
        done = self.seep("run", "-q", "-o", empty, "--", self.subject("counts_heap"), "calloc")
        report = self.report(empty, "--all")
        names = {f for s in report["sites"] for f in functions(s)}
        if done.status == 125:
            self.one_line_error(done)
            self.assertEqual(report["job"]["started_unix_s"], first)
            self.assertIn("subject_malloc", names)
        else:
            self.assertEqual(done.status, 0, repr(done))
            self.assertIn("subject_calloc", names)
            self.assertNotIn("subject_malloc", names)

    def test_a_folder_with_other_files_is_left_alone(self):
        folder = self.path("work")
        os.mkdir(folder)
        with open(os.path.join(folder, "thesis.txt"), "w") as f:
            f.write("precious")
        done = self.seep("run", "-q", "-o", folder, "--", "true")
        self.assertIn(done.status, (0, 125), repr(done))
        with open(os.path.join(folder, "thesis.txt")) as f:
            self.assertEqual(f.read(), "precious")

    def test_default_folder_is_named_after_the_command(self):
        done = self.seep("run", "-q", "--", "sh", "-c", "exit 0", cwd=self.dir)
        self.assertEqual(done.status, 0, repr(done))
        made = [n for n in os.listdir(self.dir) if n.startswith("seep.sh.") and n.endswith(".d")]
        self.assertEqual(len(made), 1, os.listdir(self.dir))

    def test_summary_goes_to_stderr_only_and_quiet_is_quiet(self):
        for options, quiet in (((), False), (("-q",), True)):
            done = self.seep("run", *options, "-o", self.fresh(), "--", "echo", "hello")
            self.assertEqual((done.status, done.stdout), (0, b"hello\n"))
            self.assertEqual(done.stderr == b"", quiet, repr(done))
            self.assertNotIn("\033", done.err, "colour without a terminal")

    def test_options_after_the_command_are_the_commands(self):
        self.assertEqual(self.run_seep(["echo", "-q", "--help", "-o", "x"]).done.stdout, b"-q --help -o x\n")


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
        p = subprocess.Popen([self.seep_path(), "run", "-o", folder, "--", "sh", "-c", "exit 3"], stdout=write,
                             stderr=write, stdin=subprocess.DEVNULL, env=job_env())
        os.close(write)
        self.assertEqual(p.wait(30), 3, "the summary's broken pipe must not change the status")

    @staticmethod
    def seep_path():
        from tests.e2e.support import SEEP
        return SEEP

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

    def test_alarms_while_allocating(self):
        self.subject_ok("alarms")

    def test_maps_made_in_a_signal_handler_do_not_deadlock(self):
        self.subject_ok("map-in-handler", timeout=30)

    def test_exit_from_a_signal_handler_does_not_deadlock(self):
        self.subject_ok("exit-in-handler", timeout=60)

    def test_jumps_out_of_a_signal_handler(self):
        self.subject_ok("jump")

    def test_malloc_in_a_handler_on_a_small_stack(self):
        self.subject_ok("malloc-in-handler")

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

    INTERRUPTED = ("import os, signal, time\nsignal.signal(signal.SIGINT, lambda *a: os._exit(5))\n"
                   "print('ready', flush=True)\ntime.sleep(30)\n")

    def test_ctrl_c_at_the_terminal_ends_the_job_not_the_report(self):
        """Ctrl-C goes to the job and to seep: the job decides, seep waits and reports."""
        from tests.e2e.support import SEEP, kill_session
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
        from tests.e2e.support import SEEP, kill_session
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


def limited(what, soft, hard=None):
    return lambda: resource.setrlimit(what, (soft, soft if hard is None else hard))


class Limits(Alike):
    def under(self, ulimit, section="work"):
        """The limit holds for the job, and for seep too: set by a shell around, and by one inside."""
        inside = self.run_seep(["bash", "-c", "ulimit %s && exec %s %s" % (ulimit, self.subject("transparent"), section)])
        self.assertEqual(inside.done.stdout, b"ok\n", "ulimit %s: %r" % (ulimit, inside.done))
        return inside

    def test_address_space(self):
        for kib in (2000000, 400000, 100000, 30000, 12000):
            profile = self.under("-v %d" % kib)
            report = profile.report
            seen = sum_sites(report, "late_malloc")["allocations"]
            self.assertTrue(seen == 1000 or report["job"]["dropped_events"] > 0, "%d KiB: %d" % (kib, seen))

    def test_address_space_around_seep_itself(self):
        done = self.seep("run", "-q", "-o", self.fresh(), "--", self.subject("transparent"), "work",
                         preexec_fn=limited(resource.RLIMIT_AS, 300 << 20))
        self.assertEqual((done.status, done.stdout), (0, b"ok\n"), repr(done))

    def test_data_segment(self):
        self.under("-d 60000")

    def test_open_files(self):
        for n in (16, 5, 4):
            self.under("-n %d" % n)

    def test_file_size_must_not_kill_the_job(self):
        for blocks in (1000, 100, 1):  # not 0: its own "ok" goes to a file
            profile = self.under("-f %d" % blocks)
            report = profile.report
            seen = sum_sites(report, "late_malloc")["allocations"]
            self.assertTrue(seen == 1000 or report["job"]["dropped_events"] > 0 or report["coverage"]["not_seen"],
                            "%d blocks: %d" % (blocks, seen))

    def test_the_jobs_own_file_size_signal_still_comes(self):
        self.run_seep([self.subject("transparent"), "own-xfsz"], status=128 + signal.SIGXFSZ)

    def test_stack_limit(self):
        self.under("-s 200")

    def test_locked_memory(self):
        self.under("-l 0")


class FullDisk(Alike):
    def disk(self, size):
        folder = self.path("disk%s" % size)
        os.mkdir(folder)
        done = self.command(["mount", "-t", "tmpfs", "-o", "size=%s" % size, "tmpfs", folder])
        if done.status != 0:
            self.skipTest("cannot mount a tmpfs here: " + done.err.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", folder])
        return folder

    def test_a_disk_too_small_for_the_profile(self):
        for size in ("8m", "2m", "1m", "256k", "64k"):
            folder = os.path.join(self.disk(size), "p.d")
            done = self.seep("run", "-q", "-o", folder, "--", self.subject("transparent"), "many-stacks", timeout=60)
            if done.status == 125 and size.endswith("k"):  # no room for even the smallest profile: refused
                self.assertEqual(done.stdout, b"")
                self.one_line_error(done)
                continue
            self.assertEqual((done.status, done.stdout), (0, b"ok\n"), "%s: %r" % (size, done))
            read = self.seep("report", folder, "--format", "json", "--all")
            self.assertIn(read.status, (0, 2), "%s: %r" % (size, read))
            if read.status == 2:
                self.one_line_error(read)
                continue
            report = self.valid(read.json())
            seen = sum_sites(report, "path_of")["allocations"]
            if seen < 1 << 17:
                self.assertGreater(report["job"]["dropped_events"], 0, "%s: %d of %d seen" % (size, seen, 1 << 17))

    def test_a_disk_that_is_full_from_the_start(self):
        disk = self.disk("1m")
        filler = os.open(os.path.join(disk, "filler"), os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(filler, b"x" * 4096) > 0:
                pass
        except OSError:
            pass
        os.close(filler)
        done = self.seep("run", "-q", "-o", os.path.join(disk, "p.d"), "--", self.subject("transparent"), "work")
        if done.status == 125:
            self.one_line_error(done)
        else:
            self.assertEqual((done.status, done.stdout), (0, b"ok\n"), repr(done))

    def test_a_forking_job_on_a_small_disk(self):
        folder = os.path.join(self.disk("1m"), "p.d")
        done = self.seep("run", "-q", "-o", folder, "--", self.subject("forks"), "many")
        self.assertEqual(done.status, 0, repr(done))
        self.assertEqual(len(done.stdout.splitlines()), 200)


class Refused(Alike):
    """What a preload cannot reach is refused with a word."""

    def refused(self, program, word):
        done = self.seep("run", "-q", "-o", self.fresh(), "--", program)
        self.assertEqual(done.status, 125, repr(done))
        self.assertEqual(done.stdout, b"", "it did run")
        self.assertIn(word, self.one_line_error(done).lower())

    def source(self):
        path = self.path("hello.c")
        with open(path, "w") as f:
            f.write('#include <unistd.h>\nint main(void) { return write(1, "ran\\n", 4) != 4; }\n')
        return path

    def test_static_program(self):
        done = self.command(["cc", "-static", "-o", self.path("static"), self.source()])
        if done.status != 0:
            self.skipTest("no static libc here")
        self.refused(self.path("static"), "static")
        done = self.command(["cc", "-static-pie", "-o", self.path("static-pie"), self.source()])
        if done.status == 0:
            self.refused(self.path("static-pie"), "static")

    @needs(os.geteuid() == 0, "needs root")
    def test_setuid_program(self):
        os.chmod(self.dir, 0o755)
        program = compile_c(self, self.source(), self.path("setuid"))
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        if self.command(["findmnt", "-n", "-o", "OPTIONS", "-T", self.dir]).stdout.find(b"nosuid") >= 0:
            self.skipTest("nosuid file system")
        self.refused(program, "setuid")

    def test_a_static_program_started_by_the_job_does_not_disturb_it(self):
        done = self.command(["cc", "-static", "-o", self.path("static"), self.source()])
        if done.status != 0:
            self.skipTest("no static libc here")
        done = self.run_seep(["sh", "-c", self.path("static") + "; echo after"]).done
        self.assertEqual(done.stdout, b"ran\nafter\n")

    def test_a_file_that_is_no_program(self):
        path = self.path("rubbish")
        with open(path, "wb") as f:
            f.write(b"\x7fELF" + os.urandom(500))
        os.chmod(path, 0o755)
        done = self.seep("run", "-q", "-o", self.fresh(), "--", path)
        self.assertIn(done.status, (125, 126), repr(done))
        self.one_line_error(done)

    def test_scripts_run(self):
        path = self.path("script")
        with open(path, "w") as f:
            f.write("#!/bin/sh\necho script $1\nexit 4\n")
        os.chmod(path, 0o755)
        self.alike([path, "x"])


class OtherAllocators(Alike):
    SECTIONS = (("counts_heap", "malloc"), ("counts_heap", "calloc"), ("counts_heap", "reallocarray"),
                ("counts_heap", "events"), ("counts_heap", "storm"), ("counts_threads", "cross"),
                ("counts_threads", "churn"))

    def hold(self, profile):
        for function, said in profile.done.json().items():
            seen = sum_sites(profile.report, function, "host")
            for key in ("allocations", "frees", "allocated_bytes", "live_bytes"):
                self.assertEqual(seen[key], said[key], "%s %s" % (function, key))
            self.assertEqual(sum_sites(profile.report, function, "mmap")["allocations"], 0,
                             "what the allocator maps for itself is not the job's map")

    def preloaded(self, path):
        for subject, section in self.SECTIONS:
            argv = [self.subject(subject), section]
            self.hold(self.run_seep(argv, env=job_env(LD_PRELOAD=path)))
        for section in ("errno", "alarms", "small-stack"):
            env = job_env(LD_PRELOAD=path)
            if self.command([self.subject("transparent"), section], env=env).status == 0:  # mimalloc changes errno
                self.subject_ok(section, env=env)
        done = self.run_seep([self.subject("forks"), "threads"], env=job_env(LD_PRELOAD=path)).done
        self.assertEqual(len(done.stdout.splitlines()), 60)

    def linked(self, path):
        program = compile_c(self, SOURCES / "counts_heap.c", self.path("linked"), "-D_GNU_SOURCE", "-I" + str(SOURCES),
                            "-Wl,--no-as-needed", path, "-ldl")
        for section in ("malloc", "events", "storm"):
            self.hold(self.run_seep([program, section]))

    @needs(JEMALLOC, "no jemalloc")
    def test_jemalloc_preloaded(self):
        self.preloaded(JEMALLOC)

    @needs(TCMALLOC, "no tcmalloc")
    def test_tcmalloc_preloaded(self):
        self.preloaded(TCMALLOC)

    @needs(MIMALLOC, "no mimalloc")
    def test_mimalloc_preloaded(self):
        self.preloaded(MIMALLOC)

    @needs(JEMALLOC, "no jemalloc")
    def test_jemalloc_linked(self):
        self.linked(JEMALLOC)

    @needs(TCMALLOC, "no tcmalloc")
    def test_tcmalloc_linked(self):
        self.linked(TCMALLOC)

    @needs(JEMALLOC, "no jemalloc")
    def test_jemalloc_under_python(self):
        for python in (SYSTEM_PYTHON,):
            done = self.run_seep([python, "-c", "import json, decimal; print(sum(range(10)))"],
                                 env=job_env(LD_PRELOAD=JEMALLOC)).done
            self.assertEqual(done.stdout, b"45\n")

    def test_the_jobs_preload_is_kept(self):
        """A library the user preloads is still there for the job and its children."""
        source = self.path("mark.c")
        with open(source, "w") as f:
            f.write("int seep_test_mark(void) { return 77; }\n")
        lib = compile_c(self, source, self.path("mark.so"), "-shared", "-fPIC")
        script = ("import ctypes, subprocess, sys\nprint(ctypes.CDLL(None).seep_test_mark())\n"
                  "if len(sys.argv) < 2: subprocess.check_call([sys.executable, __file__, 'child'])\n")
        with open(self.path("mark.py"), "w") as f:
            f.write(script)
        profile = self.run_seep([SYSTEM_PYTHON, "-u", self.path("mark.py")], env=job_env(LD_PRELOAD=lib))
        self.assertEqual(profile.done.stdout, b"77\n77\n")
        self.assertEqual(len([p for p in profile.report["processes"] if p["python"]]), 2)


class WithoutLauncher(Alike):
    def test_a_preload_without_an_output_folder_leaves_the_job_alone(self):
        done = self.command(["sh", "-c", "echo hello; exit 3"], env=job_env(LD_PRELOAD=SHIM), cwd=self.dir)
        self.assertEqual((done.status, done.stdout), (3, b"hello\n"), repr(done))

    def test_an_output_folder_that_cannot_be_made_leaves_the_job_alone(self):
        for folder in ("/proc/nope", "/dev/null/x", "", "x" * 5000):
            done = self.command(["sh", "-c", "echo hello; exit 3"], env=job_env(LD_PRELOAD=SHIM, SEEP_OUT=folder),
                                cwd=self.dir)
            self.assertEqual((done.status, done.stdout), (3, b"hello\n"), repr(done))
            self.assertLessEqual(len(done.err.splitlines()), 1, repr(done))

    def test_rubbish_in_the_variables_leaves_the_job_alone(self):
        folder = self.fresh()
        for name in ("SEEP_SAMPLE", "SEEP_MAX_PROFILE", "SEEP_JOB", "SEEP_PARENT"):
            for value in ("", "x", "-1", "99999999999999999999", "\xff\xfe", "1" * 4000):
                done = self.command(["sh", "-c", "echo hello; exit 3"],
                                    env=job_env(LD_PRELOAD=SHIM, SEEP_OUT=folder, **{name: value}))
                self.assertEqual((done.status, done.stdout), (3, b"hello\n"), "%s=%r %r" % (name, value, done))


if __name__ == "__main__":
    unittest.main()
