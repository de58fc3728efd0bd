/* What is known of one site, or of several together: its timeline, the ages and sizes of its blocks, its stack. */

/* {step, bytes} of several sites together; of a single one, its own. */
function seriesOfAll(list) {
    if (list.length === 1)
        return seriesOf(list[0]);
    const step = [...new Set(list.flatMap((i) => seriesOf(i).step))].sort((a, b) => a - b);
    return {step, bytes: levelsOf(list, step)};
}

function seriesChart(list) {
    const series = seriesOfAll(list);
    if (!series.step.length)
        return el("p", {class: "quiet"}, "seep has no timeline of it.");
    return fitted((width) => {
        const xs = [...series.step, Math.max(lastStep, series.step[series.step.length - 1])].map((step) => Math.max(0, step));
        const ys = [...series.bytes, series.bytes[series.bytes.length - 1]];
        const chart = chartOf(width, 170, [0, xs[xs.length - 1] || 1], d3.max(ys), false);
        drawAxes(chart, countText, Math.max(2, width / 110), 4, stepUnit);
        drawLine(chart, xs, ys, "level");
        chart.root.setAttribute("aria-label", `live bytes by ${stepUnit}, at most ${bytesText(d3.max(ys))}`);
        return chart.root;
    });
}

/* Classes that double, as bars: [[from, n], …], and a text for each. */
function classBars(heads, classes, fromText) {
    const most = d3.max(classes, ([, n]) => n);
    return el("table", {class: "bars"},
        el("thead", {}, el("tr", {}, el("th", {scope: "col"}, heads[0]), el("th", {scope: "col", colspan: 2}, heads[1]))),
        el("tbody", {}, classes.map(([from, n], k) => el("tr", {},
            el("th", {scope: "row"}, fromText(from, k)),
            el("td", {class: "bar-cell"}, el("span", {class: "bar-fill", style: `width:${Math.max(1, 100 * n / most)}%`})),
            el("td", {}, countText(n))))));
}

const pairsOf = (raw) => d3.range(0, raw.length, 2).map((k) => [raw[k], raw[k + 1]]);

/* The ages of blocks when they were freed. */
function lifetimesChart(list) {
    const sums = new Map();
    for (const i of list)
        pairsOf(sites.lifetimes[i]).forEach(([age, n]) => sums.set(age, (sums.get(age) || 0) + n));
    if (!sums.size)
        return el("p", {class: "quiet"}, d3.sum(list, (i) => sites.frees[i]) ? "The ages of these blocks were not recorded." : "No block was freed.");
    const classes = [...sums].sort((a, b) => a[0] - b[0]);
    return classBars([`age in ${stepUnit}s`, "freed"], classes, (age, k) => ageText(age, classes[k + 1]));
}

function ageText(age, next) {
    return next && next[0] === age + 1 || age === 0 ? countText(age) : "from " + countText(age);
}

/* Bytes freed within the step that allocated them, estimated from the site's average. */
function temporaryBytes(i) {
    const raw = sites.lifetimes[i], atOnce = raw.length ? (raw[0] === 0 ? raw[1] : 0) : sites.age_max[i] === 0 ? sites.frees[i] : 0;
    return sites.allocations[i] ? sites.allocated_bytes[i] * Math.min(1, atOnce / sites.allocations[i]) : 0;
}

/* What was live within a step beyond all that was live at the ends of steps. */
function temporaryPeak(i) {
    return Math.max(0, (sites.peak_bytes[i] || 0) - highestIn(sites.series[i], -1, lastStep));
}

/* How many blocks of which sizes a site allocated: [from, n] by powers of two. Blocks whose size was not noted count at the
   average, which is right where all are equal. `noted`: how many blocks are not of this kind. */
function sizeClasses(list) {
    const sums = new Map();
    let noted = 0;
    const add = (from, n) => sums.set(from, (sums.get(from) || 0) + n);
    for (const i of list) {
        let rest = sites.allocations[i] || 0;
        for (let k = 0; k < sites.sizes[i].length; k += 2) {
            add(sites.sizes[i][k], sites.sizes[i][k + 1]);
            rest -= sites.sizes[i][k + 1];
            noted += sites.sizes[i][k + 1];
        }
        if (rest > 0)
            add(sizeClass(sites.allocated_bytes[i] / sites.allocations[i]), rest);
    }
    return {classes: [...sums].sort((a, b) => a[0] - b[0]), noted};
}

function sizesOf(list) {
    const {classes, noted} = sizeClasses(list), all = d3.sum(classes, ([, n]) => n);
    if (!all)
        return [el("p", {class: "quiet"}, "Nothing was allocated.")];
    return [classBars(["size", "allocations"], classes, sizeClassText),
        el("p", {class: "quiet"}, `Sizes are exact for ${shareText(noted / all)} of these allocations; the rest count with the average size of their stack.`)];
}

/* Frames with the source of their lines, as far as it is known. */
function stackList(stack, lookAt) {
    return el("ol", {class: "stack"}, framesOf(stack).map((f) => el("li", {class: frameKind(f) + (f === lookAt ? " here" : "")},
        el("code", {}, nameOf(frame.name(f))), " ",
        inEditor(frame.file(f), frame.line(f), nameOf(frame.where(f), {class: "quiet"})),
        frame.source(f) ? el("code", {class: "said"}, nameOf(frame.source(f))) : null)));
}

function blocksOf(list) {
    return el("div", {class: "columns"}, el("div", {}, el("h3", {}, "Ages of freed blocks"), lifetimesChart(list)),
        el("div", {}, el("h3", {}, "Sizes"), sizesOf(list)));
}

/* In many processes each has its own peak. */
function siteFactsOfMany(i) {
    return el("p", {}, `${site.id(i)}, ${site.space(i)}, ${site.part(i)}; ${bytesText(sites.live_bytes[i])} live at the end, ` +
        `peaks ${bytesText(sites.peak_bytes[i])} in sum, in ${plural(sites.n_processes[i], "process", "processes")}`,
    findingsOf[i].length ? ["; in ", withFindingLinks(findingIds(i))] : null);
}

function siteFacts(i) {
    const pids = site.pids(i);
    return el("p", {}, `${site.id(i)}, ${site.space(i)}, ${site.part(i)}; ${bytesText(sites.live_bytes[i])} live at the end, ` +
        `peak ${bytesText(sites.peak_bytes[i])} (${stepText(sites.peak_step[i])}), ${countText(sites.allocations[i])} allocations, ` +
        `${countText(sites.frees[i])} frees; `, pids.length === 1 ? "process " + pids[0] : plural(pids.length, "process", "processes"),
    site.threads(i) ? ["; ", nameOf("thread " + site.threads(i))] : null,
    findingsOf[i].length ? ["; in ", withFindingLinks(findingIds(i))] : null);
}

/* Everything known of one site. */
function siteParts(i) {
    return [many ? siteFactsOfMany(i) : siteFacts(i), seriesChart([i]), el("h3", {}, "Stack, innermost first"),
        stackList(sites.stack[i], sites.look_at[i]), many ? null : blocksOf([i])].filter(Boolean);
}
