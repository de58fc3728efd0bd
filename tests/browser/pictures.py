#!/usr/bin/python3
"""Makes the pictures of README.md and docs/tour.md: a page of `seep view` as a browser shows it.

    tests/browser/pictures.py FOLDER

The job is the tour's (docs/tour.md); the pictures go into FOLDER. SEEP as for the tests."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.browser import page  # noqa: E402

SEEP = os.path.abspath(os.environ.get("SEEP", str(ROOT / "build/seep")))
JOB = ["/usr/bin/python3", "tests/zoo/annotation_cache.py", "--epochs", "3", "--images", "600"]
WIDTH = 1000
# name: (its address, height, what is waited for)
PICTURES = {"findings": ("#findings", 640, ".finding svg, .finding"), "timeline": ("#timeline", 640, "svg.chart"),
            "flame": ("#flame", 600, "main svg, main canvas"), "sites": ("#sites", 520, "[role=grid], table")}


def main(folder):
    if page.MISSING:
        sys.exit("pictures.py: %s is missing: ./bootstrap check installs it" % page.MISSING)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="seep-pictures-") as scratch:
        profile, html = scratch + "/before.d", scratch + "/before.html"
        subprocess.run([SEEP, "run", "-q", "-o", profile, "--", *JOB], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([SEEP, "view", "-o", html, profile], check=True, stdout=subprocess.DEVNULL)
        browser = page.Browser()
        try:
            for name, (fragment, height, shown) in PICTURES.items():
                browser.look(WIDTH, height)
                browser.open(html, fragment)
                browser.wait(lambda: browser.all(shown), name)
                browser.driver.save_screenshot(str(folder / (name + ".png")))
                print(folder / (name + ".png"))
        finally:
            browser.quit()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
