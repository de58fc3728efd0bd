"""Programs that a job starts beside its training: only counted while small, fully recorded once they matter."""
import glob
import os
import sys

from tests.e2e.support import ROOT, SeepCase, compile_c, end_of

MIB = 1 << 20

CHILD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/subjects/many_stacks.h"

static void *volatile kept[4096], *volatile passing;

__attribute__((noinline)) static void *keep_late(size_t bytes)
{
    void *p = malloc(bytes);
    memset(p, 1, bytes);
    return p;
}

static void keep_small(void)
{
    passing = malloc(10);
}

/* small: a little and out; long: until it has lived for a while; large: until it holds much; wide: much, then from many stacks */
int main(int argc, char **argv)
{
    for (int i = 0; i < 1000; i++)
        free(passing = malloc(100));
    kept[0] = malloc(5000);
    if (argc > 1 && !strcmp(argv[1], "long"))
        for (int i = 0; i < 150; i++, usleep(10000))
            for (int k = 0; k < 100; k++)
                free(passing = malloc(200));
    if (argc > 1 && !strcmp(argv[1], "large"))
        for (int i = 0; i < 40; i++, usleep(2000))
            for (int k = 0; k < 64; k++)
                kept[1 + i * 64 + k] = malloc(16384);
    if (argc > 1 && !strcmp(argv[1], "wide")) {
        for (int i = 0; i < 2000; i++)
            kept[1 + i] = malloc(16384);
        for (unsigned path = 0; path < 1 << 14; path++)
            from_stack(14, path, keep_small);
    } else if (argc > 1)
        for (int i = 0; i < 50; i++)
            kept[3000 + i] = keep_late(10000);
    printf("%d\\n", getpid());
    return 0;
}
"""

MANY = """
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    char *child[] = {argv[2], NULL};
    for (int i = 0, n = atoi(argv[1]); i < n; i++) {
        pid_t pid;
        if (posix_spawn(&pid, child[0], NULL, NULL, child, environ) != 0)
            return 1;
        waitpid(pid, NULL, 0);
    }
    return argc != 3;
}
"""


class Helpers(SeepCase):
    def setUp(self):
        super().setUp()
        self.child = self.built("child", CHILD)

    def built(self, name, text):
        with open(self.path(name + ".c"), "w") as f:
            f.write(text)
        return compile_c(self, self.path(name + ".c"), self.path(name), "-I", str(ROOT))

    def profiles(self, profile):
        return glob.glob(os.path.join(profile.folder, "*.seep"))

    def started(self, *arguments, options=()):
        """A shell's child: (profile, its process in the report)."""
        profile = self.run_seep(["sh", "-c", " ".join([self.child, *arguments]) + "; exit 0"], options)
        pid = int(profile.done.stdout)
        return profile, [p for p in profile.report["processes"] if p["pid"] == pid]

    def test_a_small_child_is_counted_and_leaves_no_profile(self):
        profile, found = self.started()
        self.assertEqual(len(self.profiles(profile)), 1, "the shell's")
        self.assertEqual(len(found), 1)
        host = found[0]["spaces"]["host"]
        self.assertGreaterEqual(host["allocations"], 1001)
        self.assertLess(host["allocations"], 1100)
        self.assertGreaterEqual(host["allocated_bytes"], 105000)
        self.assertGreaterEqual(host["peak_bytes"], 5000)
        self.assertEqual(end_of(found[0]), ("exit", 0))
        self.assertEqual(found[0]["role"], "helper")

    def test_a_child_is_recorded_whole_where_that_is_asked_for(self):
        profile, found = self.started(options=["--helpers", "full"])
        self.assertEqual(len(self.profiles(profile)), 2)
        self.assertEqual(len(found), 1)

    def grown_up(self, how):
        profile, found = self.started(how)
        self.assertEqual(len(self.profiles(profile)), 2)
        self.assertEqual(len(found), 1, "its profile and its entry in the job are one process")
        self.assertEqual([s for s in profile.report["coverage"]["not_seen"] if "no profile" in s], [])
        late = [s for s in profile.report["sites"]
                if any(f.get("function") == "keep_late" for f in s["stack"])]
        self.assertEqual(sum(s["live_bytes"] for s in late), 500000)
        self.assertEqual(profile.report["job"]["dropped_events"], 0)
        host = found[0]["spaces"]["host"]
        self.assertGreaterEqual(host["live_bytes"], 505000)
        self.assertGreaterEqual(host["allocations"], 1051)

    def test_a_child_that_lives_longer_is_recorded_from_then_on(self):
        self.grown_up("long")

    def test_a_child_that_grows_is_recorded_from_then_on(self):
        self.grown_up("large")

    def test_a_compiler_has_less_room_than_a_training(self):
        bound = ["--max-profile", "16MiB"]
        profile, found = self.started("wide", options=bound)
        self.assertLessEqual(max(os.path.getsize(path) for path in self.profiles(profile)), MIB)
        host = found[0]["spaces"]["host"]
        self.assertGreaterEqual(host["allocations"], 2000 + (1 << 14))
        self.assertGreaterEqual(host["live_bytes"], 2000 * 16384 + (10 << 14))
        full, _ = self.started("wide", options=[*bound, "--helpers", "full"])
        self.assertGreater(max(os.path.getsize(path) for path in self.profiles(full)), MIB)

    def test_python_is_recorded_from_its_start(self):
        profile = self.run_seep(["sh", "-c", "%s -c 'x = bytearray(3000000)'; exit 0" % sys.executable])
        self.assertEqual(len(self.profiles(profile)), 2)
        self.assertEqual([p["python"] is not None for p in profile.report["processes"]].count(True), 1)

    def test_helpers_take_no_room_and_a_full_table_folds_them(self):
        profile = self.run_seep([self.built("many", MANY), 4300, "/bin/true"], ["--no-report"], timeout=240)
        size = sum(os.path.getsize(p) for p in glob.glob(os.path.join(profile.folder, "*")))
        self.assertLess(size, 16 * MIB)
        self.assertLessEqual(len(self.profiles(profile)), 2)
        report = profile.report
        folded = sum(h["processes"] for h in report.get("helpers", []))
        self.assertEqual(len(report["processes"]) + folded, 4301)
        self.assertGreater(folded, 200)

    def test_the_folder_has_a_bound(self):
        script = self.path("sites.py")
        with open(script, "w") as f:
            f.write("import os\nfor child in range(6):\n    if not os.fork():\n        kept = []\n"
                    "        for i in range(4000):\n"
                    "            kept.append(eval(compile('\\n' * i + 'bytearray(600)', 'x%d.py' % (i // 100), 'eval')))\n"
                    "        os._exit(0)\n    os.wait()\n")
        profile = self.run_seep([sys.executable, script], ["--max-folder", "5MiB"], timeout=120)
        on_disk = sum(os.stat(p).st_blocks * 512 for p in self.profiles(profile))
        self.assertLess(on_disk, 5.5 * MIB)
        self.assertIn("--max-folder was reached", " ".join(profile.report["coverage"]["not_seen"]))
        host = profile.report["spaces"]["host"]
        self.assertGreaterEqual(host["allocated_bytes"], 6 * 4000 * 600, "what has no stack is counted")
