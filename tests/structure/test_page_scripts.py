"""The page's scripts are one script in the end: of two functions with one name the later would take the place of the other."""
import collections
import re
import unittest

from tests.e2e.support import ROOT


class PageScripts(unittest.TestCase):
    def test_no_name_is_there_twice(self):
        names = collections.Counter(name for script in (ROOT / "viewer/page").rglob("*.js")
                                    for name in re.findall(r"^(?:async )?(?:function|const|let) (\w+)", script.read_text(), re.M))
        self.assertGreater(len(names), 200)
        self.assertEqual([name for name, n in names.items() if n > 1], [])


if __name__ == "__main__":
    unittest.main()
