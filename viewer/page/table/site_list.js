/* All lines as a table, and the sizes of their allocations. */

const numberColumn = (key, title, width, of, wide) =>
    ({key, title, width, wide, value: (line) => of(line) ?? -1, text: (line) => of(line) === null ? "" : countText(of(line))});
const bytesColumn = (key, title, width, of, wide) =>
    ({...numberColumn(key, title, width, of, wide), text: (line) => bytesText(Math.abs(of(line)) < 0.5 ? 0 : of(line))});
const sumColumn = (key, title, width, wide) => bytesColumn(key, title, width, (line) => lineSum(line, key), wide);
const textColumn = (key, title, width, of, more) => ({key, title, width, value: of, text: (line) => nameOf(of(line)), ...more});
/* The order in which columns get room. */
const WIDE = {finding: 1, peak_bytes: 2, processes: 3, stacks: 3, allocated_bytes: 4, allocations: 5, space: 6, part: 7};
const mostColumn = (key, width, of) => textColumn(key, key, width, (line) => mostText(line, of),
    {wide: WIDE[key], text: (line) => nameOf(mostText(line, of), {title: lineTexts(line, of)})});
const lineFindings = (line) => [...new Set(line.rows.flatMap((i) => findingsOf[i]))].map((finding) => finding.id).join(", ");

/* `counted`: a digest does not know it; `ofMany`: only a digest has it. */
const LINE_COLUMNS = [
    {key: "line", title: "line", left: true, value: (line) => lineOrder(line.f),
        text: (line, fit) => nameOf(fit(shortFrameText(line.f)), {title: frame.text(line.f)})},
    mostColumn("space", 92, site.space),
    mostColumn("part", 112, site.part),
    numberColumn("stacks", "stacks", 70, (line) => line.rows.length, WIDE.stacks),
    sumColumn("retained_bytes", "kept", 104),
    {...sumColumn("live_bytes", "live at end", 104), asked: true},
    bytesColumn("peak_bytes", "peak", 104, linePeak, WIDE.peak_bytes),
    sumColumn("growth", "growth/step", 116),
    {...numberColumn("processes", "processes", 104, (line) => d3.max(line.rows, (i) => sites.n_processes[i]), WIDE.processes), ofMany: true},
    {...sumColumn("allocated_bytes", "allocated", 104, WIDE.allocated_bytes), counted: true},
    {...numberColumn("allocations", "allocations", 108, (line) => lineSum(line, "allocations"), WIDE.allocations), counted: true},
    {...bytesColumn("temporary", "temporary/step", 144, (line) => d3.sum(line.rows, temporaryBytes) / Math.max(1, job.steps)), asked: true, counted: true},
    {...bytesColumn("temporary_peak", "temporary peak", 148, (line) => d3.max(line.rows, temporaryPeak)), asked: true, counted: true},
    {counted: true, ...numberColumn("age_p50", "median age", 104, (line) => line.rows.length === 1 ? sites.age_p50[line.rows[0]] : null), asked: true},
    textColumn("threads", "thread", 170, (line) => lineTexts(line, site.threads), {left: true, asked: true, counted: true}),
    textColumn("finding", "finding", 76, lineFindings, {wide: WIDE.finding}),
];

const lineColumns = () => LINE_COLUMNS.filter(({counted, ofMany}) => !(many ? counted : ofMany));

/* Whether a site's line, space, part, thread, number or finding contains the word. There are few lines: each is tested
   once. */
function wordMatcher(word) {
    const inLine = frameMatcher(word), inText = onceFor((text) => texts[text].toLowerCase().includes(word));
    const named = siteNumber.get(word.toUpperCase());
    return (i) => inLine(sites.look_at[i]) || inText(sites.space[i]) || inText(sites.part[i]) || i === named ||
        sites.threads[i] >= 0 && inText(sites.threads[i]) || isOfFinding(i, word.toUpperCase());
}

/* Lines of the sites that match every word. */
function linesInOrder(text, finding, key, down) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const column = lineColumns().find((c) => c.key === key) || LINE_COLUMNS.find((c) => c.key === "retained_bytes");
    const matchers = words.map(wordMatcher);
    let list = d3.range(nSites);
    if (finding)
        list = list.filter((i) => isOfFinding(i, finding));
    for (const matches of matchers)
        list = list.filter(matches);
    return inOrder(linesOfRows(sites, list), column.value, down);
}

function countOfLines(lines) {
    const others = d3.sum(small.sites || []), n = d3.sum(lines, (line) => line.rows.length);
    return `${plural(lines.length, "line")}, ${plural(n, "stack")}` + (n < nSites ? ` of ${countText(nSites)}` : "") +
        (others ? `; ${countText(others)} very small ones are not on this page` : "");
}

const sitesView = {
    name: "sites", title: "Table",
    enter(root) {
        const controls = el("div", {class: "controls"}), details = el("div");
        const count = el("p", {class: "quiet", role: "status"});
        const sortKey = () => state.get("sort", "retained_bytes"), sortDown = () => state.get("order", "down") === "down";
        const search = searchField("filter", state.get("search"), (text) => state.set({search: text}));
        const chosen = () => state.get("columns"), columns = columnChoice(lineColumns(), chosen, (keys) => state.set({columns: keys}));
        const table = virtualTable({columns: lineColumns(), chosen, label: "lines", sortKey, sortDown,
            onsort: (key) => state.set({sort: key, order: key === sortKey() && sortDown() ? "up" : "down"}),
            onopen: (line) => state.set({line: lineKey(line), site: ""}, true)});
        let shown = "", listed = "", list = [];
        const sizes = el("div"), drawSizes = () => {
            const made = fold({class: "sizes"}, "Sizes of what these lines allocated", () => sizesOf(list.flatMap((line) => line.rows)));
            made.open = Boolean(sizes.querySelector("[open]"));
            sizes.replaceChildren(made);
        };
        root.append(controls, howToRead("table"), count, table, many ? "" : sizes, details);
        return () => {
            const finding = state.get("finding"), text = state.get("search");
            const input = search.querySelector("input");
            if (document.activeElement !== input)
                input.value = text;
            if (!controls.contains(search))
                controls.append(search, el("span", {class: "choices"}), columns);
            updateControls(controls.querySelector(".choices"), [
                select("of", [["", "all"], ...findings.filter((f) => f.sites.length).map((f) => [f.id, findingTitle(f)])], finding,
                    (value) => state.set({finding: value})),
                select("sort by", lineColumns().map((c) => [c.key, c.title]), sortKey(), (key) => state.set({sort: key}))]);
            columns.sync();
            const key = [text, finding, sortKey(), sortDown(), chosen()].join("\n");
            const isOther = key !== listed;
            if (isOther) {
                listed = key;
                list = linesInOrder(text, finding, sortKey(), sortDown());
                table.update(list);
                drawSizes();
                count.textContent = countOfLines(list);
            }
            const wanted = [state.get("line"), state.get("site")].join(" ");
            if (wanted !== shown || isOther) {
                shown = wanted;
                const i = siteNumber.get(state.get("site")), line = chosenLine(sites, list, i);
                details.replaceChildren(...line ? [lineDetails(line, i)] : []);
            }
        };
    },
};
