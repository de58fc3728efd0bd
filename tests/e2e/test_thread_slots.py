"""Threads that come and go, and many at once: each gives its slot back."""
import json
import os
import re
import unittest

from tests.e2e.support import ROOT, SeepCase, compile_c, needs

MIB = 1 << 20

# Prints how many slots of each profile were ever used, and by how many threads.
SLOTS = """
#include <stdio.h>
#include "libprof/format/profile_format.h"
static struct seep_header h;
int main(int n, char **paths)
{
    for (int i = 1; i < n; i++) {
        FILE *f = fopen(paths[i], "rb");
        unsigned used = 0, threads = 0;
        if (!f || fread(&h, sizeof h, 1, f) != 1)
            return 1;
        fclose(f);
        for (unsigned k = 0; k < SEEP_MAX_SLOTS; k++) {
            used += h.slots[k].tid != 0;
            threads += h.slots[k].threads;
        }
        printf("%u %u\\n", used, threads);
    }
    return 0;
}
"""


class ThreadSlots(SeepCase):
    def threads(self, how, n):
        """What resident memory grew by in a round: without seep, with it; and the profile."""
        argv = [self.subject("many_threads"), how, str(n)]
        plain = self.growth(self.command(argv))
        profile = self.run_seep(argv)
        return plain, self.growth(profile.done), profile

    def growth(self, done):
        """Of the round that grew least: how far threads get on a busy machine before others begin differs
        from round to round, but what threads leave behind, they leave in each."""
        resident = json.loads(done.stdout)
        return min(after - before for before, after in zip(resident, resident[1:]))

    def profiles(self, folder):
        return [os.path.join(folder, x) for x in os.listdir(folder) if x.endswith(".seep")]

    def test_3000_threads_in_a_row_leave_nothing_behind(self):
        plain, seen, profile = self.threads("row", 3000)
        self.assertLess(seen - plain, 2 * MIB)
        self.assertEqual(profile.report["job"]["dropped_events"], 0)

    @needs(re.search(r"^[^#]*\slocalhost\b", open("/etc/hosts").read(), re.M), "no localhost in /etc/hosts")
    def test_nor_do_threads_that_look_up_names(self):
        plain, seen, profile = self.threads("names", 3000)
        self.assertLess(seen - plain, 2 * MIB)
        self.assertEqual(profile.report["job"]["dropped_events"], 0)

    def test_3000_threads_in_a_row_need_few_slots(self):
        *_, profile = self.threads("row", 3000)
        with open(self.path("slots.c"), "w") as f:
            f.write(SLOTS)
        dump = compile_c(self, self.path("slots.c"), self.path("slots"), "-I", str(ROOT), "-Wall")
        done = self.command([dump] + self.profiles(profile.folder))
        (used, threads), = [map(int, line.split()) for line in done.stdout.split(b"\n") if line]
        self.assertLess(used, 20)
        self.assertGreater(threads, 9000)

    def test_the_next_1000_at_once_need_no_more_than_the_first(self):
        plain, seen, profile = self.threads("at-once", 1000)
        self.assertLess(seen - plain, 2 * MIB)
        self.assertEqual(profile.report["job"]["dropped_events"], 0)


if __name__ == "__main__":
    unittest.main()
