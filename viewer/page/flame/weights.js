/* The weights of the flame graph: rows of sites, then rows of small ones, then a row per space for memory without a
   site. */

const MEASURES = [["live", "live at the window's end"], ["kept", "kept at the end"], ["growth", "growth in the window"],
    ["peak", "peaks in the window"], ["allocated", "allocated in the whole run"],
    ["temporary", "temporary: freed within their step"]];
const measures = () => many ? MEASURES.filter(([key]) => !["allocated", "temporary"].includes(key)) : MEASURES;
const WEIGHED = ["allocations", "allocated_bytes", "peak_bytes", "retained_bytes", "space", "stack", "series"];

/* Columns of the rows; from row `restFrom` on there is one per space of the job. */
let weighed, nRowsWeighed, restFrom;
derive(() => {
    const rows = (columns) => columns.space ? columns.space.length : 0, nSmall = rows(small);
    const stackOfSmall = nStacks - 1 - nSmall, names = Object.keys(data.spaces);
    const behind = {space: names.map((name) => texts.push(name) - 1), stack: names.map(() => nStacks - 1), series: names.map(() => [])};
    weighed = {};
    for (const column of WEIGHED)
        weighed[column] = [...sites[column] || [], ...small[column] || [], ...behind[column] || names.map(() => 0)];
    for (let n = 0; n < nSmall; n++)
        weighed.stack[nSites + n] = stackOfSmall + n;
    restFrom = nSites + nSmall;
    nRowsWeighed = restFrom + names.length;
});

function weightOf(row, measure, window) {
    if (measure === "allocated")
        return weighed.allocated_bytes[row] || 0;
    if (measure === "kept")
        return weighed.retained_bytes[row] || 0;
    if (measure === "temporary")
        return row < nSites ? temporaryBytes(row) : 0;
    const raw = weighed.series[row];
    if (measure === "growth")
        return Math.max(0, levelIn(raw, window.to) - (window.whole ? 0 : levelIn(raw, window.from)));
    if (measure === "peak")
        return window.whole ? weighed.peak_bytes[row] || 0 : highestIn(raw, window.from, window.to);
    return levelIn(raw, window.to);
}

const isWeighed = (row, memory, finding) => memoryOfText(weighed.space[row]) === memory &&
    (!finding || row < nSites && isOfFinding(row, finding));

/* The timeline's last look within that step; undefined where there was none, since another moment says nothing about it. */
function lookAt(step) {
    const at = d3.bisectRight(stepsOfRows, step) - 1;
    return stepsOfRows[at] === step ? stepRows[at] : undefined;
}

/* Memory that the timeline counts in a space at a step, beyond what sites explain: it lives within steps, or its site is
   unknown. 0 where sites have more, as where processes ended at other times than the job's last step. */
function unattributed(space, step, bytes) {
    const row = lookAt(step);
    return row === undefined ? 0 : Math.max(0, (timeline.spaces[space]?.live_bytes[row] || 0) - bytes);
}

/* Weights of all rows in view; all others weigh 0. */
function weights(memory, measure, window, finding) {
    const list = new Float64Array(nRowsWeighed), sums = new Map();
    for (let row = 0; row < restFrom; row++) {
        if (isWeighed(row, memory, finding)) {
            list[row] = weightOf(row, measure, window);
            sums.set(weighed.space[row], (sums.get(weighed.space[row]) || 0) + list[row]);
        }
    }
    const bytesOf = new Map([...sums].map(([text, bytes]) => [texts[text], bytes]));
    for (let row = restFrom; measure === "live" && row < nRowsWeighed; row++) {
        const space = texts[weighed.space[row]];
        if (isWeighed(row, memory, finding))
            list[row] = unattributed(space, window.to, bytesOf.get(space) || 0);
    }
    return list;
}

/* For each row, the number of blocks in its weight, estimated from its average block. */
function blocksWeighed(weight) {
    return weight.map((bytes, row) => bytes > 0 && weighed.allocated_bytes[row] > 0
        ? bytes * weighed.allocations[row] / weighed.allocated_bytes[row] : 0);
}

/* The channels summed over the tree: the weights first, then the number of blocks in them, the allocations in the run, and
   the weights of each space. */
function channelsOf(weight, memory) {
    const own = spaces.filter((space) => memoryOf(space) === memory);
    const bySpaces = own.map((space) => weight.map((bytes, row) => texts[weighed.space[row]] === space ? bytes : 0));
    return {spaces: own, all: [weight, blocksWeighed(weight), weight.map((bytes, row) => bytes > 0 ? weighed.allocations[row] || 0 : 0), ...bySpaces]};
}
