"""CPython's own tests have the same results under seep as without it.

The quick part takes two interpreters and the short modules; SEEP_TEST_FULL=1 takes every interpreter found and
every module. SEEP_CPYTHON=3.12 and SEEP_CPYTHON_MODULES="test_gc test_signal" narrow it down."""
import concurrent.futures
import json
import os
import tempfile
import unittest

from tests.e2e.support import FULL, SOURCES, SeepCase, has_module, job_env, pythons, supported

QUICK = ("test_gc", "test_json", "test_signal", "test_mmap")
SLOW = ("test_threading", "test_subprocess", "test_multiprocessing_fork")
MODULES = os.environ.get("SEEP_CPYTHON_MODULES", "").split() or (QUICK + SLOW if FULL else QUICK)
RUNNER = str(SOURCES / "cpython_runner.py")
LIMIT = 400


class OwnTests(SeepCase):
    def outcomes(self, python, module, seep):
        folder = tempfile.mkdtemp(prefix="seep" if seep else "plain", dir=self.dir)
        out = os.path.join(folder, "outcomes.json")
        argv = [python, RUNNER, module, out]
        env = job_env(TMPDIR=folder)
        if seep:
            done = self.run_seep(argv, status=None, timeout=LIMIT, cwd=folder, env=env).done
        else:
            done = self.command(argv, timeout=LIMIT, cwd=folder, env=env)
        self.assertEqual(done.status, 0, "%s under seep=%s: %r" % (module, seep, done))
        with open(out) as f:
            got = json.load(f)
        return got["outcomes"], got["problems"]

    def compare(self, python, module):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:  # they mostly wait
            without = pool.submit(self.outcomes, python, module, False)
            seen, problems = self.outcomes(python, module, True)
            plain = [without.result()[0]]
        self.assertGreater(len(seen), 3, "too few tests ran")
        different = {t for t in set(plain[0]) | set(seen) if plain[0].get(t) != seen.get(t)}
        if different:  # some tests of CPython's fail now and then: both get two more chances
            plain += [self.outcomes(python, module, False)[0] for _ in range(2)]
            for _ in range(2):
                if not different:
                    break
                again, more = self.outcomes(python, module, True)
                problems.update(more)
                different = {t for t in different if again.get(t) not in {p.get(t) for p in plain}}
        self.assertFalse(different, "\n".join("%s: %s without, %s with seep\n%s" % (
            t, sorted({str(p.get(t)) for p in plain}), seen.get(t), problems.get(t, "")[-1500:])
            for t in sorted(different)[:6]) + "\nall: %s" % sorted(different))


def chosen():
    found = [(v, p) for v, p in pythons() if supported(v) and has_module(p, "test.test_gc", "test.support")]
    wanted = os.environ.get("SEEP_CPYTHON")
    if wanted:
        return [(v, p) for v, p in found if ("%d.%d.%d" % v).startswith(wanted)]
    return found if FULL else ([found[0], found[-1]] if len(found) > 1 else found)


CHOSEN = chosen()


class Choice(SeepCase):
    def test_some_python_with_its_own_tests_was_found(self):
        if not CHOSEN and not os.environ.get("SEEP_CPYTHON"):
            self.skipTest("no CPython here has its own tests")
        self.assertTrue(CHOSEN, "SEEP_CPYTHON names none that is here")


for _version, _path in CHOSEN:
    for _module in MODULES:
        def _test(self, path=_path, module=_module):
            if not has_module(path, "test." + module):
                self.skipTest("this installation lacks test." + module)
            self.compare(path, module)
        _label = "%d_%d_%d" % _version + ("_system" if _path.startswith("/usr/bin/") else "")
        setattr(OwnTests, "test_%s_behaves_as_without_seep_in_%s" % (_label, _module), _test)

if __name__ == "__main__":
    unittest.main()
