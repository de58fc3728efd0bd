"""What threads and a reader in another process see of the live set, the profile and the job's table is whole. Five seconds
here; `make check-arm-order` goes on for ten minutes."""
import os
import subprocess
import unittest

STRESS = os.environ.get("ORDER_STRESS", "build/order-stress")


def stress(*arguments):
    done = subprocess.run([STRESS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    seen, _, wrong = done.stdout.strip().rpartition("; ")
    words = wrong.split()
    return done, seen, dict(zip(words[::2], map(int, words[1::2])))


class OrderStress(unittest.TestCase):
    def test_what_is_published_is_whole(self):
        done, seen, wrong = stress("--seconds", "5")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(set(wrong.values()), {0}, done.stdout)
        self.assertNotRegex(seen, r"[:,] 0 ", "it looked at nothing of a kind")

    def test_a_torn_state_of_each_kind_is_found(self):
        done, _, wrong = stress("--seconds", "1", "--torn")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(sorted(wrong), ["detail", "entry", "lost", "sample", "site", "word"])
        self.assertNotIn(0, wrong.values(), done.stdout)


if __name__ == "__main__":
    unittest.main()
