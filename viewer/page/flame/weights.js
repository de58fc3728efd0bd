/* What the flame graph weighs: rows of sites, behind them rows of small ones, and a row a space of what no site has. */

const MEASURES = [["live", "live at the window's end"], ["kept", "kept at the end"], ["growth", "growth in the window"],
    ["peak", "peaks in the window"], ["allocated", "allocated in the whole run"]];
const WEIGHED = ["allocations", "allocated_bytes", "peak_bytes", "retained_bytes", "space", "stack", "series"];

/* Columns of the rows; those from `restFrom` on are one a space of the job. */
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
    const raw = weighed.series[row];
    if (measure === "growth")
        return Math.max(0, levelIn(raw, window.to) - (window.whole ? 0 : levelIn(raw, window.from)));
    if (measure === "peak")
        return window.whole ? weighed.peak_bytes[row] || 0 : highestIn(raw, window.from, window.to);
    return levelIn(raw, window.to);
}

const isWeighed = (row, memory, finding) => memoryOfText(weighed.space[row]) === memory &&
    (!finding || row < nSites && isOfFinding(row, finding));

/* The timeline's last look within that step; undefined where it did not look then, for another instant says nothing of it. */
function lookAt(step) {
    const at = d3.bisectRight(stepsOfRows, step) - 1;
    return stepsOfRows[at] === step ? stepRows[at] : undefined;
}

/* What the timeline has of a space in a step, and no site: it lives within steps, or its site could not be told. Nothing
   where sites have more, as where processes ended at other times than the job's last step. */
function unattributed(space, step, bytes) {
    const row = lookAt(step);
    return row === undefined ? 0 : Math.max(0, (timeline.spaces[space]?.live_bytes[row] || 0) - bytes);
}

/* Weights of all rows that are looked at; others weigh nothing. */
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

/* Of each row how many blocks its weight is in, if all it made are as large as they are on average. */
function blocksWeighed(weight) {
    return weight.map((bytes, row) => bytes > 0 && weighed.allocated_bytes[row] > 0
        ? bytes * weighed.allocations[row] / weighed.allocated_bytes[row] : 0);
}

/* What is summed over the tree: the weights themselves first, the blocks they are in, how often it was allocated in the run,
   and the weights of each space. */
function channelsOf(weight, memory) {
    const own = spaces.filter((space) => memoryOf(space) === memory);
    const bySpaces = own.map((space) => weight.map((bytes, row) => texts[weighed.space[row]] === space ? bytes : 0));
    return {spaces: own, all: [weight, blocksWeighed(weight), weight.map((bytes, row) => bytes > 0 ? weighed.allocations[row] || 0 : 0), ...bySpaces]};
}
