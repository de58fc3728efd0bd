/* Live memory over time: sites know the ends of steps, and the job's timeline their times. */

let timeline, nRows;

/* The last step that ended: what follows is the job's own end, when it frees its memory. */
let lastStep;

/* The timeline's rows at the ends of steps, each step once. What a finished job frees after its last step says nothing
   about the training: only the axis of time shows it. */
function stepEnds(line, of) {
    const last = of.complete && of.steps ? of.steps : Infinity;
    return d3.range(line.step.length).filter((row) => line.step[row + 1] !== line.step[row] && line.step[row] <= last);
}
let stepRows, stepsOfRows, firstStepRow, decoded;

derive(() => {
    timeline = data.timeline;
    nRows = timeline.t_s.length;
    lastStep = Math.max(job.steps || 0, nRows ? timeline.step[nRows - 1] - 1 : 0);
    stepRows = stepEnds(timeline, job);
    stepsOfRows = stepRows.map((row) => timeline.step[row]);
    firstStepRow = timeline.step.findIndex((step) => step > 0);
    decoded = new Map();
});

/* {steps, values}: several fast steps may end between two looks, so the last known level holds until the last of them. */
function heldUntil(last, steps, values) {
    const held = steps.length && steps[steps.length - 1] < last;
    return held ? {steps: [...steps, last], values: [...values, values[values.length - 1]]} : {steps, values};
}

/* The step to which sites count a row. Before the first step they count slices of 100 ms, backwards from 0. */
function siteStep(row) {
    if (timeline.step[row] > 0 || firstStepRow < 0)
        return timeline.step[row];
    return Math.min(0, Math.floor(1 + (timeline.t_s[row] - timeline.t_s[firstStepRow]) / 0.1));
}

const MOST_PLACES = 1 << 20;

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

/* The level at the end of a step, from the raw differences. */
function levelIn(raw, step) {
    let at = 0, bytes = 0;
    for (let k = 0; k < raw.length; k += 2) {
        at += raw[k];
        if (at > step)
            break;
        bytes += raw[k + 1];
    }
    return bytes;
}

const levelAt = (i, step) => levelIn(sites.series[i], step);

/* The highest level between the ends of two steps. */
function highestIn(raw, from, to) {
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

/* For each step, the index of the first of these (ascending) steps that is not before it: as a table, unless it would be
   too large. */
function placesOfSteps(steps) {
    const first = steps[0], n = steps.length, table = [];
    if (!n || steps[n - 1] - first > MOST_PLACES)
        return (step) => d3.bisectLeft(steps, step);
    for (let at = 0; at < n; at++) {
        while (table.length <= steps[at] - first)
            table.push(at);
    }
    return (step) => step <= first ? 0 : table[step - first] ?? n;
}

/* Adds a site's changes of level up to each of the steps at these places. */
function addChanges(i, placeOf, changes) {
    const raw = sites.series[i];
    for (let k = 0, at = 0; k < raw.length; k += 2) {
        const n = placeOf(at += raw[k]);
        if (n === changes.length)
            break;
        changes[n] += raw[k + 1];
    }
}

/* Turns such changes into levels. */
function sumUp(changes) {
    for (let n = 1; n < changes.length; n++)
        changes[n] += changes[n - 1];
    return changes;
}

/* Levels of several sites together at these steps. */
function levelsOf(list, steps) {
    const changes = new Float64Array(steps.length), places = placesOfSteps(steps);
    list.forEach((i) => addChanges(i, places, changes));
    return sumUp(changes);
}

/* The time in seconds at the end of a step, and the step at a time. */
function secondsOf(step) {
    const at = d3.bisectRight(stepsOfRows, step) - 1;
    return at < 0 ? 0 : timeline.t_s[stepRows[at]];
}

function stepOfSeconds(seconds) {
    const at = d3.bisectRight(timeline.t_s, seconds) - 1;
    return at < 0 ? 0 : timeline.step[at];
}

/* After the last step that ended there is no further step. */
function stepText(step) {
    return step > lastStep ? `after the last ${stepUnit}` : `${stepUnit} ${step}`;
}

function atStepText(step) {
    return step > lastStep ? stepText(step) : "at " + stepText(step);
}

/* Indices of the sites of a memory. */
const sitesIn = onceOfData((memory) => d3.range(nSites).filter((i) => site.memory(i) === memory));

const MOST_STEPS = 1 << 20;

/* The step at whose end most of these sites' memory was live; of very many steps, the best of a million samples. */
function highestStepOf(list) {
    const width = Math.ceil((lastStep + 1) / MOST_STEPS), changes = new Float64Array(Math.floor(lastStep / width) + 1);
    for (const i of list) {
        const raw = sites.series[i];
        for (let k = 0, step = 0; k < raw.length && (step += raw[k]) <= lastStep; k += 2)
            changes[Math.floor(Math.max(step, 0) / width)] += raw[k + 1];
    }
    let highest = 0, most = 0;
    sumUp(changes).forEach((bytes, n) => {
        if (bytes > most)
            [highest, most] = [n, bytes];
    });
    return Math.min(highest * width, lastStep);
}

const highestStepAsked = onceOfData((asked) => {
    const [memory, finding] = asked.split(" "), list = sitesIn(memory).filter((i) => !finding || isOfFinding(i, finding));
    const step = highestStepOf(list), totals = ofSpaces(memory, timeline.spaces, finding ? [] : stepRows);
    const at = d3.scan(totals, (a, b) => b - a); // includes memory without a site, where the timeline looked
    return at !== undefined && totals[at] > levelsOf(list, [step])[0] ? stepsOfRows[at] : step;
});

/* The highest step of a memory, or of a finding in it. */
const highestStep = (memory, finding = "") => highestStepAsked(`${memory} ${finding}`);

/* The window in view: from the end of one step to that of another. "Up to the peak" is a window, too: each memory and each
   finding has its own. */
function windowOf(text) {
    if (text === "peak")
        return {from: 0, to: highestStep(memoryWanted(), state.get("finding")), whole: false};
    const match = /^(\d+)-(\d+)$/.exec(text || "");
    if (!match)
        return {from: 0, to: lastStep, whole: true};
    const from = Math.min(+match[1], lastStep), to = Math.min(Math.max(+match[2], from), lastStep);
    return {from, to, whole: false};
}

function windowText(window) {
    if (window.whole)
        return "the whole run";
    return window.from === window.to ? `${stepUnit} ${window.from}` : `${stepUnit}s ${window.from} to ${window.to}`;
}
