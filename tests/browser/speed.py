#!/usr/bin/python3
"""How fast pages of `seep view` are in headless Chromium: the median of ROUNDS openings of each page, in turns.

    tests/browser/speed.py [--rounds N] [--sites N] PAGE.html...

With --sites each page is first blown up to that many sites. ms: first paint and drawn are times since the page was opened,
the rest is the CPU time of the page's main thread from what is done until the next frame, which others on the machine
change little."""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.browser import page  # noqa: E402
from tests.browser.made_up import blown_up  # noqa: E402

# name: (the view that it is done in, what is done)
ACTS = {
    "timeline": ("findings", "location.hash = '#timeline'"),
    "by part": ("timeline", "state.set({by: 'part'})"),
    "by finding": ("timeline", "state.set({by: 'finding'})"),
    "by process": ("timeline", "state.set({by: 'process'})"),
    "window": ("timeline", "state.set({window: '3-40'})"),
    "flame": ("findings", "location.hash = '#flame'"),
    "growth": ("flame", "state.set({measure: 'growth'})"),
    "peak in a window": ("flame?window=3-40", "state.set({measure: 'peak'})"),
    "both": ("flame", "state.set({stacks: 'both'})"),
    "inverted": ("flame", "state.set({inverted: '1'})"),
    "inverted, both": ("flame?stacks=both", "state.set({inverted: '1'})"),
    "zoom": ("flame", "state.set({zoom: String(treeMade.tree.children[0].frame)}, true)"),
    "flame search": ("flame", "state.set({search: 'load'})"),
    "sites": ("findings", "location.hash = '#sites'"),
    "sort": ("sites", "state.set({sort: 'line'})"),
    "filter": ("sites", "state.set({search: 'call'})"),
    "open a site": ("sites", "state.set({site: texts[sites.id[0]]}, true)"),
    "processes": ("findings", "location.hash = '#processes'"),
}
# Twice a frame: what a listener of the address does comes with the first.
TIMED = """
const done = arguments[1], next = () => requestAnimationFrame(() => setTimeout(done));
if (arguments[0].startsWith("location"))
    addEventListener("hashchange", next, {once: true});
(0, eval)(arguments[0]);
if (!arguments[0].startsWith("location"))
    next();
"""
PAINTED = """return [performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
    performance.getEntriesByName("drawn")[0].startTime]"""


def busy_ms(browser):
    metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def one_round(file, times):
    browser = page.Browser()
    try:
        browser.look()
        browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        for name, (view, act) in ACTS.items():
            browser.open(file, "#" + view)
            paint, drawn = browser.run(PAINTED)
            times.setdefault("first paint", []).append(paint or 0)
            times.setdefault("drawn", []).append(drawn)
            before = busy_ms(browser)
            browser.driver.execute_async_script(TIMED, act)
            times.setdefault(name, []).append(busy_ms(browser) - before)
    finally:
        browser.quit()


def main(args):
    with tempfile.TemporaryDirectory(prefix="seep-speed-") as scratch:
        pages = {}
        for i, path in enumerate(args.pages):
            pages[path] = os.path.abspath(path)
            if args.sites:
                pages[path] = "%s/%d.html" % (scratch, i)
                with open(path, encoding="utf-8") as f, open(pages[path], "w", encoding="utf-8") as out:
                    out.write(blown_up(f.read(), args.sites))
        times = {path: {} for path in pages}
        for _ in range(args.rounds):
            for path, file in pages.items():
                one_round(file, times[path])
        print("%-18s" % "ms" + "".join("%12s" % pathlib.Path(path).stem[-11:] for path in pages))
        for name in times[args.pages[0]]:
            print("%-18s" % name + "".join("%12.0f" % statistics.median(times[path][name]) for path in pages))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sites", type=int, default=0)
    parser.add_argument("pages", nargs="+", metavar="PAGE")
    if page.MISSING:
        sys.exit("speed.py: %s is missing: ./bootstrap check installs it" % page.MISSING)
    main(parser.parse_args())
