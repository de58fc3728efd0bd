/* Sites by their line: what one line has in one memory, by however many stacks. */

const MOST_STACKS = 100; /* that are listed of a line, the largest first */

const memoryNumber = onceOfData((space) => memories.indexOf(memoryOf(texts[space])));

/* [{f, key, sites}]; what is known of a site is known of a line as the sum of these. */
function linesOfSites(list) {
    const lines = new Map();
    for (const i of list) {
        const number = (sites.look_at[i] + 1) * memories.length + memoryNumber(sites.space[i]);
        if (!lines.has(number))
            lines.set(number, {f: sites.look_at[i], memory: site.memory(i), sites: []});
        lines.get(number).sites.push(i);
    }
    return [...lines.values()];
}

/* What a line is called in addresses. */
function lineKey(line) {
    return (line.f < 0 ? "unknown" : frameKey(line.f)) + "." + line.memory;
}

const lineSum = (line, column) => d3.sum(line.sites, (i) => sites[column][i] || 0);
/* Of what its sites are in several of, the one of the largest, and how many others. */
function mostText(line, of) {
    const all = new Set(line.sites.map(of)), first = of(line.sites[d3.scan(line.sites, (a, b) => (sites.peak_bytes[b] || 0) - (sites.peak_bytes[a] || 0))]);
    return first + (all.size > 1 ? ` +${all.size - 1}` : "");
}

const lineTexts = (line, of) => [...new Set(line.sites.map(of))].filter(Boolean).sort().join(", ");

/* The most at one instant: of one site as it was, of several at the ends of steps, or what one of them alone had within one. */
function linePeak(line) {
    const alone = d3.max(line.sites, (i) => sites.peak_bytes[i]) || 0;
    return line.sites.length === 1 ? alone : line.peak ??= Math.max(alone, highestTogether(line.sites));
}

/* The highest level of several sites together, from their differences as they are. */
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

/* "tensor_new, called from train.py:12 main": where a stack of a line begins, and how it came to the line. */
function wayText(i) {
    const list = framesOf(sites.stack[i]), caller = list[list.indexOf(sites.look_at[i]) + 1];
    return (list.length ? frame.name(list[0]) : "unknown") + (caller === undefined ? "" : ", called from " + shortFrameText(caller));
}

/* One of a line's stacks; its course and frames are drawn when it is unfolded. */
function stackFold(i, open) {
    const one = fold({open, class: "stack-fold brief"}, [el("b", {}, bytesText(sites.retained_bytes[i] || 0)),
        ` kept, ${plural(sites.allocations[i], "allocation")} `, el("span", {class: "quiet"}, `${site.id(i)}, ${site.space(i)}, by `,
            nameOf(shortName(wayText(i), 120), {title: wayText(i)}))], () => siteParts(i));
    one.keptAs = () => stackName(sites.stack[i]);
    return one;
}

function lineStacks(line, wanted) {
    const list = [...line.sites].sort((a, b) => (b === wanted) - (a === wanted) || (sites.retained_bytes[b] || 0) - (sites.retained_bytes[a] || 0));
    const rest = list.slice(MOST_STACKS);
    return [el("h3", {}, `Its ${plural(list.length, "stack")}`), list.slice(0, MOST_STACKS).map((i) => stackFold(i, i === wanted)),
        rest.length ? el("p", {class: "quiet"}, `${plural(rest.length, "further stack")} keep ` +
            bytesText(d3.sum(rest, (i) => sites.retained_bytes[i] || 0))) : null];
}

/* `wanted`: of several stacks the one that is unfolded. */
function lineDetails(line, wanted) {
    const only = line.sites.length === 1 ? line.sites[0] : null;
    return el("section", {class: "details", "aria-labelledby": "site-title", tabindex: "-1", id: "site"},
        el("h2", {id: "site-title"}, nameOf(frame.text(line.f))),
        frame.source(line.f) ? el("pre", {class: "source"}, nameOf(frame.source(line.f))) : null,
        only !== null ? siteParts(only) : [el("p", {}, `${lineTexts(line, site.space)}; ${bytesText(lineSum(line, "live_bytes"))} live at ` +
            `the end, ${countText(lineSum(line, "allocations"))} allocations, ${countText(lineSum(line, "frees"))} frees`),
        seriesChart(line.sites), lineStacks(line, wanted), blocksOf(line.sites)]);
}
