"""A page of `seep view` in a real browser, headless and without a network."""
import base64
import json
import re
import shutil
import unittest

from tests.cli.hostile_jobs import hostile_job

CHROME = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None

NEEDED = (("chromium", CHROME), ("chromium-driver", DRIVER), ("python3-selenium", webdriver))
MISSING = next((what for what, there in NEEDED if not there), None)
VIEWS = ("findings", "timeline", "flame", "sites", "processes")
SECONDS = 60  # for what takes a moment, on a busy machine

# A job whose names would run something; after its "fix" it keeps less.
HOSTILE = hostile_job("""["</script><script>window.harmed=1</script>", "<img src=x onerror=window.harmed=2>", "<!--<script>",
         "\\u202eevil", "a" * 100000]""")

# Elements that stick out of the page where nothing scrolls, and controls that lie on each other.
STICKS_OUT = """
const width = document.documentElement.clientWidth, bad = [];
const scrolls = (e) => e && e !== document.body &&
    (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
for (const e of document.querySelectorAll("body *")) {
    const box = e.getBoundingClientRect();
    if (box.width && !e.closest(".unseen, .skip, dialog, defs, details:not([open]) > :not(summary)") && box.right > width + 1 &&
        !scrolls(e.parentElement))
        bad.push(e.tagName + "." + e.getAttribute("class") + " to " + Math.round(box.right));
}
if (document.documentElement.scrollWidth > width)
    bad.push("the page is " + document.documentElement.scrollWidth + " wide");
for (const e of document.querySelectorAll("svg.chart text"))
    if (e.textContent && !e.closest("g.brush")) {
        const box = e.getBoundingClientRect(), around = e.ownerSVGElement.getBoundingClientRect();
        if (box.left < around.left - 1 || box.right > around.right + 1 || box.top < around.top - 1 ||
            box.bottom > around.bottom + 1)
            bad.push("chart text " + e.textContent + " is cut");
    }
const lieOn = (p, q) => p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1;
for (const chart of document.querySelectorAll("svg.chart:not(.map)")) {
    const names = [...chart.querySelectorAll("text")].filter((e) => e.textContent && !e.closest("g.brush"))
        .map((e) => [e.textContent, e.getBoundingClientRect()]);
    names.forEach(([a, p], i) => names.slice(i + 1).forEach(([b, q]) => {
        if (lieOn(p, q))
            bad.push("chart text " + a + " lies on " + b);
    }));
    const axes = [...chart.querySelectorAll(".axis")].filter((e) => e.querySelector(".tick text"));
    if (axes.length < 2 || !/[BAKMGT]iB|B$/.test(axes[0].textContent))
        bad.push("a chart without axes or unit");
    for (const axis of axes) {
        const said = [...axis.querySelectorAll(".tick text")].map((e) => e.textContent);
        if (new Set(said).size < said.length)
            bad.push("an axis says a number twice: " + said.join());
    }
    if (!chart.querySelector(".axis-name")?.textContent)
        bad.push("a chart whose lower axis has no name");
    if (!chart.getAttribute("aria-label"))
        bad.push("a chart that says nothing to who does not see it");
}
for (const cell of document.querySelectorAll(".cell:not(.left), .head .cell *"))
    if (cell.scrollWidth > cell.clientWidth + 1)
        bad.push("cell " + cell.textContent + " is cut");
for (const list of document.querySelectorAll("main select")) {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(list).font;
    for (const option of list.options) /* names from the profile may be any length */
        if (!/^F\d+ /.test(option.text) && pen.measureText(option.text).width > list.clientWidth - 8)
            bad.push("choice " + option.text + " is cut");
}
const wanted = "nav a, header button, main button, main select, main input, h2, .facts li";
const boxes = [...document.querySelectorAll(wanted)].filter((e) => !e.closest(".scroller, dialog, details:not([open]) > :not(summary)"))
    .map((e) => [e, e.getBoundingClientRect()]).filter(([, b]) => b.width);
boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
    if (!a.contains(b) && lieOn(p, q))
        bad.push(a.textContent.slice(0, 30) + " lies on " + b.textContent.slice(0, 30));
}));
return bad;
"""

# How many courses are drawn, and where one goes up or down and along at once.
SLOPES = """
const paths = [...document.querySelectorAll(".chart .area, .chart .rss, .chart .level, .chart .base")], slopes = [];
for (const path of paths) {
    const points = path.getAttribute("d").split(/[MLZ]/).filter(Boolean).map((point) => point.split(",").map(Number));
    if (points.some(([x, y], i) => i && x !== points[i - 1][0] && y !== points[i - 1][1]))
        slopes.push(path.getAttribute("class"));
}
return [paths.length, slopes];
"""


def start_browser():
    options = Options()
    options.binary_location = CHROME
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--disable-background-networking", "--no-first-run"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(DRIVER), options=options)


class Browser:
    """What tests ask of the page that is open."""

    def __init__(self):
        self.driver = start_browser()
        self.file = None

    def quit(self):
        self.driver.quit()

    def look(self, width=1280, height=900, scheme="light", media="screen"):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def open(self, file, fragment=""):
        self.driver.get("about:blank")  # another fragment alone would not read the file again
        self.driver.get("file://%s%s" % (file, fragment))
        self.wait(lambda: self.all("nav a"))
        self.settle()

    def settle(self):
        """Until what was asked for is drawn: an address is read, and a chart measures its room, before a picture."""
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => "
                                         "requestAnimationFrame(() => setTimeout(done, 0)))")

    def arrive(self, view):
        self.wait(lambda: self.fragment().startswith("#" + view) and self.run(
            "const a = document.querySelector('nav a[aria-current]'); "
            "return a !== null && a.hash.startsWith('#' + arguments[0])", view), view)
        self.settle()

    def click(self, css, number=0):
        self.all(css)[number].click()
        self.settle()

    def run(self, script, *args):
        return self.driver.execute_script(script, *args)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def text(self, css="main"):
        return self.run("return document.querySelector(arguments[0]).innerText", css).replace("\u00a0", " ")

    def fragment(self):
        return self.run("return location.hash")

    def active(self):
        """Attributes of what has the focus."""
        return self.run("const e = document.activeElement; return {tag: e.tagName.toLowerCase(), "
                        "class: e.getAttribute('class') || '', label: e.getAttribute('aria-label') || ''}")

    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def drag(self, css, from_share, to_share):
        width = self.run("return document.querySelector(arguments[0]).getBoundingClientRect().width", css)
        ActionChains(self.driver).move_to_element_with_offset(self.one(css), int((from_share - 0.5) * width), 0) \
            .click_and_hold().move_by_offset(int((to_share - from_share) * width), 0).release().perform()
        self.settle()

    def choose(self, label, value):
        self.run("const labels = [...document.querySelectorAll('main label, dialog[open] label')];"
                 "const list = labels.find((l) => l.firstChild.textContent === arguments[0]).querySelector('select');"
                 "list.value = arguments[1]; list.dispatchEvent(new Event('change'))", label, value)
        self.settle()

    def wait(self, true, what=""):
        return WebDriverWait(self.driver, SECONDS, 0.05).until(lambda _: true(), what)

    def pages_on_paper(self):
        """How many pages of A4 it takes, printed from a screen of 1280."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
        done = self.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
        self.settle()
        return max(int(n) for n in re.findall(rb"/Count (\d+)", base64.b64decode(done["data"])))

    def complaints(self):
        """What the console said, and addresses that were asked for."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith(("file://", "data:", "about:")):
                    said.append("asks for " + url)
        return said


class BrowserCase:
    """Mixed into a test case: one browser for all, and no page that complains."""

    browser = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if MISSING:
            raise unittest.SkipTest("no %s here" % MISSING)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        super().setUp()
        self.browser.look()

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        super().tearDown()


if not webdriver:
    Keys = None
__all__ = ["BrowserCase", "Keys", "STICKS_OUT", "VIEWS"]
