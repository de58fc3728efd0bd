/* How much was live, when: sites know the ends of steps; the job's timeline knows what the time was then. */

let timeline, nRows;

/* The last step that ended: what comes behind it is the job's own end, when memory is given back. */
let lastStep;

/* Rows of a timeline that end a step, each step once. What a job that came to its end gave back behind its last step says
   nothing of the training: it is a course of time alone. */
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

/* {steps, values}: fast steps end between two looks, so the last level that is known holds until the last of them. */
function heldUntil(last, steps, values) {
    const held = steps.length && steps[steps.length - 1] < last;
    return held ? {steps: [...steps, last], values: [...values, values[values.length - 1]]} : {steps, values};
}

/* The step that sites count a row to. Before the first one they count slices of 100 ms, back from 0. */
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

/* The level at the end of a step, from its differences as they are. */
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

/* The highest level from the end of one step to that of another. */
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

/* Where among these steps, which rise, the first one is that is not before a step: a table, unless it were a large one. */
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

/* Adds what a site's level changes by up to each of the steps that have these places. */
function addChanges(i, placeOf, changes) {
    const raw = sites.series[i];
    for (let k = 0, at = 0; k < raw.length; k += 2) {
        const n = placeOf(at += raw[k]);
        if (n === changes.length)
            break;
        changes[n] += raw[k + 1];
    }
}

/* Such changes become levels. */
function sumUp(changes) {
    for (let n = 1; n < changes.length; n++)
        changes[n] += changes[n - 1];
    return changes;
}

/* Levels at these steps of several sites together. */
function levelsOf(list, steps) {
    const changes = new Float64Array(steps.length), places = placesOfSteps(steps);
    list.forEach((i) => addChanges(i, places, changes));
    return sumUp(changes);
}

/* Seconds at the end of a step, and the step at a time. */
function secondsOf(step) {
    const at = d3.bisectRight(stepsOfRows, step) - 1;
    return at < 0 ? 0 : timeline.t_s[stepRows[at]];
}

function stepOfSeconds(seconds) {
    const at = d3.bisectRight(timeline.t_s, seconds) - 1;
    return at < 0 ? 0 : timeline.step[at];
}

/* What is behind the last step that ended is no further one. */
function stepText(step) {
    return step > lastStep ? `after the last ${stepUnit}` : `${stepUnit} ${step}`;
}

function atStepText(step) {
    return step > lastStep ? stepText(step) : "at " + stepText(step);
}

/* Numbers of the sites of a memory. */
const sitesIn = onceOfData((memory) => d3.range(nSites).filter((i) => site.memory(i) === memory));

const MOST_STEPS = 1 << 20;

/* The step at whose end most was live of these sites; of very many steps the nearest of a million. */
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
    const at = d3.scan(totals, (a, b) => b - a); // what no site has counts, too, where the timeline looked
    return at !== undefined && totals[at] > levelsOf(list, [step])[0] ? stepsOfRows[at] : step;
});

/* That of a memory, or of what a finding has in it. */
const highestStep = (memory, finding = "") => highestStepAsked(`${memory} ${finding}`);

/* The window that is looked at: ends of steps. Up to the peak is one, too: of each memory its own, and of each finding. */
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
