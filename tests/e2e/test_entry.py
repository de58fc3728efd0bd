"""Programs into which the library cannot be loaded run as without seep, and are listed; so do children that change
their uid."""
import os
import stat
import subprocess
import unittest

from tests.e2e.alike import Alike
from tests.e2e.support import SYSTEM_PYTHON, compile_c, job_env, needs, needs_others_to_reach_the_build, sum_sites

OK, STATIC, RIGHTS, MACHINE, LIBC, SANITIZER = range(6)
GROW = 2  # enum seep_trouble
NOBODY = 65534
WAYS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "posix_spawn",
        "posix_spawnp", "vfork")
# Says which of seep's variables it finds, allocates, and leaves by a status of its own.
CHILD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
int main(int argc, char **argv) {
    char *p = malloc(100000);
    memset(p, 1, 100000);
    for (char **e = environ; *e; e++)
        if (getenv("SAY") && (strncmp(*e, "LD_PRELOAD=", 11) == 0 || strncmp(*e, "SEEP_", 5) == 0 ||
                              strstr(*e, "_INJECTION64_PATH="))) puts(*e);
    printf("ran %s %d\n", argc > 1 ? argv[1] : "", p[5]);
    free(p);
    return 3;
}
"""
# The loader of a made-up C library: it runs nothing, and would trip over LD_PRELOAD as musl's does.
LOADER = r"""
static long call(long n, long a, long b, long c) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return r;
}
__attribute__((used)) static void begin(char **stack) {
    char **e = stack + 1 + *(long *)stack + 1;
    int status = 6;
    for (; *e; e++) {
        const char *name = "LD_PRELOAD=", *p = *e;
        while (*name && *name == *p) { name++; p++; }
        if (!*name) { call(1, 2, (long)"Error loading libseep.so\n", 25); status = 127; }
    }
    call(1, 1, (long)"made up\n", 8);
    call(231, status, 0, 0);
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
"""


class Entry(Alike):
    def table(self, folder):
        done = self.command([self.subject("job_table"), folder])
        self.assertEqual(done.status, 0, repr(done))
        return done.json()

    def listed(self, profile):
        """[(entry, last name of the path)] of what was not entered."""
        return [(p["entry"], os.path.basename(p["path"])) for p in self.table(profile.folder) if p["entry"]]

    def entered(self, profile):
        return [p["name"] for p in self.table(profile.folder) if not p["entry"]]

    def build(self, name, source, *flags):
        """The program, or None where this compiler cannot."""
        path, program = self.path(name + ".c"), self.path(name)
        with open(path, "w") as f:
            f.write(source)
        done = self.command(["cc", "-O1", "-o", program, path, *flags])
        if done.status == 0:
            done = self.command([program])
        return program if done.status not in (1, 127) else None

    def need(self, name, source, *flags):
        program = self.build(name, source, *flags)
        if not program:
            self.skipTest("cc %s does not work here" % " ".join(flags))
        return program

    def asan(self):
        return self.need("asan", CHILD, "-fsanitize=address")

    def every_way(self, program, entry, but=(), **env):
        """Started in every way there is, it does what it does without seep, and is listed each time."""
        env = job_env(PATH=self.dir + ":" + os.environ["PATH"], **env)
        profile = self.alike([self.subject("execs"), "all", program], env=env)
        self.assertEqual(self.listed(profile), [(entry, os.path.basename(program))] * (len(WAYS) - len(but)),
                         self.table(profile.folder))
        for p in self.table(profile.folder):
            if p["entry"]:
                self.assertEqual((p["has_status"], p["path"]), (1, program[-63:]), p)
                self.assertGreater(p["parent"], 0, p)
                self.assertEqual(p["name"], os.path.basename(program)[:31], p)
        return profile


class NotEntered(Entry):
    def test_a_program_with_asan_in_every_way(self):
        profile = self.every_way(self.asan(), SANITIZER, SAY="1")
        self.assertEqual(profile.done.stdout.count(b"ran one 1"), len(WAYS), repr(profile.done))
        self.assertTrue(profile.report["job"]["complete"], profile.report["processes"])
        said = [x for x in profile.report["coverage"]["not_seen"] if "asan, which brings a sanitizer" in x]
        self.assertEqual(len(said), 1, profile.report["coverage"])
        self.assertIn(" and %d more became " % (len(WAYS) - 1), said[0])

    def test_nor_is_the_library_a_tool_of_its_nvtx_or_cuda(self):
        for started, expected in ((self.asan(), 0), (self.need("plain", CHILD), 2)):
            done = self.run_seep([self.subject("execs"), "posix_spawn", started], status=None, env=job_env(SAY="1"),
                                 options=("--step-nvtx", "step", "--gpu", "cupti")).done
            self.assertEqual(done.stdout.count(b"_INJECTION64_PATH="), expected, repr(done))

    def test_every_sanitizer_linked_in_or_not(self):
        found = 0
        for i, flags in enumerate((("-fsanitize=address", "-static-libasan"), ("-fsanitize=thread",),
                                   ("-fsanitize=thread", "-static-libtsan"), ("-fsanitize=leak",))):
            program = self.build("san%d" % i, CHILD, *flags)
            if program:
                found += 1
                profile = self.alike([self.subject("execs"), "posix_spawn", program], env=job_env(SAY="1"))
                self.assertEqual(self.listed(profile), [(SANITIZER, "san%d" % i)])
        if not found:
            self.skipTest("no sanitizer that works here")

    def test_ubsan_alone_is_entered(self):
        program = self.need("ubsan", CHILD, "-fsanitize=undefined")
        profile = self.alike([self.subject("execs"), "execve", program])
        self.assertEqual(self.listed(profile), [])
        self.assertIn("ubsan", self.entered(profile))

    def test_a_musl_program_in_every_way(self):
        loader = self.build("ld-musl-x86_64.so.1", LOADER, "-nostdlib", "-static-pie", "-fno-stack-protector")
        if not loader:
            self.skipTest("no static-pie here")
        self.write("child.c", CHILD)
        program = compile_c(self, self.path("child.c"), self.path("musl"), "-Wl,--dynamic-linker=" + loader)
        profile = self.every_way(program, LIBC)
        self.assertEqual(profile.done.stdout.count(b"made up"), len(WAYS), repr(profile.done))
        # One whose loader is not there: nothing was started, and nothing is listed.
        os.rename(loader, loader + ".gone")
        profile = self.alike([self.subject("execs"), "all", program],
                             env=job_env(PATH=self.dir + ":" + os.environ["PATH"]))
        self.assertEqual(self.listed(profile), [])

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def test_a_32_bit_program(self):
        program = self.build("small", CHILD, "-m32")
        if program:
            self.every_way(program, MACHINE)
            return
        # Only its first header: the kernel refuses it, with seep as without, and nothing is listed.
        program = self.path("small")
        with open(program, "wb") as f:
            f.write(b"\x7fELF\x01\x01\x01" + bytes(9) + b"\x03\0\x03\0\x01\0\0\0" + bytes(400))
        os.chmod(program, 0o755)
        for way in ("execve", "execl", "fexecve", "execveat", "posix_spawn", "posix_spawnp", "vfork"):
            profile = self.alike([self.subject("execs"), way, program],
                                 env=job_env(PATH=self.dir + ":" + os.environ["PATH"]))
            self.assertEqual(self.listed(profile), [])

    def test_a_static_program_hands_the_environment_on(self):
        """It does not notice the library, and what it starts can be entered again."""
        program = self.need("static", CHILD.replace("return 3", "char *a[] = {\"echo\", \"after\", 0}; fflush(stdout); "
                                                    "execve(\"/bin/echo\", a, environ); return 3")
                            .replace("#include <stdio.h>", "#include <stdio.h>\n#include <unistd.h>"), "-static")
        profile = self.alike([self.subject("execs"), "posix_spawn", program])
        self.assertEqual(profile.done.stdout, b"ran one 1\nafter\nposix_spawn 0\n")
        self.assertIn("echo", self.entered(profile))
        plain = self.need("plain-static", CHILD, "-static")
        self.every_way(plain, STATIC)

    def test_a_script_of_such_a_program(self):
        program = self.asan()
        script = self.path("script")
        with open(script, "w") as f:
            f.write("#!%s -x\n" % program)
        os.chmod(script, 0o755)
        self.every_way(script, SANITIZER, but=["fexecve"])  # the kernel runs no script by a closed descriptor

    @needs(os.geteuid() == 0, "needs root")
    def test_a_setuid_program(self):
        os.chmod(self.dir, 0o755)
        program = self.need("suid", CHILD)
        os.chown(program, NOBODY, NOBODY)
        os.chmod(program, 0o4755)
        if "nosuid" in self.command(["findmnt", "-n", "-o", "OPTIONS", "-T", self.dir]).stdout.decode():
            self.skipTest("nosuid file system")
        self.every_way(program, RIGHTS)
        os.chown(program, 0, 0)  # its own: it gains nothing, and is entered
        os.chmod(program, 0o4755)
        profile = self.alike([self.subject("execs"), "execve", program])
        self.assertEqual(self.listed(profile), [])
        self.assertIn("suid", self.entered(profile))

    def test_by_a_shell_and_by_python(self):
        program = self.asan()
        for argv in (["sh", "-c", program + "; echo $?; " + program + " x | cat"],
                     ["bash", "-c", "exec " + program],
                     [SYSTEM_PYTHON, "-c", "import subprocess, sys; p = sys.argv[1]\n"
                      "for kw in ({}, {'close_fds': False}, {'start_new_session': True}, {'shell': True}):\n"
                      "    print(subprocess.run([p], stdout=subprocess.PIPE, **kw))", program],
                     [SYSTEM_PYTHON, "-c", "import os, sys; os.execv(sys.argv[1], sys.argv[1:])", program],
                     [SYSTEM_PYTHON, "-c", "import os, sys; pid = os.fork()\n"
                      "if pid: print(os.waitpid(pid, 0)[1])\nelse: os.execve(sys.argv[1], ['p'], {'A': 'b'})",
                      program]):
            profile = self.alike(argv)
            self.assertTrue(self.listed(profile), argv)
            self.assertEqual(set(self.listed(profile)), {(SANITIZER, "asan")})

    def test_the_program_itself_becomes_one(self):
        program = self.asan()
        for way in ("execve", "fexecve", "execvp"):
            profile = self.alike([self.subject("execs"), "self-" + way, program],
                                 env=job_env(PATH=self.dir + ":" + os.environ["PATH"]))
            table = self.table(profile.folder)
            self.assertEqual([(p["entry"], p["path"], p["status"]) for p in table],
                             [(SANITIZER, program[-63:], 3 << 8)])

    def test_an_exec_that_fails_is_not_listed(self):
        program = self.asan()
        os.chmod(program, 0o644)
        profile = self.alike([self.subject("execs"), "all", program])
        self.assertEqual(self.listed(profile), [])

    def test_other_preloads_stay_and_ours_goes(self):
        self.write("mark.c", "int mark = 1;\n")
        lib = compile_c(self, self.path("mark.c"), self.path("mark.so"), "-shared", "-fPIC")
        program = self.asan()
        for preload in (None, lib, lib + ":" + lib, lib + " " + lib):
            env = job_env(SAY="1", LD_PRELOAD=preload, ASAN_OPTIONS="verify_asan_link_order=0")
            profile = self.alike([self.subject("execs"), "posix_spawn", program], env=env)
            self.assertEqual(profile.done.stdout.count(lib.encode()), len((preload or "").replace(":", " ").split()))

    def test_a_sanitizer_that_is_preloaded_must_come_first(self):
        done = self.command(["cc", "-print-file-name=libasan.so"])
        runtime = os.path.realpath(done.stdout.decode().strip())
        if not os.path.isabs(runtime) or not os.path.exists(runtime):
            self.skipTest("no libasan.so")
        program = self.need("plain", CHILD)
        env = job_env(ASAN_OPTIONS="detect_leaks=0", WHAT=runtime)
        profile = self.alike(["sh", "-c", 'LD_PRELOAD="$WHAT" exec ' + program], env=env)
        self.assertEqual(self.listed(profile), [(SANITIZER, "plain")])
        done = self.seep("run", "-q", "-o", self.fresh(), "--", program, env=job_env(LD_PRELOAD=runtime,
                                                                                  ASAN_OPTIONS="detect_leaks=0"))
        # seep itself is started with that runtime then
        self.assertIn(done.status, (1, 125), repr(done))

    def test_seep_run_refuses_a_sanitizer(self):
        done = self.seep("run", "-q", "-o", self.fresh(), "--", self.asan())
        self.assertEqual((done.status, done.stdout), (125, b""), repr(done))
        self.assertRegex(self.one_line_error(done), r"sanitizer \(libasan\.so\.\d+\).*: run a build without it")

    def test_the_doctor_tells_of_a_malloc_of_its_own(self):
        program = self.need("own", CHILD + "void *calloc(size_t n, size_t m) { return 0; }\n"
                            "static char pool[1 << 20]; void *malloc(size_t n) { return pool; }\n"
                            "void free(void *p) { (void)p; }\n", "-rdynamic", "-fno-builtin")
        done = self.seep("doctor", "--", program, timeout=120)
        self.assertRegex(done.stdout.decode(), r"command +partly +%s loads the library, but has its own malloc"
                         % program)


@needs(os.geteuid() == 0, "needs root, which changes uids")
class Identity(Entry):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)

    def own_row(self, profile):
        return [p for p in self.table(profile.folder) if p["uid"] == NOBODY]

    def test_every_way_to_give_up_root_keeps_the_record(self):
        for way in ("setuid", "seteuid", "setreuid", "setresuid", "forked", "there-and-back", "refused"):
            folder = self.fresh()
            plain = self.command([self.subject("uids"), way, NOBODY, folder])
            profile = self.run_seep([self.subject("uids"), way, str(NOBODY), folder], folder=folder)
            self.assertEqual(profile.done.stdout, plain.stdout)
            self.assertEqual(sum_sites(profile.report, "keep_some", "host")["allocations"], 4000, way)
            self.assertEqual(sum_sites(profile.report, "nest", "host")["allocations"], 3000, way)
            self.assertEqual(profile.report["job"]["dropped_events"], 0, way)
            self.assertEqual([p["trouble"] for p in self.table(folder)], [0] * len(self.table(folder)), way)
            if way != "there-and-back":
                self.assertEqual(len(self.own_row(profile)), 1, way)

    def test_nobody_but_that_user_gains_anything(self):
        folder = self.fresh()
        self.run_seep([self.subject("uids"), "setuid", str(NOBODY), folder], folder=folder)
        for name in [folder] + [os.path.join(folder, n) for n in os.listdir(folder)]:
            st = os.lstat(name)
            self.assertEqual(st.st_mode & 0o007, 0, name)
            if "system.posix_acl_access" not in os.listxattr(name):
                self.assertEqual(st.st_mode & 0o077, 0, name)
                continue
            acl = os.getxattr(name, "system.posix_acl_access")
            entries = [(int.from_bytes(acl[i:i + 2], "little"), int.from_bytes(acl[i + 2:i + 4], "little"),
                        int.from_bytes(acl[i + 4:i + 8], "little")) for i in range(4, len(acl), 8)]
            self.assertEqual([e for e in entries if e[0] == 2], [(2, 7 if name == folder else 6, NOBODY)], name)
            self.assertEqual([e[1] for e in entries if e[0] in (4, 0x20)], [0, 0], "the group, all others: " + name)
        self.assertTrue(os.stat(folder).st_mode & stat.S_ISVTX, "its user may remove files of others")

    @needs_others_to_reach_the_build
    def test_a_program_that_starts_as_another_user(self):
        profile = self.run_seep(["setpriv", "--reuid", str(NOBODY), "--clear-groups",
                                 self.subject("counts_heap"), "malloc"])
        said = profile.done.json()
        for function in said:
            self.assertEqual(sum_sites(profile.report, function, "host")["allocations"], said[function]["allocations"])

    def test_python_and_its_subprocess(self):
        profile = self.run_seep([SYSTEM_PYTHON, "-c", "import os, subprocess, sys\n"
                                 "print(subprocess.run(['sh', '-c', 'id -u'], user=%d, stdout=-1).stdout)\n"
                                 "os.setuid(%d)\nkeep = bytearray(30 << 20)\nprint(os.geteuid())" % (NOBODY, NOBODY)])
        self.assertEqual(profile.done.stdout, b"b'%d\\n'\n%d\n" % (NOBODY, NOBODY))
        self.assertGreater(profile.report["spaces"]["host"]["peak_bytes"], 30 << 20)

    def test_where_a_folder_above_is_closed_nothing_is_opened_and_it_is_told(self):
        closed = self.path("closed")
        os.mkdir(closed, 0o700)
        folder = os.path.join(closed, "p.d")
        profile = self.run_seep([self.subject("uids"), "setuid", str(NOBODY), folder], folder=folder)
        self.assertEqual([(p["trouble"], p["errno"]) for p in self.own_row(profile)], [(GROW, 13)])
        for name in [folder] + [os.path.join(folder, n) for n in os.listdir(folder)]:
            self.assertEqual(os.lstat(name).st_mode & 0o077, 0, name)
            self.assertEqual(os.listxattr(name), [], name)
        self.assertEqual(sum_sites(profile.report, "keep_some", "host")["allocations"], 4000, "it has room for that")

    def test_a_file_system_without_access_lists(self):
        disk = self.path("ramfs")
        os.mkdir(disk)
        done = self.command(["mount", "-t", "ramfs", "-o", "mode=755", "ramfs", disk])
        if done.status != 0:
            self.skipTest("cannot mount a ramfs here: " + done.err.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        folder = os.path.join(disk, "p.d")
        profile = self.run_seep([self.subject("uids"), "setuid", str(NOBODY), folder], folder=folder)
        self.assertEqual([(p["trouble"], p["errno"]) for p in self.own_row(profile)], [(GROW, 13)])
        self.assertEqual(os.stat(folder).st_mode & 0o077, 0)

    def test_what_that_user_leaves_in_the_folder_is_not_written_to(self):
        """A pipe by the report's name would hold the launcher up, a link would lead it elsewhere."""
        victim = self.path("victim")
        for make in ("os.mkfifo(p)", "os.symlink('/dev/tty', p)", "os.symlink(%r, p)" % victim):
            folder = self.fresh()
            with open(victim, "w") as f:
                f.write("mine\n")
            self.run_seep([SYSTEM_PYTHON, "-c", "import os\nos.setuid(%d)\np = %r\n%s"
                           % (NOBODY, os.path.join(folder, "report.json"), make)], folder=folder)
            self.assertTrue(stat.S_ISREG(os.lstat(os.path.join(folder, "report.json")).st_mode), make)
            with open(victim) as f:
                self.assertEqual(f.read(), "mine\n", make)


if __name__ == "__main__":
    unittest.main()
