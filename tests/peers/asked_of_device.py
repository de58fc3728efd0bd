"""What PyTorch's memory_viz answers of a job on a device, and how each is asked of it and of seep."""
import re

from tests.peers.pages import GPU_JOB

SHOWN = "body > div:not([style*='display: none'])"


def viz(view, ask):
    def choose(page):
        if view != "Active Memory Timeline":
            page.choose(page.all("select")[1], view)
        return ask(page)
    return view, lambda made: made.memory_viz(made.snapshot(GPU_JOB)), "select option", choose


def seep(view, ask):
    return view, lambda made: made.seep(GPU_JOB), "nav a", ask


def viz_axis(page):
    return "by the axis, above " + page.run("return [...document.querySelectorAll('.tick text')].pop().textContent")


def viz_block_at_peak(page):
    """The block under the mouse in the middle of the highest column."""
    at = page.run("""
        const svgs = [...document.querySelectorAll('svg')], box = svgs[0].getBoundingClientRect();
        const points = svgs[1].querySelector('polygon').getAttribute('points').split(/\\s+(?=[\\d.]+,)/)
            .map((p) => p.split(',').map(Number)).sort((a, b) => a[1] - b[1]);
        return [box.left + box.width * (points[0][0] + 0.2) / 1024, box.top + box.height / 2];""")
    page.point_at(*at)
    return page.until(lambda: block(page.text("pre")))


def block(text):
    """Its size and the first frame of the job's own Python."""
    size, own = re.search(r"Size: ([\d.]+\w+)", text), re.search(r"g06\w+\.py:\d+:\w+", text)
    return size and "one block: %s, %s" % (size[1], own[0] if own else "no frame of Python")


def viz_search(page):
    page.click("input[placeholder^='Search stack']")
    page.word("forward")
    return page.until(lambda: re.search(r"[\d]+ match\w*", page.text("body")))[0]


def viz_window(page):
    """In the course below the picture; and what lies there, a block at a time."""
    box = page.run("const b = document.querySelectorAll('svg')[1].getBoundingClientRect();"
                   "return [b.left, b.top, b.width]")
    page.drag_at((box[0] + box[2] * 0.3, box[1] + 20), (box[0] + box[2] * 0.5, box[1] + 20))
    moved = page.until(lambda: page.run("return [...document.querySelectorAll('svg g')].map((g) => "
                                        "g.getAttribute('transform')).find((t) => /^scale/.test(t))"))
    page.point_at(box[0] + box[2] * 0.5, box[1] - 30)
    return "drawn larger: %s), %s" % (moved.split(")")[0], page.until(lambda: block(page.text("pre"))))


def viz_segment(page):
    rects = page.until(lambda: page.all(SHOWN + " rect[fill=white]"))
    free = max(rects, key=lambda r: float(r.get_attribute("width")))
    box = page.run("const b = arguments[0].getBoundingClientRect(); return [b.left + 3, b.top + b.height / 2]", free)
    page.point_at(*box)
    text = page.until(lambda: page.text(SHOWN + " > div > pre"))
    return "one segment: " + text.splitlines()[0]


def viz_failure(page):
    event = page.until(lambda: page.run("return [...document.querySelectorAll(arguments[0] + ' pre')]"
                                        ".find((e) => e.textContent.startsWith('OOM'))", SHOWN))
    page.run("arguments[0].scrollIntoView()", event)
    page.click(event)
    page.actions += 1  # to scroll to it in the list
    return " ".join(page.text(SHOWN + " > div > pre").splitlines()[:2])


def viz_reserved(page):
    page.until(lambda: len(page.all(SHOWN + " polygon")) > 1)
    return "%d segments, and the course by the axis" % (len(page.all(SHOWN + " polygon")) - 2)


def viz_settings(page):
    text = page.text(SHOWN + " pre")
    return "%d settings, %s" % (text.count('":'), re.search(r'"expandable_segments": \w+', text)[0])


def viz_order(page):
    return "%d events" % page.until(lambda: len(page.all(SHOWN + " pre")) - 1)


def seep_facts(page):
    return re.search(r".*at its peak.*", page.text(".facts"))[0]


def seep_peak(page):
    return page.text(".at-peak")


def seep_search(page):
    page.keys("/")
    page.word("forward")
    return page.text(".share")


def seep_window(page):
    page.keys("3")
    page.drag_share(".chart .overlay", 0.3, 0.5)
    return "%s: %s" % (page.run("return windowText(windowOf(state.get('window')))"), page.text(".told-frame"))


def seep_failure(page):
    page.click("article.finding summary")
    return page.text("article.finding details li")


def seep_growing(page):
    """What the second finding's title and its line say: the first one is the failed request."""
    return "%s, %s" % tuple(page.text("article:nth-of-type(2) " + part) for part in ("h2", ".where"))


def seep_layout(page):
    page.keys("6")
    return re.search(r"In step.*", page.text(".story"))[0]


def seep_settings(page):
    page.keys("6")
    return re.search(r"Settings of PyTorch.s allocator.*", page.text("main"))[0]


def seep_reserved(page):
    page.keys("2")
    drawn = re.search(r"taken from the driver.*", page.text("main"))
    if drawn:
        return drawn[0]
    page.choose("main select", "device:0")
    return page.run("return document.querySelector('main svg.chart').getAttribute('aria-label')")


def tabs(browser, file):
    """[view, shapes drawn, what the console said] of a snapshot in memory_viz's page."""
    browser.driver.get("file://%s" % file)
    browser.wait(lambda: browser.all("select option"))
    browser.settle()
    browser.complaints()
    names = [option.text for option in browser.all("select")[1].find_elements("tag name", "option")]
    for name in names:
        browser.run("const s = document.querySelectorAll('select')[1]; s.value = arguments[0];"
                    "s.dispatchEvent(new Event('change'))", name)
        browser.settle()
        shapes = len(browser.all(SHOWN + " polygon")) + len(browser.all(SHOWN + " rect"))
        settings = browser.run("return [...document.querySelectorAll(arguments[0] + ' pre')].map((e) => "
                               "e.textContent).filter((t) => t.startsWith('{')).join('').length", SHOWN)
        drawn = "%d characters" % settings if name == "Allocator Settings" else "%d shapes" % shapes
        yield name, drawn, browser.complaints()


QUESTIONS = [
    ("How high was the peak?", viz("Active Memory Timeline", viz_axis), seep("Findings", seep_facts)),
    ("What lay there at the peak?", viz("Active Memory Timeline", viz_block_at_peak),
     seep("Findings", seep_peak)),
    ("What came by way of a function?", viz("Active Memory Timeline", viz_search), seep("Flame graph", seep_search)),
    ("What was live in another part of the run?", viz("Active Memory Timeline", viz_window),
     seep("Flame graph", seep_window)),
    ("What was there as a request failed?", viz("Allocator State History", viz_failure),
     seep("Findings", seep_failure)),
    ("How much was reserved, and when?", viz("Active Cached Segment Timeline", viz_reserved),
     seep("Timeline", seep_reserved)),
    ("How much of a segment is free, and where?", viz("Allocator State History", viz_segment),
     seep("Device", seep_layout)),
    ("Which allocation followed which?", viz("Allocator State History", viz_order), None),
    ("How was the allocator set?", viz("Allocator Settings", viz_settings), seep("Device", seep_settings)),
    ("Which line keeps it, and does it grow?", None,
     seep("Findings", seep_growing)),
    ("What is to be done?", None, seep("Findings", lambda page: page.text("article.finding .advice"))),
]
