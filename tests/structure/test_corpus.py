"""Each fuzzer has an archive of inputs, and the same inputs are always the same archive."""
import tarfile
import unittest

from tests.structure.sources import ROOT

FUZZ = ROOT / "tests" / "fuzz"


class Corpus(unittest.TestCase):
    def test_each_fuzzer_has_one_and_none_is_of_a_fuzzer_that_is_gone(self):
        fuzzers = {path.stem for path in FUZZ.glob("fuzz_*.c")}
        self.assertGreater(len(fuzzers), 10)
        self.assertEqual({path.name for path in (FUZZ / "corpus").iterdir()}, {name + ".tar" for name in fuzzers})

    def test_an_archive_says_nothing_of_who_made_it_and_when(self):
        for path in sorted((FUZZ / "corpus").glob("*.tar")):
            with tarfile.open(path) as archive:
                inputs = archive.getmembers()
            self.assertTrue(inputs, path.name)
            self.assertEqual([one.name for one in inputs], sorted(one.name for one in inputs), path.name)
            for one in inputs:
                self.assertTrue(one.isreg(), (path.name, one.name))
                self.assertEqual((one.mtime, one.uid, one.gid, one.uname, one.gname, one.mode), (0, 0, 0, "", "", 0o644),
                                 (path.name, one.name))


if __name__ == "__main__":
    unittest.main()
