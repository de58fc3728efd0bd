/* What resident memory was made of near its peak, explained and not. */

const RESIDENT_PARTS = [["heap_live", "live blocks of malloc and its kin"], ["heap_free", "free in the heap: kept by libc for later"],
    ["maps", "maps that the program asked for"], ["shm", "shared memory"], ["files", "programs, libraries, mapped files"],
    ["stacks", "stacks of threads"]];

/* "grows by 1.2 MiB every step" */
function partGrowth(grows, growth) {
    return grows && growth ? el("b", {class: "bad"}, ` ▲ grows by ${bytesText(growth.value)} every ${stepUnit}`) : null;
}

function residentParts() {
    const rss = data.coverage.rss;
    if (!rss || !rss.peak_bytes)
        return [];
    const parts = [...RESIDENT_PARTS.map(([key, name]) => [name, rss.explained[key],
        key === "heap_free" ? partGrowth(rss.heap_free_grows, rss.heap_free_growth_bytes_per_step) : null]),
    ["seep's own", rss.seep_bytes],
    ["unexplained", rss.unexplained_bytes, partGrowth(rss.unexplained_grows, rss.unexplained_growth_bytes_per_step)]];
    const most = d3.max(parts, ([, bytes]) => bytes) || 1;
    return [el("h2", {}, "What resident memory was made of, near its peak"),
        el("p", {class: "quiet"}, `${bytesText(rss.peak_bytes)} (RSS)` + (processes.length > 1 ? ", the processes' peaks together" : "") +
            ", in the highest sample that looked into it" + (job.pss_peak_bytes ? `; where a page that several share counts in ` +
            `parts (PSS) ${bytesText(job.pss_peak_bytes)} at most` : "")),
        el("table", {class: "bars parts"},
            el("thead", {}, el("tr", {}, ["", "", "resident", "share"].map((text) => el("th", {scope: "col"}, text)))),
            el("tbody", {}, parts.map(([name, bytes, note]) => el("tr", {}, el("th", {scope: "row"}, name, note),
                el("td", {class: "bar-cell"}, el("span", {class: "bar-fill", style: `width:${100 * bytes / most}%`})),
                el("td", {}, bytesText(bytes)), el("td", {}, shareText(bytes / rss.peak_bytes))))))];
}
