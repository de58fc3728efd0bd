#!/usr/bin/python3
"""Makes the pictures of README.md, docs/tour.md and docs/memory.md: pages of `seep view` as a browser shows them, one of
them of a look, and `seep top` as a terminal.

    tests/browser/pictures.py FOLDER

The jobs are those that these pages tell of; the pictures go into FOLDER. That of a device needs what `make gpu-torch`
installs, and is left as it is without. SEEP as for the tests."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.browser import page, terminal  # noqa: E402

SEEP = os.path.abspath(os.environ.get("SEEP", str(ROOT / "build/seep")))
JOB = ["/usr/bin/python3", "tests/zoo/annotation_cache.py", "--epochs", "3", "--images"]
WIDTH = 1000
# name: (its address, height, what is waited for)
PICTURES = {"findings": ("#findings", 900, ".finding svg, .finding"), "timeline": ("#timeline", 640, "svg.chart"),
            "flame": ("#flame", 600, "main svg, main canvas")}
DEVICE = {"device": ("#device", 860, "svg.map")}
TORCH = ROOT / "build/gpu-torch/cu12"


def picture_views(browser, scratch, folder, job, views, **env):
    profile, html = scratch + "/job.d", scratch + "/job.html"
    subprocess.run([SEEP, "run", "-q", "-o", profile, "--", *job], cwd=ROOT, env={**os.environ, **env},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([SEEP, "view", "-o", html, profile], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(profile)
    for name, (fragment, height, shown) in views.items():
        browser.look(WIDTH, height)
        browser.open(html, fragment)
        browser.wait(lambda: browser.all(shown), name)
        browser.driver.save_screenshot(str(folder / (name + ".png")))
        print(folder / (name + ".png"))


def picture_device(browser, scratch, folder):
    if not (TORCH / "venv").exists():
        print("left as it is, for want of %s: device.png" % TORCH)
        return
    libraries = "%s:%s" % (ROOT / "build/tests/standin/12", TORCH / "lib")
    picture_views(browser, scratch, folder, [str(TORCH.relative_to(ROOT) / "venv/bin/python"), "tests/zoo/gpu/g06_instances_oom.py"], DEVICE,
                  LD_LIBRARY_PATH=libraries)


def picture_top(browser, scratch, folder):
    """With so many images that the first epoch is long enough to be watched."""
    profile, html = scratch + "/watched.d", scratch + "/top.html"
    job = subprocess.Popen([SEEP, "run", "-q", "--no-report", "-o", profile, "--", *JOB, "6000"], cwd=ROOT,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(pathlib.Path(profile).glob("*.seep")):
        time.sleep(0.1)
    screen = terminal.Terminal(scratch, [SEEP, "top", profile], 112, 24)
    try:
        shown = screen.screen(r" [2-9]\d\d steps .* running(?s:.*)^> \S+:45 in collate .*\+\d", page.SECONDS)
    finally:
        screen.close()
        job.terminate()
        job.wait()
    with open(html, "w", encoding="utf-8") as f:
        f.write(terminal.page_of(shown))
    browser.look(WIDTH, 600)
    browser.driver.get("file://" + html)
    browser.one("pre").screenshot(str(folder / "top.png"))
    print(folder / "top.png")


def resident_bytes(pid):
    return int(pathlib.Path("/proc/%d/statm" % pid).read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def picture_look(browser, scratch, folder):
    """Not under seep, with so many images that its memory grows for some looks."""
    look = scratch + "/look.json"
    job = subprocess.Popen([*JOB, "20000"], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while job.poll() is None and resident_bytes(job.pid) < 400 << 20:
            time.sleep(0.1)
        subprocess.run([SEEP, "look", "--every", "1", "--times", "4", "--format", "json", "-o", look, str(job.pid)],
                       stderr=subprocess.DEVNULL)
    finally:
        job.kill()
        job.wait()
    subprocess.run([SEEP, "view", look], check=True, stdout=subprocess.DEVNULL)
    browser.look(WIDTH, 580)
    browser.open(scratch + "/look.html", "#holders")
    browser.wait(lambda: browser.all("svg.icicle"), "holders")
    browser.driver.save_screenshot(str(folder / "holders.png"))
    print(folder / "holders.png")


def main(folder):
    if page.MISSING or not shutil.which("tmux"):
        sys.exit("pictures.py: %s is missing: ./bootstrap check installs it" % (page.MISSING or "tmux"))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="seep-pictures-") as scratch:
        browser = page.Browser()
        try:
            picture_views(browser, scratch, folder, [*JOB, "600"], PICTURES)
            picture_device(browser, scratch, folder)
            picture_top(browser, scratch, folder)
            picture_look(browser, scratch, folder)
        finally:
            browser.quit()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
