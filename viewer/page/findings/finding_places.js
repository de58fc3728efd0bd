/* Where a finding is to be seen: its graph, its course, its sites, each opened where there is something of it. */

const inMemoryOf = (finding) => sitesOf(finding).filter((i) => site.memory(i) === memoryOf(finding.space));

/* What it keeps; else what was live of it at the end of the step that had most; else, of what never lived until the end of a
   step, the peaks of its sites. */
function bestMeasure(finding) {
    if (d3.sum(inMemoryOf(finding), (i) => sites.retained_bytes[i]) > 0)
        return {measure: "kept", window: ""};
    const memory = memoryOf(finding.space), step = highestStep(memory, finding.id);
    return d3.sum(inMemoryOf(finding), (i) => levelAt(i, step)) > 0 ? {measure: "live", window: "peak"} : {measure: "peak", window: ""};
}

function flameOf(finding) {
    return state.link("flame", {memory: memoryOf(finding.space), finding: finding.id, ...bestMeasure(finding)});
}

/* Memory that nobody recorded has no sites: it is to be seen in what is resident. */
function courseOfFinding(finding) {
    const how = finding.sites.length ? {by: "finding", finding: finding.id} : {};
    return state.link("timeline", {memory: memoryOf(finding.space), window: "", ...how});
}
