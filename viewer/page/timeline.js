/* Memory over the whole run: areas of its parts, lines of what the system reports, and a window to look into. */

const GROUPINGS = [["space", "space"], ["part", "part"], ["finding", "finding"], ["process", "process"], ["resident", "part of RSS"]];
/* A digest knows no process over time, and only the host has an RSS. */
const groupings = () => GROUPINGS.filter(([key]) => !(many && (key === "process" || key === "resident")) &&
    !(key === "resident" && memoryWanted() !== HOST));
const groupingWanted = () => oneOf(groupings(), state.get("by"));

/* A digest knows levels by step alone. */
const axisWanted = () => many ? "steps" : state.get("axis", "steps");

const REST_NAMES = {space: "other spaces", part: "small sites, or freed within a step", finding: "no finding", process: "other processes", resident: "other parts"};
const MOST_AREAS = 7;

/* The rows to draw: all of them on the axis of time, one per step on that of steps. */
function rowsOf(axis) {
    return axis === "seconds" ? d3.range(nRows) : stepRows;
}

function ofSpaces(memory, columns, rows) {
    const sum = new Float64Array(rows.length);
    for (const [space, column] of Object.entries(columns)) {
        if (memoryOf(space) === memory)
            rows.forEach((row, n) => sum[n] += column.live_bytes[row] || 0);
    }
    return sum;
}

function bySpace(memory, rows) {
    return Object.entries(timeline.spaces).filter(([space]) => memoryOf(space) === memory)
        .map(([space, column]) => ({name: space, index: spaceIndex(space),
            values: Float64Array.from(rows, (row) => column.live_bytes[row] || 0)}));
}

/* A process has its own times: at each of the job's its latest level counts, and nothing after its end. */
function byProcess(memory, rows) {
    return processes.filter((p) => p.timeline && p.timeline.t_s.length).map((p) => {
        const own = ofSpaces(memory, p.timeline.spaces, d3.range(p.timeline.t_s.length));
        const ended = p.exit.kind === "running" ? Infinity : p.timeline.t_s[p.timeline.t_s.length - 1];
        return {name: `${processName(p)} ${p.pid}`, values: Float64Array.from(rows, (row) => {
            const at = d3.bisectRight(p.timeline.t_s, timeline.t_s[row]) - 1;
            return at < 0 || timeline.t_s[row] > ended ? 0 : own[at];
        })};
    });
}

/* RSS's parts, of all processes. They are known now and then; between two times they change evenly. */
function byResident(rows) {
    const known = processes.map((p) => p.timeline).filter((own) => own && own.resident && own.resident.t_s.length);
    return PARTS_OVER_TIME.map(([key, name]) => ({name, values: Float64Array.from(rows, (row) => d3.sum(known, (own) => {
        const at = timeline.t_s[row], ended = own.t_s[own.t_s.length - 1];
        return at < own.resident.t_s[0] || at > ended ? 0 : d3.scaleLinear(own.resident.t_s, own.resident[key]).clamp(true)(at);
    }))}));
}

/* Sums of sites, and what no site explains. A site's level is for the end of a step: within a step the parts are limited to
   the total. */
function bySites(memory, rows, nameOfSite) {
    const places = placesOfSteps(rows.map(siteStep));
    const total = ofSpaces(memory, timeline.spaces, rows);
    const groups = new Map();
    for (let i = 0; i < nSites; i++) {
        const name = site.memory(i) === memory ? nameOfSite(i) : null;
        if (name === null)
            continue;
        if (!groups.has(name))
            groups.set(name, {first: i, changes: new Float64Array(rows.length)});
        addChanges(i, places, groups.get(name).changes);
    }
    const areas = [...groups].map(([name, {first, changes}]) => ({name, first, values: sumUp(changes)}));
    const rest = new Float64Array(rows.length);
    for (let n = 0; n < rows.length; n++) {
        const sum = d3.sum(areas, (area) => area.values[n]);
        const scale = sum > total[n] ? total[n] / sum : 1;
        areas.forEach((area) => area.values[n] *= scale);
        rest[n] = Math.max(0, total[n] - sum);
    }
    return {areas, rest};
}

let areasCache;
derive(() => areasCache = new Map());

/* Areas, the largest first, after those of the finding in view; at most seven; the rest is one. */
function areasOf(grouping, memory, axis) {
    const finding = grouping === "finding" ? state.get("finding") : "", key = [grouping, memory, axis, finding].join(" ");
    if (areasCache.has(key))
        return areasCache.get(key);
    const rows = rowsOf(axis);
    let made = grouping === "process" ? {areas: byProcess(memory, rows)}
        : grouping === "part" ? bySites(memory, rows, site.part)
            : grouping === "finding" ? bySites(memory, rows, findingsTitle)
                : grouping === "resident" ? {areas: byResident(rows)}
                : {areas: bySpace(memory, rows)};
    const isWanted = (area) => finding !== "" && isOfFinding(area.first, finding);
    const areas = made.areas.filter((area) => d3.max(area.values) > 0)
        .sort((a, b) => isWanted(b) - isWanted(a) || d3.max(b.values) - d3.max(a.values));
    const rest = made.rest || new Float64Array(rows.length);
    areas.slice(MOST_AREAS).forEach((area) => area.values.forEach((v, n) => rest[n] += v));
    const shown = areas.slice(0, MOST_AREAS).map((area, index) => ({index, ...area}));
    const others = grouping === "process" ? areas.length - shown.length + " " : "";
    if (d3.max(rest) > 0)
        shown.push({name: others + REST_NAMES[grouping], values: rest, index: MOST_AREAS});
    areasCache.set(key, shown);
    return shown;
}

function findingTitle(finding) {
    return `${finding.id} ${placeText(finding.frame)}`;
}

/* Memory that several findings share is an area of its own, so that areas still add up; it has the line of the finding with
   fewest sites. */
function findingsTitle(i) {
    const own = findingsOf[i];
    return own.length ? `${findingIds(i)} ${placeText(own[d3.scan(own, (a, b) => a.sites.length - b.sites.length)].frame)}` : null;
}

/* Marks where epochs begin, with names above as far as they fit. */
function drawEpochs(chart, xOf) {
    const epochs = timeline.epoch_steps || [], isRoomy = (chart.right - chart.left) / epochs.length > 60;
    let free = 0;
    epochs.forEach((step, i) => {
        const x = Math.max(chart.x(xOf(step)), chart.left), name = (isRoomy ? "epoch " : "e") + (i + 1), end = x + 7 * name.length;
        chart.root.append(svg("path", {class: "mark", d: `M${x} ${chart.top}V${chart.bottom}`},
            svg("title", {}, `epoch ${i + 1} begins`)));
        if (x < free || end > chart.width)
            return;
        chart.root.append(svg("text", {class: "mark-name", x: x - 1, y: chart.top - 6}, name));
        free = end + 4;
    });
}

/* Steps per mark: a round number that leaves at least 8 pixels between marks. */
function stepsToAMark(chart) {
    const least = 8 * job.steps / (chart.right - chart.left);
    return [1, 2, 5, 10, 20, 50].map((n) => n * 10 ** Math.floor(Math.log10(Math.max(least, 1)))).find((n) => n >= least);
}

/* Marks the ends of steps on the axis of time. */
function drawSteps(chart, every) {
    for (let step = every, free = 0; step <= job.steps; step += every) {
        const x = chart.x(secondsOf(step));
        if (x < free)
            continue;
        free = x + 6;
        chart.root.append(svg("path", {class: "step-mark", d: `M${x} ${chart.bottom - 6}V${chart.bottom}`},
            svg("title", {}, `${stepUnit} ${step} ends`)));
    }
}

/* RSS counts pages that several processes share once for each of them; PSS does not, but only its peak is known. */
function sharedNote() {
    return processes.length > 1 && job.pss_peak_bytes ? `counts shared pages in each process; PSS peak ${bytesText(job.pss_peak_bytes)}` : "";
}

/* Pages that workers have written to became their own, which no call tells: known at two looks of each. */
function workersPages() {
    const looked = processes.filter((p) => p.role === "loader-worker" && p.private);
    const at = (p, step) => step < p.private.first_step ? null : step < p.private.last_step ? p.private.first_bytes : p.private.last_bytes;
    return timeline.step.map((step) => {
        const known = looked.map((p) => at(p, step)).filter((bytes) => bytes !== null);
        return known.length ? d3.sum(known) : null;
    });
}

/* The lines over the areas: the same memory as the system reports it, or at the other level, driver or allocator. */
function linesOf(memory) {
    if (memory === HOST)
        return [...timeline.rss_bytes ? [{name: processes.length > 1 ? "RSS, all processes" : "RSS", line: "rss", values: timeline.rss_bytes, note: sharedNote()}] : [],
            ...(findings.some((f) => f.pattern === "cow-growth") ? [{name: "workers' own pages", line: "level", values: workersPages(),
                note: "what they share with the trainer until they write to it; known at two looks of each"}] : [])];
    const [book, device] = memory.split(":"), other = (book === "tensor" ? "device:" : "tensor:") + device;
    const used = (timeline.devices || {})[device];
    return [...(timeline.spaces[other] ? [{name: (book === "tensor" ? "taken from the driver: " : "live: ") + spaceWords(other),
        line: "rss", values: timeline.spaces[other].live_bytes}] : []),
    ...(used ? [{name: "used on the GPU, as its driver reports", line: "level", values: used.used_bytes}] : [])];
}

/* Dragging, or the handles, sets the window; a click outside restores the whole run. */
function addBrush(chart, axis, xOf) {
    const window = windowOf(state.get("window"));
    const group = svg("g", {class: "brush"});
    const brush = d3.brushX().extent([[chart.left, chart.top], [chart.right, chart.bottom]]);
    chart.root.append(group);
    d3.select(group).call(brush);
    if (!window.whole)
        d3.select(group).call(brush.move, [chart.x(xOf(window.from)), Math.max(chart.x(xOf(window.to)), chart.x(xOf(window.from)) + 2)]);
    brush.on("end", () => { // set only now: the move above is not the user's
        const ends = d3.event.selection && d3.event.selection.map(chart.x.invert);
        const steps = ends && ends.map((v) => axis === "seconds" ? stepOfSeconds(v) : Math.max(0, Math.round(v)));
        state.set({window: steps ? steps.join("-") : ""});
    });
}

function drawTimeline(width, grouping, memory, axis) {
    const rows = rowsOf(axis), known = rows.map((row) => axis === "seconds" ? timeline.t_s[row] : timeline.step[row]);
    const held = (values) => heldUntil(axis === "seconds" ? 0 : job.steps, known, values).values;
    const xs = heldUntil(axis === "seconds" ? 0 : job.steps, known, known).steps;
    const areas = areasOf(grouping, memory, axis).map((area) => ({...area, values: held(area.values)}));
    const highest = highestOfAll(memory), limit = limitOf(memory), inSight = isInSight(limit, memory);
    const last = Math.max(axis === "seconds" ? 0 : lastStep, xs[xs.length - 1] || 1);
    const chart = chartOf(width, Math.max(240, Math.min(440, width * 0.5)), [0, last],
        1.05 * (inSight ? Math.max(limit, highest) : highest));
    const xOf = axis === "seconds" ? secondsOf : (step) => step;
    drawAreas(chart, xs, areas);
    drawAxes(chart, axis === "seconds" ? secondsText : countText, Math.max(2, width / 110), 6,
        axis === "seconds" ? "time since the start" : stepUnit);
    for (const {line, values} of linesOf(memory))
        drawLine(chart, xs, held(rows.map((row) => values[row])), line);
    if (inSight)
        drawLine(chart, [xs[0], xs[xs.length - 1]], [limit, limit], "limit");
    labelAreas(chart, xs, areas);
    drawEpochs(chart, xOf);
    if (axis === "seconds" && job.steps)
        drawSteps(chart, stepsToAMark(chart));
    drawMarks(chart, memory, grouping, axis);
    addBrush(chart, axis, xOf);
    chart.root.setAttribute("aria-label", `${memoryName(memory)} by ${grouping}, at most ${bytesText(highest)}`);
    return chart.root;
}

/* A small timeline, with the host's resident memory, for views of a window. */
function windowStrip(width, memory) {
    const known = stepRows.map((row) => timeline.step[row]), held = (values) => heldUntil(job.steps, known, [...values]).values;
    const xs = heldUntil(job.steps, known, known).steps, levels = held(ofSpaces(memory, timeline.spaces, stepRows));
    const rss = memory === HOST && timeline.rss_bytes ? held(stepRows.map((row) => timeline.rss_bytes[row])) : [];
    const chart = chartOf(width, 92, [0, Math.max(lastStep, xs[xs.length - 1] || 1)], Math.max(d3.max(levels) || 0, d3.max(rss) || 0), true);
    drawAreas(chart, xs, [{name: memoryName(memory), values: levels, index: spaceIndex(memory)}]);
    drawAxes(chart, countText, Math.max(2, width / 110), 2, stepUnit);
    if (rss.length) {
        drawLine(chart, xs, rss, "rss");
        const y = chart.y(rss[rss.length - 1]);
        chart.root.append(svg("text", {class: "mark-name", x: chart.right, y: y + 13, "text-anchor": "end"}, "RSS"));
    }
    addBrush(chart, "steps", (step) => step);
    chart.root.setAttribute("aria-label", `${memoryName(memory)} by ${stepUnit}` +
        (rss.length ? "; dashed: RSS" : ""));
    return chart.root;
}

function highestOfAll(memory) {
    const total = ofSpaces(memory, timeline.spaces, d3.range(nRows));
    return Math.max(d3.max(total) || 0, ...linesOf(memory).map(({values}) => d3.max(values) || 0));
}

/* A limit that is far away would leave no room for the rest. */
function isInSight(limit, memory) {
    return limit && limit < 2.5 * highestOfAll(memory);
}

/* A device's size; for the host, what the job may use. That of one machine is none for many. */
function limitOf(memory) {
    if (memory === HOST)
        return many ? null : job.limit_bytes;
    const device = (data.devices || []).find((d) => String(d.device) === memory.split(":")[1]);
    return device ? device.capacity_bytes : (data.spaces[memory] || {}).capacity_bytes;
}

/* The same in numbers, for readers who cannot see the picture. */
function timelineTable(areas, lines, window) {
    const steps = stepRows.map((row) => timeline.step[row]);
    const from = Math.max(d3.bisectRight(steps, window.from) - 1, 0), to = Math.max(d3.bisectRight(steps, window.to) - 1, 0);
    return el("div", {class: "scroll-x"}, el("table", {},
        el("thead", {}, el("tr", {}, ["", `at ${stepUnit} ${steps[from] ?? 0}`, `at ${stepUnit} ${steps[to] ?? 0}`, "change"]
            .map((text) => el("th", {scope: "col"}, text)))),
        el("tbody", {}, [...areas, ...lines].map(({name, values}) => el("tr", {}, el("th", {scope: "row"}, nameOf(name)),
            [bytesText(values[from] || 0), bytesText(values[to] || 0), signedText((values[to] || 0) - (values[from] || 0))]
                .map((text) => el("td", {}, text)))))));
}

const timelineView = {
    name: "timeline", title: "Timeline",
    enter(root) {
        const controls = el("div", {class: "controls"}), notes = el("div"), table = el("div");
        const chart = fitted((width) => drawTimeline(width, groupingWanted(), memoryWanted(), axisWanted()));
        root.append(controls, howToRead("timeline"), chart, notes, table);
        return () => {
            const grouping = groupingWanted(), memory = memoryWanted(), axis = axisWanted();
            const window = windowOf(state.get("window"));
            updateControls(controls, [
                memoryChoice(),
                select("by", groupings(), grouping, (by) => state.set({by})),
                many ? null : select("along", [["steps", stepUnit + "s"], ["seconds", "seconds"]], axis, (value) => state.set({axis: value})),
                windowFields()]);
            chart.redraw();
            const areas = areasOf(grouping, memory, axis);
            const limit = limitOf(memory);
            notes.replaceChildren(legend([...areas.map((area) => ({name: area.name, index: area.index, note: grouping === "space" ? spaceWords(area.name) : ""})),
                ...linesOf(memory),
                ...(limit ? [{name: "limit", line: "limit", note: bytesText(limit) +
                    (isInSight(limit, memory) ? "" : ", above the picture")}] : []),
                ...((timeline.epoch_steps || []).length ? [{name: "an epoch begins", line: "mark", upright: true}] : []),
                ...(axis === "seconds" && job.steps ? [{name: `a ${stepUnit} ends`, line: "step-mark", upright: true}] : []),
                ...markLegend(memory, grouping)]),
            el("p", {class: "links"}, el("a", {href: state.link("flame", {measure: "growth"})}, "What grew in " + windowText(window)),
                el("a", {href: state.link("flame", {measure: "live"})}, "What was live at its end")));
            table.replaceChildren(timelineTable(areasOf(grouping, memory, "steps"), linesOf(memory)
                .map(({name, values}) => ({name, values: stepRows.map((row) => values[row])})), window),
            ...(memory === HOST ? residentParts() : []));
        };
    },
};
