/* Sites by line: what one line has in one memory, over all of its stacks. */

const MOST_STACKS = 100; /* listed per line, the largest first */

derive(() => sites.line = sites.look_at);

/* [{f, memory, rows}] from indices of sites, or of pairs; the numbers of a line are the sums of its rows. */
function linesOfRows(columns, list) {
    const lines = new Map(), numbers = new Map(), most = frames.name.length + 1;
    for (const i of list) {
        const memory = memoryOfText(columns.space[i]);
        if (!numbers.has(memory))
            numbers.set(memory, numbers.size);
        const number = numbers.get(memory) * most + columns.line[i] + 1;
        if (!lines.has(number))
            lines.set(number, {f: columns.line[i], memory, rows: []});
        lines.get(number).rows.push(i);
    }
    return [...lines.values()];
}

/* The line that an address names, directly or by one of its rows: among the listed ones, else among all. */
function chosenLine(columns, lines, i) {
    const key = state.get("line");
    const find = (list) => i !== undefined ? list.find((line) => line.rows.includes(i)) : list.find((line) => lineKey(line) === key);
    return i === undefined && !key ? null : find(lines) || find(linesOfRows(columns, d3.range((columns.space || []).length))) || null;
}

/* A line's key in addresses. */
function lineKey(line) {
    return (line.f < 0 ? "unknown" : frameKey(line.f)) + "." + line.memory;
}

const lineSum = (line, column) => d3.sum(line.rows, (i) => sites[column][i] || 0);
/* Where a line's sites differ: the text of the largest one, and the number of others. */
function mostText(line, of) {
    const all = new Set(line.rows.map(of)), first = of(line.rows[d3.scan(line.rows, (a, b) => (sites.peak_bytes[b] || 0) - (sites.peak_bytes[a] || 0))]);
    return first + (all.size > 1 ? ` +${all.size - 1}` : "");
}

const lineTexts = (line, of) => [...new Set(line.rows.map(of))].filter(Boolean).sort().join(", ");

/* The peak of a line: of one site its true peak; of several the highest sum at ends of steps, or a single one's peak if
   higher. */
function linePeak(line) {
    const alone = d3.max(line.rows, (i) => sites.peak_bytes[i]) || 0;
    return line.rows.length === 1 ? alone : line.peak ??= Math.max(alone, highestTogether(line.rows));
}

/* The highest level of several sites together, from the raw differences. */
function highestTogether(list) {
    const changes = new Map();
    for (const i of list) {
        const raw = sites.series[i];
        for (let k = 0, at = 0; k < raw.length; k += 2)
            changes.set(at += raw[k], (changes.get(at) || 0) + raw[k + 1]);
    }
    let level = 0, most = 0;
    for (const at of Float64Array.from(changes.keys()).sort())
        most = Math.max(most, level += changes.get(at));
    return most;
}

/* "tensor_new, called from train.py:12 main": where a stack of the line begins, and its path to the line. */
function wayText(columns, i) {
    const list = framesOf(columns.stack[i]), caller = list[list.indexOf(columns.look_at[i]) + 1];
    return (list.length ? frame.name(list[0]) : "unknown") + (caller === undefined ? "" : ", called from " + shortFrameText(caller));
}

/* One of a line's stacks; its timeline and frames are drawn when unfolded. */
function stackFold(i, open) {
    const one = fold({open, class: "stack-fold brief"}, [el("b", {}, bytesText(sites.retained_bytes[i] || 0)),
        many ? ` kept in ${plural(sites.n_processes[i], "process", "processes")} ` : ` kept, ${plural(sites.allocations[i], "allocation")} `, el("span", {class: "quiet"}, `${site.id(i)}, ${site.space(i)}, by `,
            nameOf(shortName(wayText(sites, i), 120), {title: wayText(sites, i)}))], () => siteParts(i));
    one.keptAs = () => stackName(sites.stack[i]);
    return one;
}

function lineStacks(line, wanted) {
    const list = [...line.rows].sort((a, b) => (b === wanted) - (a === wanted) || (sites.retained_bytes[b] || 0) - (sites.retained_bytes[a] || 0));
    const rest = list.slice(MOST_STACKS);
    return [el("h3", {}, `Its ${plural(list.length, "stack")}`), list.slice(0, MOST_STACKS).map((i) => stackFold(i, i === wanted)),
        rest.length ? el("p", {class: "quiet"}, `${plural(rest.length, "further stack")} keep ` +
            bytesText(d3.sum(rest, (i) => sites.retained_bytes[i] || 0))) : null];
}

/* `wanted`: the stack that is unfolded, of several. */
function lineDetails(line, wanted) {
    const only = line.rows.length === 1 ? line.rows[0] : null;
    return el("section", {class: "details", "aria-labelledby": "site-title", tabindex: "-1", id: "site"},
        el("h2", {id: "site-title"}, line.f < 0 ? frame.text(line.f) : inEditor(frame.file(line.f), frame.line(line.f), nameOf(frame.text(line.f)))),
        frame.source(line.f) ? el("pre", {class: "source"}, nameOf(frame.source(line.f))) : null,
        only !== null ? siteParts(only) : [el("p", {}, `${lineTexts(line, site.space)}; ${bytesText(lineSum(line, "live_bytes"))} live at ` +
            `the end` + (many ? "" : `, ${countText(lineSum(line, "allocations"))} allocations, ${countText(lineSum(line, "frees"))} frees`)),
        seriesChart(line.rows), lineStacks(line, wanted), many ? null : blocksOf(line.rows)]);
}
