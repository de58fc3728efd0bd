"""Lines of code open in the reader's editor, which is chosen once for all pages."""
import json
import subprocess
import unittest
from urllib.parse import quote

from tests.browser.job_page import PageCase
from tests.browser.made_up_look import document
from tests.browser.page import STICKS_OUT
from tests.e2e.support import SEEP

LINKS = "return [...document.querySelectorAll(arguments[0])].map((a) => a.getAttribute('href'));"


class Editor(PageCase):
    def choose_editor(self, name):
        self.browser.click("#help")
        self.browser.choose("lines of code open in", name)
        self.browser.click("dialog form button")

    def tearDown(self):
        self.browser.run("localStorage.clear()")
        super().tearDown()

    def test_it_is_offered_and_then_every_line_is_a_link(self):
        self.browser.open(self.page(), "#findings")
        self.assertEqual(self.browser.run(LINKS, ".in-editor"), [])
        self.browser.click(".offer")
        self.browser.choose("lines of code open in", "vscode")
        self.browser.click("dialog form button")
        file = self._root + "/job_page.py"
        links = self.browser.run(LINKS, "article .in-editor")
        self.assertIn("vscode://file%s:%d" % (quote(file), 10), links, "return bytearray(64 * 1024)")
        self.assertEqual(self.browser.all(".offer"), [])
        self.browser.open(self.page(), "#sites")
        self.browser.click(".rows .row")
        self.assertTrue(self.browser.run(LINKS, "#site-title .in-editor"))
        self.assertTrue(self.browser.run(LINKS, ".stack .in-editor"))
        self.assertEqual(self.browser.run(STICKS_OUT), [])

    def test_the_choice_is_kept_and_can_be_taken_back(self):
        self.browser.open(self.page(), "#findings")
        self.choose_editor("pycharm")
        self.browser.open(self.page(), "#findings")
        self.assertRegex(self.browser.run(LINKS, "article .in-editor")[0], r"^pycharm://open\?file=%2F.*job_page\.py&line=\d+$")
        self.choose_editor("idea")
        self.assertRegex(self.browser.run(LINKS, "article .in-editor")[0], r"^idea://open\?file=%2F")
        self.choose_editor("none")
        self.assertEqual(self.browser.run(LINKS, ".in-editor"), [])

    def test_a_look_has_them_too_and_no_name_leaves_its_address(self):
        look = document()
        look["holders"][1]["made_at"][0]["frame"]["file"] = "/home/a b/?x#y&line=9/train.py"
        path = self._root + "/edited.json"
        with open(path, "w") as f:
            json.dump(look, f)
        subprocess.run([SEEP, "view", path], check=True, stdout=subprocess.DEVNULL)
        self.browser.open(self._root + "/edited.html", "#holders")
        self.choose_editor("vscode")
        self.browser.click(".told-holders button")
        self.assertEqual(self.browser.run(LINKS, ".details .in-editor"), ["vscode://file/home/a%20b/%3Fx%23y%26line%3D9/train.py:9"])
        self.choose_editor("idea")
        self.assertEqual(self.browser.run(LINKS, ".details .in-editor"),
                         ["idea://open?file=%2Fhome%2Fa%20b%2F%3Fx%23y%26line%3D9%2Ftrain.py&line=9"])


if __name__ == "__main__":
    unittest.main()
