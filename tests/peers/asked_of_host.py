"""What memray's reports answer of a job on the host, and how each is asked of memray and of seep."""
import re

from tests.peers.pages import HOST_JOB, WORKERS_JOB


def memray(report, ask):
    ready = {"table": "#the_table td"}.get(report, "#chart g")
    return report, lambda made: made.memray(HOST_JOB, report), ready, ask


def seep(view, ask, job=HOST_JOB):
    return view, lambda made: made.seep(job), "nav a", ask


def stats(heading, lines):
    """Of memray's text: what stands below a heading."""
    def read(made):
        text = made.memray_stats(HOST_JOB)
        return "; ".join(line.strip("\t -") for line in text[text.index(heading):].splitlines()[1:1 + lines])
    return "stats, in the terminal", read


def frame(page, part):
    """The box of memray's flame graph, whose name is the line's text."""
    return page.run("return [...document.querySelectorAll('#chart g')].find((g) => "
                    "(g.getAttribute('name') || '').includes(arguments[0]))", part)


def memray_frame(part):
    def ask(page):
        box = frame(page, part)
        if not box:
            return None
        page.point(box)
        return page.until(lambda: page.run("return [...document.querySelectorAll('.d3-flame-graph-tip')]"
                                           ".map((e) => e.innerText).join('')"))
    return ask


def memray_window(page):
    page.until(lambda: page.all(".rangeslider-grabarea-max"))
    before = memray_total(page)
    page.drag(".rangeslider-grabarea-max", -500)
    page.until(lambda: memray_total(page) != before)
    return "all: " + memray_total(page)


def memray_total(page):
    return page.run("const d = d3.select('#chart g').datum(); return d ? d.data.value + ' B' : ''")


def memray_dialog(page):
    page.click("button[data-target='#statsModal']")
    return page.until(lambda: re.search(r"Peak memory usage: .*", page.text("#statsModal")))[0]


def memray_search(page):
    page.click("#searchTerm")
    page.word("collate")
    page.until(lambda: page.run("return d3.selectAll('#chart g').data().some((d) => d.highlight)"))
    return "%d boxes are marked" % page.run("return d3.selectAll('#chart g').data().filter((d) => d.highlight).length")


def memray_first_rows(column):
    def ask(page):
        if column:
            page.click(page.all("#the_table th")[column])
            if page.all("#the_table th")[column].get_attribute("aria-sort") == "ascending":
                page.click(page.all("#the_table th")[column])
        return "; ".join(row.text for row in page.all("#the_table tbody tr")[:2])
    return ask


def memray_temporary(page):
    return "all: %s" % memray_total(page)


def seep_peak(page):
    return page.text(".at-peak")


def seep_window(page):
    page.keys("3")
    page.drag_share(".chart .overlay", 0.1, 0.3)
    return "%s: %s" % (page.run("return windowText(windowOf(state.get('window')))"), page.text(".told-frame"))


def seep_search(page):
    page.keys("/")
    page.word("collate")
    return page.text(".share")


def seep_facts(pattern):
    return lambda page: re.search(pattern, page.text(".facts"))[0]


def seep_row(page):
    page.keys("4")
    return columns(page, ("line", "allocations", "allocated_bytes"))


def columns(page, keys):
    return page.run(
        "const line = linesInOrder('', '', state.get('sort', 'retained_bytes'), true)[0];"
        "return LINE_COLUMNS.filter((c) => arguments[0].includes(c.key)).map((c) => c.title + ' ' +"
        "    (c.key === 'line' ? shortFrameText(line.f) : c.text(line))).join(', ')", list(keys))


def seep_sizes(page):
    page.click(".in-all summary")
    return page.text(".in-all .bars")


def seep_course(page):
    return page.run("return document.querySelector('main svg.chart').getAttribute('aria-label')")


def seep_inverted(page):
    page.keys("3", "i")
    return page.run("return document.querySelectorAll('svg.flame g')[1].getAttribute('aria-label')")


def seep_in_all(number):
    """By bytes, and by how often."""
    def ask(page):
        page.click(".in-all summary")
        return page.all(".in-all li")[number].text
    return ask


def seep_processes(page):
    page.keys("5")
    cards = [re.sub(r"(?s)\n.*?\n(?=[PR]SS )", ": ", card.text) for card in page.all(".process")]
    return "; ".join(card.split("\n")[0] for card in cards[1:3])


def seep_card(term):
    """What the first finding says under a heading."""
    return lambda page: page.run(
        "return [...document.querySelectorAll('article.finding dt')].find((t) => t.textContent === arguments[0])"
        ".nextElementSibling.innerText", term)


def memray_files(made):
    records = made.memray_records(WORKERS_JOB, "--follow-fork")
    return "%d files, a command and a page for each" % len(records)


QUESTIONS = [
    ("How high was the peak?", memray("flame graph", memray_dialog), seep("Findings", seep_facts(r".*at its peak.*"))),
    ("What had the line at the peak?", memray("flame graph", memray_frame("LEAK")),
     seep("Findings", seep_peak)),
    ("What did it keep to the end of the training?", memray("flame graph, --leaks", lambda page: (
        memray_frame("LEAK")(page) or "the line is not in it: main() had returned, all: " + memray_total(page))),
     seep("Findings", seep_card("How much"))),
    ("Which lines had most at the peak, or keep most?", memray("table", memray_first_rows(0)), seep("Table", seep_row)),
    ("What was live at another moment?", memray("flame graph, --temporal", memray_window),
     seep("Flame graph", seep_window)),
    ("What came by way of a function?", memray("flame graph", memray_search), seep("Flame graph", seep_search)),
    ("How did the memory go?", memray("flame graph", lambda page: "%d lines above the graph" % page.run(
        "return document.querySelectorAll('#smallMemoryGraph .scatterlayer .trace').length")),
     seep("Findings", seep_course)),
    ("How many allocations, how many bytes in all?", stats("Total allocations", 4),
     seep("Findings", lambda page: page.text(".in-all summary"))),
    ("Which line allocated most bytes in all?", stats("largest allocating locations (by size)", 2),
     seep("Findings", seep_in_all(0))),
    ("Which line allocated most often?", stats("largest allocating locations (by number", 2),
     seep("Findings", seep_in_all(1))),
    ("Who called for it, innermost first?", memray("flame graph, --inverted", lambda page: page.run(
        "return d3.selectAll('#chart g').data().filter((d) => d.depth === 1).sort((a, b) => b.value - a.value)"
        ".map((d) => d.data.location.join(' ') + ' ' + d.data.value + ' B')[0]")), seep("Flame graph", seep_inverted)),
    ("What lived only briefly?", memray("flame graph, --temporary-allocations", memray_temporary),
     seep("Findings", seep_in_all(2))),
    ("How were sizes distributed?", stats("Histogram of allocation size", 6), seep("Findings", seep_sizes)),
    ("Which function of the allocator was called?", stats("Allocator type distribution", 5), None),
    ("What did each process have?", ("--follow-fork", memray_files), seep("Processes", seep_processes, WORKERS_JOB)),
    ("Who holds it?", None, seep("Findings", seep_card("Who holds it"))),
    ("In which steps did it grow?", None, seep("Findings", seep_card("When"))),
    ("What is to be done?", None, seep("Findings", seep_card("To do"))),
]
