/* Links to where a finding can be seen: flame graph, timeline, table, each opened where it has something of the finding. */

const inMemoryOf = (finding) => sitesOf(finding).filter((i) => site.memory(i) === memoryOf(finding.space));

/* What it keeps; else what was live at the end of its highest step; else, for memory that never lives until the end of a
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

/* Memory that was not recorded has no sites: the page shows it as resident memory. */
function courseOfFinding(finding) {
    const how = finding.sites.length ? {by: "finding", finding: finding.id} : {};
    return state.link("timeline", {memory: memoryOf(finding.space), window: "", ...how});
}
