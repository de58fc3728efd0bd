/* How much was live, when: sites know the ends of steps; the job's timeline knows what the time was then. */

let timeline, nRows;

/* The last step that ended: what comes behind it is the job's own end, when memory is given back. */
let lastStep;

/* Rows of a timeline that end a step, each step once. */
function stepEnds(line) {
    return d3.range(line.step.length).filter((row) => line.step[row + 1] !== line.step[row]);
}
let stepRows, decoded;

derive(() => {
    timeline = data.timeline;
    nRows = timeline.t_s.length;
    lastStep = Math.max(job.steps || 0, nRows ? timeline.step[nRows - 1] - 1 : 0);
    stepRows = stepEnds(timeline);
    decoded = new Map();
});

/* {step, bytes}: the level from the end of each of these steps on. */
function seriesOf(i) {
    let series = decoded.get(i);
    if (!series) {
        const raw = sites.series[i] || [];
        const n = raw.length / 2;
        series = {step: new Array(n), bytes: new Array(n)};
        for (let k = 0, step = 0, bytes = 0; k < n; k++) {
            series.step[k] = step += raw[2 * k];
            series.bytes[k] = bytes += raw[2 * k + 1];
        }
        if (decoded.size < 4096)
            decoded.set(i, series);
    }
    return series;
}

/* The level of a site at the end of a step, from its differences as they are. */
function levelAt(i, step) {
    const raw = sites.series[i];
    let at = 0, bytes = 0;
    for (let k = 0; k < raw.length; k += 2) {
        at += raw[k];
        if (at > step)
            break;
        bytes += raw[k + 1];
    }
    return bytes;
}

/* The highest level from the end of one step to that of another. */
function highestIn(i, from, to) {
    const raw = sites.series[i];
    let at = 0, bytes = 0, most = 0;
    for (let k = 0; k < raw.length; k += 2) {
        at += raw[k];
        if (at > to)
            break;
        if (at > from)
            most = Math.max(most, bytes);
        bytes += raw[k + 1];
        if (at >= from)
            most = Math.max(most, bytes);
    }
    return Math.max(most, bytes);
}

/* Adds a site's level at each of these steps, which rise. */
function addLevels(i, steps, sum) {
    const raw = sites.series[i];
    let at = raw.length ? raw[0] : Infinity, bytes = 0, k = 0;
    for (let n = 0; n < steps.length; n++) {
        while (at <= steps[n]) {
            bytes += raw[k + 1];
            k += 2;
            at = k < raw.length ? at + raw[k] : Infinity;
        }
        sum[n] += bytes;
    }
}

/* Seconds at the end of a step, and the step at a time. */
function secondsOf(step) {
    const at = d3.bisectRight(stepRows.map((row) => timeline.step[row]), step) - 1;
    return at < 0 ? 0 : timeline.t_s[stepRows[at]];
}

function stepOfSeconds(seconds) {
    const at = d3.bisectRight(timeline.t_s, seconds) - 1;
    return at < 0 ? 0 : timeline.step[at];
}

let sitesByMemory;
derive(() => sitesByMemory = new Map());

/* Numbers of the sites of a memory. */
function sitesIn(memory) {
    if (!sitesByMemory.has(memory)) {
        const isIn = new Map(spaces.map((space) => [space, memoryOf(space) === memory]));
        sitesByMemory.set(memory, d3.range(nSites).filter((i) => isIn.get(site.space(i))));
    }
    return sitesByMemory.get(memory);
}

const MOST_STEPS = 1 << 20;
let highestSteps;
derive(() => highestSteps = new Map());

/* The step at whose end most was live of a memory, by its sites; of very many steps the nearest of a million. */
function highestStep(memory) {
    if (!highestSteps.has(memory)) {
        const width = Math.ceil((lastStep + 1) / MOST_STEPS), changes = new Float64Array(Math.floor(lastStep / width) + 1);
        for (const i of sitesIn(memory)) {
            const raw = sites.series[i];
            for (let k = 0, step = 0; k < raw.length && (step += raw[k]) <= lastStep; k += 2)
                changes[Math.floor(Math.max(step, 0) / width)] += raw[k + 1];
        }
        let highest = 0, most = 0, bytes = 0;
        changes.forEach((change, n) => {
            bytes += change;
            if (bytes > most)
                [highest, most] = [n, bytes];
        });
        highestSteps.set(memory, Math.min(highest * width, lastStep));
    }
    return highestSteps.get(memory);
}

/* The window that is looked at: ends of steps. Up to the peak is one, too: of each memory its own. */
function windowOf(text) {
    if (text === "peak")
        return {from: 0, to: highestStep(memoryWanted()), whole: false};
    const match = /^(\d+)-(\d+)$/.exec(text || "");
    if (!match)
        return {from: 0, to: lastStep, whole: true};
    const from = Math.min(+match[1], lastStep), to = Math.min(Math.max(+match[2], from), lastStep);
    return {from, to, whole: false};
}

function windowText(window) {
    return window.whole ? "the whole run" : `${stepUnit}s ${window.from} to ${window.to}`;
}
