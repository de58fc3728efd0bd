"""What the outside tests share: running `seep` under a watchdog, reading and validating reports.

Environment: SEEP (the command, default build/seep), SEEP_SHIM (its library, beside it), SEEP_SUBJECTS (default
build/subjects), SEEP_JOB_PYTHON (for jobs that any Python can run, default Debian's),
SEEP_TEST_FULL=1 (the whole matrix instead of the quick part), SEEP_TEST_SLOWER (how many times longer things take here:
on an emulated machine, ten times)."""
import glob
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEP = os.path.abspath(os.environ.get("SEEP", str(ROOT / "build/seep")))
SHIM = os.path.abspath(os.environ.get("SEEP_SHIM", str(pathlib.Path(SEEP).parent / "libseep.so")))
MODULES = os.path.join(os.path.dirname(SHIM), "python")  # what `seep run` puts on a job's path
SUBJECTS = pathlib.Path(os.environ.get("SEEP_SUBJECTS", str(ROOT / "build/subjects"))).resolve()
SOURCES = ROOT / "tests/subjects"
ZOO = ROOT / "tests/zoo"
SCHEMA = ROOT / "docs/report.schema.json"
SITES_CHECKED = 200
LOOK_ATTEMPTS = 5
WRAPPED = 1 << 62  # counts are unsigned: one that fell below 0 shows as more than this
SLOWER = float(os.environ.get("SEEP_TEST_SLOWER", "1"))
FULL = os.environ.get("SEEP_TEST_FULL", "") not in ("", "0")
SYSTEM_PYTHON = os.environ.get("SEEP_JOB_PYTHON", "/usr/bin/python3")
# For jobs of a second of which only the steps are asked: reading who holds what would take as long as they do.
NO_LOOKS = ("--holders", "off")

# What a shell's background job or nohup ignores, every child would ignore, too; a handler that does nothing ends with
# exec. Python ignores SIGPIPE and SIGXFSZ itself, and Popen restores them.
for _number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)
# usage: -c FILTERED ROWS PROGRAM...: runs it under a seccomp filter.
FILTERED = """
import ast, ctypes, os, struct, sys
libc, rows = ctypes.CDLL(None), ast.literal_eval(sys.argv[1]) + [(0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows), 8 * len(rows))
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)), 0, 0):
    sys.exit(99)
os.execv(sys.argv[2], sys.argv[2:])
"""

_validator = None


def validator():
    global _validator
    if _validator is None:
        import jsonschema

        schema = json.loads(SCHEMA.read_text())
        cls = jsonschema.validators.validator_for(schema)
        cls.check_schema(schema)
        _validator = cls(schema)
    return _validator


class Done:
    """A finished command."""

    def __init__(self, argv, status, stdout, stderr):
        self.argv, self.status, self.stdout, self.stderr = argv, status, stdout, stderr

    @property
    def err(self):
        return self.stderr.decode("utf-8", "replace")

    def json(self):
        return json.loads(self.stdout)

    def __repr__(self):
        return "%s\n  status %s\n  stdout %r\n  stderr %s" % (
            " ".join(map(str, self.argv)), self.status, self.stdout[-2000:], self.err[-4000:])


class Profile:
    """A run under `seep run` and where its profile lies."""

    def __init__(self, test, done, folder):
        self.test, self.done, self.folder = test, done, folder
        self._all = None

    @property
    def written(self):
        """The report.json that `seep run` left."""
        path = os.path.join(self.folder, "report.json")
        self.test.assertTrue(os.path.exists(path), "no report.json from %r" % self.done)
        with open(path) as f:
            return self.test.valid(json.load(f))

    @property
    def report(self):
        """The report with every site."""
        if self._all is None:
            self._all = self.test.report(self.folder, "--all")
        return self._all


def job_env(**changes):
    env = {k: v for k, v in os.environ.items() if not k.startswith("SEEP_") and k != "LD_PRELOAD"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["SEEP_OVERHEAD"] = "off"  # on a busy machine seep costs more, and would sample
    for key, value in changes.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = str(value)
    return env


class SeepCase(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.assertTrue(os.access(SEEP, os.X_OK), "%s is missing: run make first" % SEEP)
        self.dir = tempfile.mkdtemp(prefix="seep-test-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self._n = 0

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def fresh(self, stem="profile"):
        self._n += 1
        return self.path("%s%d.d" % (stem, self._n))

    def command_filtered(self, rows, argv, **options):
        """The same under a seccomp filter of these rows (code, jump if true, jump if false, value) and one that allows
        all else; argv[0] is a path."""
        done = self.command([SYSTEM_PYTHON, "-c", FILTERED, list(rows), *argv], **options)
        if done.status == 99:
            self.skipTest("no filter can be made here")
        return done

    def command(self, argv, timeout=60, env=None, cwd=None, stdin=subprocess.DEVNULL, preexec_fn=None,
                pass_fds=()):
        """Runs argv in a session of its own; one that outlives its time is killed and fails the test.
        Output goes through files, so that a daemon left behind cannot hold the test up."""
        argv = [str(a) for a in argv]
        data = None
        if isinstance(stdin, bytes):
            data = stdin
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            p = subprocess.Popen(argv, stdin=subprocess.PIPE if data is not None else stdin, stdout=out,
                                 stderr=err, env=job_env() if env is None else env, cwd=cwd,
                                 start_new_session=True, preexec_fn=preexec_fn, pass_fds=pass_fds)
            hung = False
            try:
                if data is not None:
                    try:
                        p.stdin.write(data)
                        p.stdin.close()
                    except BrokenPipeError:
                        pass
                p.wait(timeout * SLOWER)
            except subprocess.TimeoutExpired:
                hung = True
                where = stacks_of_session(p.pid)
            finally:
                if p.poll() is None:
                    kill_session(p.pid)
                    p.wait()
            out.seek(0)
            err.seek(0)
            done = Done(argv, p.returncode, out.read(), err.read())
        if hung:
            self.fail("hung after %s s: %r\n%s" % (timeout * SLOWER, done, where))
        return done

    def until(self, fd, text, output=b"", seconds=20.0):
        """What was read, with output before it, once text is in it; what does not come in time fails the test."""
        end = time.monotonic() + seconds * SLOWER
        while text not in output:
            left = end - time.monotonic()
            self.assertGreater(left, 0, "no %r in %r" % (text, output))
            if select.select([fd], [], [], left)[0]:
                try:
                    more = os.read(fd, 4096)
                except OSError:  # a terminal that nobody holds any more
                    more = b""
                self.assertTrue(more, "it ended: %r" % output)
                output += more
        return output

    def subject(self, name):
        path = SUBJECTS / name
        self.assertTrue(path.exists(), "%s is missing: run make first" % path)
        return str(path)

    def seep(self, *args, **kw):
        return self.command([SEEP, *args], **kw)

    def run_seep(self, argv, options=(), status=0, folder=None, **kw):
        """`seep run -q -o DIR options -- argv`; checks the status (None: any)."""
        folder = folder or self.fresh()
        done = self.seep("run", "-q", "-o", folder, *options, "--", *argv, **kw)
        if status is not None:
            self.assertEqual(done.status, status, repr(done))
        return Profile(self, done, folder)

    def run_looked_at(self, argv, options=(), looks=1, **kw):
        """run_seep() until there are so many looks: a copy that a busy machine gives no CPU is given up."""
        for _ in range(LOOK_ATTEMPTS):
            profile = self.run_seep(argv, options, **kw)
            if len(glob.glob(os.path.join(profile.folder, "holders-*.json"))) >= looks:
                break
        return profile

    def report(self, folder, *args, timeout=30):
        done = self.seep("report", folder, "--format", "json", *args, timeout=timeout)
        self.assertEqual(done.status, 0, repr(done))
        return self.valid(json.loads(done.stdout))

    def every_python(self):
        """pythons(), of which there is at least one that seep supports."""
        self.assertTrue([v for v, _ in pythons() if supported(v)], "no CPython that seep supports was found")
        return pythons()

    def valid(self, report):
        """Holds a report against the schema; of very many sites a share, for the validator is slow."""
        checked = report
        if len(report["sites"]) > SITES_CHECKED:
            checked = dict(report, sites=report["sites"][::len(report["sites"]) // SITES_CHECKED + 1])
        errors = sorted(validator().iter_errors(checked), key=lambda e: list(map(str, e.absolute_path)))
        self.assertFalse(errors, "report.json breaks docs/report.schema.json: " + "; ".join(
            "%s: %s" % ("/".join(map(str, e.absolute_path)), e.message[:300]) for e in errors[:5]))
        for who, spaces in [("job", report["spaces"])] + [(p["pid"], p["spaces"]) for p in report["processes"]]:
            for space, totals in spaces.items():
                self.assertGreaterEqual(totals["peak_bytes"], totals["live_bytes"],
                                        "more live than the peak: %s of %s" % (space, who))
        return report

    def one_line_error(self, done):
        """Errors are one line `seep: what went wrong: what to do`, never a backtrace."""
        lines = [x for x in done.err.splitlines() if x.strip()]
        self.assertEqual(len(lines), 1, repr(done))
        self.assertTrue(lines[0].startswith("seep: "), repr(done))
        self.assertGreaterEqual(lines[0].count(": "), 2, "no word on what to do: " + repr(done))
        return lines[0]


def stacks_of_session(leader):
    """Where the processes of a hung session wait, for the failure's message."""
    lines = []
    for pid in session_members(leader):
        try:
            command = pathlib.Path("/proc/%d/cmdline" % pid).read_bytes().replace(b"\0", b" ")[:100].decode()
            for task in sorted(os.listdir("/proc/%d/task" % pid))[:16]:
                base = "/proc/%d/task/%s/" % (pid, task)
                lines.append("  pid %d tid %s %s [%s] in %s" % (
                    pid, task, command, pathlib.Path(base + "stat").read_text().split(") ")[1][0],
                    pathlib.Path(base + "wchan").read_text()))
        except OSError:
            pass
    if shutil.which("gdb") and os.environ.get("SEEP_TEST_GDB"):
        for pid in session_members(leader):
            lines.append(subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout)
    return "\n".join(lines)


def session_members(leader):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = pathlib.Path("/proc/%s/stat" % name).read_text().rsplit(") ", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] not in "ZX":  # a zombie has ended
                found.append(int(name))
    return found


def kill_session(leader):
    """Ends the session's processes, and waits until they have ended."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        members = session_members(leader)
        if not members:
            break
        for pid in members:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.001)


def children_of(pid):
    found = []
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        try:
            found += [int(x) for x in pathlib.Path(path).read_text().split()]
        except OSError:
            pass
    return found


def functions(site, kind=None):
    return [f.get("function") for f in site["stack"] if kind is None or f["kind"] == kind]


def python_frames(site):
    return [f for f in site["stack"] if f["kind"] == "python"]


def sum_sites(report, function, space=None):
    """Totals over the sites whose stack holds the function."""
    total = dict(allocations=0, frees=0, allocated_bytes=0, live_bytes=0)
    for site in report["sites"]:
        if space is not None and site["space"] != space:
            continue
        if function in functions(site):
            for key in total:
                total[key] += site[key]
    return total


# "malloc was never called here: the program brings its own (jemalloc, 5.3)", however it is put
MALLOC_WORD = r"malloc\b.*\bown\b|\bown malloc\b"


def end_of(process):
    """How a process or a job of a report ended: (kind, value)."""
    return process["exit"]["kind"], process["exit"]["value"]


def said_of(report):
    """All that the report says was not seen, of the job and of each process, a line each."""
    said = list(report["coverage"]["not_seen"])
    for process in report["processes"]:
        said += (process.get("coverage") or {}).get("not_seen") or []
    return "\n".join(said)


def marked_line(path, mark):
    """The 1-based number of the line that ends in `# MARK`."""
    hits = [n for n, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1)
            if line.rstrip().endswith("# " + mark)]
    assert len(hits) == 1, "%s: mark %r found on %s" % (path, mark, hits)
    return hits[0]


def python_version(path):
    """(version, whether it has a GIL)"""
    told = "import sys, sysconfig; print('%d.%d.%d' % sys.version_info[:3], sysconfig.get_config_var('Py_GIL_DISABLED'))"
    try:
        version, no_gil = subprocess.run([path, "-c", told], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20 * SLOWER,
                                         text=True).stdout.split()
        return tuple(int(x) for x in version.split(".")), no_gil != "1"
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


_pythons = None


def pythons():
    """Every CPython found that has a GIL, one per version and installation: [(version, path)], lowest version first."""
    return [(version, path) for version, has_gil, path in every_build() if has_gil]


def free_threaded_pythons():
    return [(version, path) for version, has_gil, path in every_build() if not has_gil]


def every_build():
    global _pythons
    if _pythons is None:
        candidates = glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))
        candidates += glob.glob("/usr/bin/python3.*") + glob.glob("/usr/local/bin/python3.*")
        candidates += glob.glob(str(ROOT / "build/python-*/bin/python3"))
        for folder in os.environ.get("PATH", "").split(":"):
            candidates += glob.glob(os.path.join(folder, "python3.[0-9]*"))
        seen, found = set(), []
        for path in candidates:
            real = os.path.realpath(path)
            if real in seen or path.endswith("-config") or "shims" in path or not os.access(path, os.X_OK):
                continue
            seen.add(real)
            version = python_version(path)
            if version:
                found.append((*version, path))
        _pythons = sorted(found)
    return _pythons


LAYOUTS = (ROOT / "libprof/format/python_layout.h").read_text()
SUPPORTED = {(3, int(minor)) for minor in re.findall(r"seep_python_layout_3(\d+) = ", LAYOUTS)}


def kernel_release():
    return tuple(map(int, os.uname().release.split(".")[:2]))


def supported(version):
    return version[:2] in SUPPORTED


def has_module(python, *names):
    script = "import " + ", ".join(names)
    return subprocess.run([python, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=60 * SLOWER, env=job_env()).returncode == 0


def may_read_children():
    """Whether the kernel lets the memory of a child be read, as the launcher does with copies."""
    child = subprocess.Popen(["sleep", "20"])
    try:
        with open("/proc/%d/maps" % child.pid) as maps, open("/proc/%d/mem" % child.pid, "rb", 0) as memory:
            memory.seek(int(maps.readline().split("-")[0], 16))
            return len(memory.read(8)) == 8
    except OSError:
        return False
    finally:
        child.kill()
        child.wait()


def others_reach_the_build():
    """Whether those whom root becomes may run what was built: not below a private home, as /root is."""
    return os.geteuid() != 0 or all(os.stat(folder).st_mode & 0o001 for folder in (ROOT / "build").parents)


def needs_others_to_reach_the_build(test):
    return needs(others_reach_the_build(), "another user may not go into a folder above the build: try a clone elsewhere")(test)


def needs_to_read_children(test):
    return needs(may_read_children(), "the memory of a child may not be read here")(test)


def needs(condition, why):
    return unittest.skipUnless(condition, why)


NO_BUILTINS = ["-fno-builtin-" + name for name in ("malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign")]


def compile_c(test, source, output, *flags):
    # GCC 16 leaves out calls of malloc and its kin whose results are not used.
    done = test.command(["cc", "-O2", "-g", *NO_BUILTINS, "-o", output, str(source), *flags])
    test.assertEqual(done.status, 0, repr(done))
    return output


if __name__ == "__main__":
    print("seep", SEEP, "shim", SHIM)
    for v, p in pythons():
        print(v, p, "supported" if supported(v) else "not supported")
    sys.exit(0)
