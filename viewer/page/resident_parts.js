/* What resident memory consisted of, explained and unexplained, at one instant. */

const RESIDENT_PARTS = [["heap_live", "malloc'd memory, live"], ["heap_free", "free in malloc's arenas"],
    ["maps", "mapped memory"], ["shm", "shared memory"], ["files", "programs, libraries, mapped files"],
    ["stacks", "thread stacks"]];
const PARTS_OVER_TIME = [...RESIDENT_PARTS, ["seep", "seep's own"], ["unexplained", "unexplained"]];

/* "grows by 1.2 MiB a step" */
function partGrowth(grows, growth) {
    return grows && growth ? el("b", {class: "bad"}, ` ▲ grows by ${bytesText(growth.value)} a ${stepUnit}`) : null;
}

function partsTable(rss) {
    const parts = [...RESIDENT_PARTS.map(([key, name]) => [name, rss.explained[key],
        key === "heap_free" ? partGrowth(rss.heap_free_grows, rss.heap_free_growth_bytes_per_step) : null]),
    ["seep's own", rss.seep_bytes],
    ["unexplained", rss.unexplained_bytes, partGrowth(rss.unexplained_grows, rss.unexplained_growth_bytes_per_step)]];
    const most = d3.max(parts, ([, bytes]) => bytes) || 1;
    return el("table", {class: "bars parts"},
        el("thead", {}, el("tr", {}, ["", "", "RSS", "share"].map((text) => el("th", {scope: "col"}, text)))),
        el("tbody", {}, parts.map(([name, bytes, note]) => el("tr", {}, el("th", {scope: "row"}, name, note),
            el("td", {class: "bar-cell"}, el("span", {class: "bar-fill", style: `width:${100 * bytes / most}%`})),
            el("td", {}, bytesText(bytes)), el("td", {}, shareText(bytes / rss.peak_bytes))))));
}

/* Of all processes at one instant, if the report has one; null also where the chart, which ends with the last step, ends
   before it. */
function residentSample() {
    const rss = data.coverage.rss;
    return rss && rss.peak_bytes && rss.step <= lastStep ? rss : null;
}

function residentParts() {
    const rss = residentSample();
    if (!rss)
        return processes.some((p) => p.rss && p.rss.peak_bytes) ? [el("p", {class: "quiet"}, "What RSS was made of: ",
            el("a", {href: state.link("processes")}, "each process at its own peak"), ".")] : [];
    return [el("h2", {}, `What RSS was made of ${atStepText(rss.step)}`),
        el("p", {class: "quiet"}, `${bytesText(rss.peak_bytes)}: the highest RSS whose parts are known` +
            (processes.length > 1 ? ", of all processes together; shared pages count in each process" : "")), partsTable(rss)];
}
