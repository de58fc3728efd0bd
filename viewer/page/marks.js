/* Events of the job on the timeline: where memory ran out, where findings peaked within a step, how the job ended. A mark:
   {step, seconds, kind, name, note}. */

/* Memories of the same device share their events, and so do the host's. */
const deviceOf = (space) => space.split(":")[1] || HOST;

function shortageMarks(memory) {
    const own = (data.out_of_memory || []).filter(({space, retried}) =>
        !retried && deviceOf(space) === deviceOf(memory));
    return d3.nest().key(({step}) => step).entries(own).map(({values: [first, ...more]}) => ({step: first.step, seconds: secondsOf(first.step),
        kind: "shortage-mark", name: "out of memory", note: `${stepText(first.step)}, ${bytesText(first.asked_bytes)} requested` +
            (more.length ? `, and ${plural(more.length, "time")} more` : "")}));
}

/* Findings whose memory never lives until the end of a step have no area. */
function briefMarks(memory) {
    return findings.filter((finding) => memoryOf(finding.space) === memory && finding.sites.length && bestMeasure(finding).measure === "peak")
        .map((finding) => {
            const largest = d3.scan(inMemoryOf(finding), (a, b) => sites.peak_bytes[b] - sites.peak_bytes[a]);
            const step = sites.peak_step[inMemoryOf(finding)[largest]] || 0;
            return {step, seconds: secondsOf(step), kind: "brief-mark", name: findingTitle(finding),
                note: `${bytesText(finding.peak_bytes)} within ${stepText(step)}`};
        });
}

function endMarks() {
    return !nRows || job.exit.kind === "running" ? [] : [{step: job.steps, seconds: timeline.t_s[nRows - 1],
        kind: isFailed(job) ? "end-mark failed" : "end-mark", name: "end of the job", note: `(${exitText(job)})`}];
}

function marksOf(memory, grouping) {
    return [...shortageMarks(memory), ...grouping === "finding" ? briefMarks(memory) : [], ...endMarks()];
}

function drawMarks(chart, memory, grouping, axis) {
    for (const mark of marksOf(memory, grouping)) {
        const x = Math.min(chart.x(axis === "seconds" ? mark.seconds : mark.step), chart.right);
        chart.root.append(svg("path", {class: mark.kind, d: `M${x} ${chart.top}V${chart.bottom}`},
            svg("title", {}, `${mark.name} ${mark.note}`)));
    }
}

const markLegend = (memory, grouping) => marksOf(memory, grouping).map(({name, note, kind}) => ({name, note, line: kind, upright: true}));
