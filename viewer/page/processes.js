/* The job's processes: who started whom, what each was, how it ended, and its memory over time, all at one scale. */

const UNEXPLAINED_SHARE = 0.05; /* of resident memory: a smaller share is not mentioned */
const MOST_DEPTH = 5; /* deeper children stand beside their parent */
const ROLE_NAMES = {trainer: "trainer", "loader-worker": "worker", rank: "rank", helper: "helper"};

function processName(p) {
    return p.role === "rank" && p.rank !== null ? "rank " + p.rank : ROLE_NAMES[p.role] || p.role;
}

/* Seconds since the job's start. */
function processStart(p) {
    return Math.max(0, (p.started_unix_s || job.started_unix_s) - job.started_unix_s);
}

/* How a process, or the job, ended, in the report's words. */
function exitText(p) {
    return p.exit.text;
}

function isFailed(p) {
    return p.exit.failed;
}

/* [process, depth], children below their parents. After an exec several entries share a pid: they stand in a row. */
function processTree() {
    const pids = new Set(processes.map((p) => p.pid));
    const children = d3.nest().key((p) => pids.has(p.ppid) && p.ppid !== p.pid ? p.ppid : "").map(processes);
    const list = [], seen = new Set();
    const walk = (p, depth) => {
        if (seen.has(p))
            return;
        seen.add(p);
        list.push([p, depth]);
        if (processes.find((q) => q.pid === p.pid && !seen.has(q)))
            return;
        (children.get(p.pid) || []).forEach((child) => walk(child, depth + 1));
    };
    (children.get("") || []).forEach((p) => walk(p, 0));
    processes.forEach((p) => walk(p, 0));
    return list;
}

function processChart(p, memory, most, seconds) {
    const own = p.timeline;
    if (!own || own.t_s.length < 2)
        return el("p", {class: "quiet"}, "no timeline: this process was only counted, or ended too soon");
    if (!highestOf(p, memory))
        return el("p", {class: "quiet"}, "nothing in " + memoryName(memory));
    const rows = d3.range(own.t_s.length);
    const areas = Object.keys(timeline.spaces).filter((space) => memoryOf(space) === memory)
        .map((name) => ({name, index: spaceIndex(name), values: own.spaces[name] ? own.spaces[name].live_bytes : new Array(rows.length).fill(0)}));
    return fittedInSight((width) => {
        const chart = chartOf(width, 132, [0, seconds], most, true);
        drawAreas(chart, own.t_s, areas);
        drawAxes(chart, secondsText, Math.max(2, width / 90), 3, "time since the start");
        if (memory === HOST)
            drawLine(chart, own.t_s, own.rss_bytes, "rss");
        chart.root.setAttribute("aria-label", `memory of process ${p.pid}, ${residentText(p)}`);
        return chart.root;
    }, 132);
}

/* The peak of one process, for a scale that all share. */
function highestOf(p, memory) {
    if (!p.timeline || !p.timeline.t_s.length)
        return 0;
    return Math.max(d3.max(ofSpaces(memory, p.timeline.spaces, d3.range(p.timeline.t_s.length))) || 0,
        memory === HOST ? d3.max(p.timeline.rss_bytes) : 0);
}

function spacesOf(p, memory) {
    return Object.entries(p.spaces).filter(([space, sums]) => memoryOf(space) === memory && sums.peak_bytes)
        .map(([space, sums]) => `${space} ${bytesText(sums.peak_bytes)}`).join(", ");
}

/* PSS, its proportional share of memory that several map, comes first, where it was measured. */
function residentText(p) {
    if (!p.rss_peak_bytes)
        return "resident memory not known";
    return (p.pss_peak_bytes && processes.length > 1 ? `PSS peak ${bytesText(p.pss_peak_bytes)}, ` : "") + `RSS peak ${bytesText(p.rss_peak_bytes)}`;
}

/* "; 2.5 s of CPU, 10 ms a step" */
function cpuText({cpu_s: all, cpu_s_per_step: step}) {
    const stepSeconds = (s) => s < 1 ? `${countText(1000 * s) === "0" ? (1000 * s).toPrecision(1) : countText(1000 * s)}${NBSP}ms` : secondsText(s);
    return all ? `; ${secondsText(all)} of CPU` + (step ? `, ${stepSeconds(step)} a ${stepUnit}` : "") : "";
}

/* What its RSS consisted of, folded; a large unexplained part is said openly. */
function residentFold(p) {
    if (!p.rss || !p.rss.peak_bytes)
        return null;
    const share = p.rss.unexplained_bytes / p.rss.peak_bytes;
    const parts = fold({class: "brief"}, `What RSS was made of ${atStepText(p.rss.step)}: ${bytesText(p.rss.peak_bytes)}` +
        (share > UNEXPLAINED_SHARE ? `, ${bytesText(p.rss.unexplained_bytes)} of it unexplained` : ""), () => partsTable(p.rss));
    parts.keptAs = () => "resident " + p.pid;
    return parts;
}

function processCard(p, memory, most, seconds) {
    return el("div", {class: "process"},
        el("h3", {}, processName(p), " ", el("span", {class: "quiet"}, p.pid), " ",
            el("span", {class: isFailed(p) ? "bad" : "quiet"}, isFailed(p) ? "▲ " : "", exitText(p))),
        el("p", {class: "quiet argv"}, commandOf(p.argv, 160)),
        el("p", {}, residentText(p), "; ", spacesOf(p, memory) || "nothing recorded",
            p.steps ? `; ${plural(p.steps, stepUnit)}` : "", p.duration_s ? `; ${secondsText(p.duration_s)}` : "", cpuText(p),
            p.exec ? "; replaced by exec" : ""),
        processChart(p, memory, most, seconds), residentFold(p));
}

/* Nested lists: the children of a process stand side by side below it. */
function processLists(list, card) {
    const top = el("ul", {class: "processes"}), open = [top];
    for (const [p, depth] of list) {
        const level = Math.min(depth, MOST_DEPTH);
        while (open.length <= level) {
            const own = el("ul", {class: "processes"});
            open[open.length - 1].lastElementChild.append(own);
            open.push(own);
        }
        open.length = level + 1;
        open[level].append(el("li", {}, card(p)));
    }
    return top;
}

function foldedTable() {
    const list = data.helpers || [];
    return list.length ? [el("h2", {}, "Helpers (only counted)"), el("div", {class: "scroll-x"}, el("table", {},
        el("thead", {}, el("tr", {}, ["program", "processes", "RSS peak"].map((t) => el("th", {scope: "col"}, t)))),
        el("tbody", {}, list.map((h) => el("tr", {}, el("th", {scope: "row"}, nameOf(h.name || "several")),
            el("td", {}, countText(h.processes)), el("td", {}, bytesText(h.rss_peak_bytes)))))))] : [];
}

const processesView = {
    name: "processes", title: "Processes",
    enter(root) {
        const controls = el("div", {class: "controls"}), list = el("div"), keys = el("div");
        root.append(controls, keys, list, ...foldedTable());
        return () => {
            const memory = memoryWanted();
            updateControls(controls, [memoryChoice()]);
            const most = d3.max(processes, (p) => highestOf(p, memory)), seconds = job.duration_s || 1;
            keys.replaceChildren(legend([...Object.keys(timeline.spaces).filter((space) => memoryOf(space) === memory)
                .map((name) => ({name, index: spaceIndex(name)})), ...(memory === HOST ? [{name: "RSS", line: "rss"}] : [])]));
            list.replaceChildren(processLists(processTree(), (p) => processCard(p, memory, most, seconds)));
        };
    },
};
