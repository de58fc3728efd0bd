/* Many processes at once, from a digest: who stands out, where the findings are, a map of the ranks, and how each measure is
   distributed. */

const MOST_CELLS_LISTED = 20;

function endsFact() {
    return el("li", {}, many.ends.map(({end, role, processes: n, first}, i) => [i ? "; " : "",
        el("span", {class: isBadEnd(end) ? "bad" : null}, isBadEnd(end) ? "▲ " : "", `${countOfRole(role, n)}: ${endText(end)}`),
        isBadEnd(end) ? nameOf(` (${n > 1 ? "for example " : ""}${placeOfProcess(first)})`) : ""]));
}

/* Stands beside the findings, too. */
function manyFacts() {
    const {world, missing, missing_ranks: which} = many.ranks;
    const steps = many.steps_least && many.steps_least < many.steps_most ? `${countText(many.steps_least)} to ` : "";
    return el("ul", {class: "facts"},
        el("li", {}, el("b", {}, plural(many.processes, "process", "processes")), ` in ${plural(many.folders, "profile")} of ${plural(many.hosts, "host")}`),
        world ? el("li", {}, el("b", {}, countText(world - missing)), ` of ${plural(world, "rank")}`,
            missing ? el("span", {class: "bad"}, `; ▲ no profile of ${missing > 1 ? "ranks" : "rank"} ${which}`) : "") : null,
        many.digests_not_merged ? el("li", {class: "bad"}, `▲ ${plural(many.digests_not_merged, "digest")} could not be merged`) : null,
        el("li", {}, el("b", {}, steps + plural(job.steps, stepUnit))),
        el("li", {}, el("b", {}, secondsText(job.duration_s))),
        many.oom_kills ? el("li", {class: "bad"}, `▲ the kernel killed ${plural(many.oom_kills, "process", "processes")} for lack of memory`) : null,
        endsFact());
}

function remarksList() {
    return many.remarks.length ? el("ul", {class: "remarks"}, many.remarks.map((text) => el("li", {}, nameOf(text))))
        : el("p", {class: "quiet"}, "No rank is far behind the others, and none has far more memory than the average.");
}

/* The findings, most severe first, each with where it is. */
function spreadTable() {
    const row = (finding) => el("tr", {class: finding.severity}, el("th", {scope: "row"}, el("span", {class: "mark-of"}, SEVERITY_MARK[finding.severity], " "),
        findingLink(finding.id), " ", nameOf(shortName(placeText(finding.frame), 60), {title: finding.title})),
    el("td", {class: "left"}, nameOf(spreadText(finding.spread))), el("td", {}, amountOf(finding)),
    el("td", {}, `${bytesText(finding.spread.most_bytes)} on `, nameOf(finding.spread.most_host)),
    el("td", {}, smallHistogram(finding.spread.histogram, {text: bytesText})));
    return findings.length ? el("div", {class: "scroll-x"}, el("table", {class: "spread", "aria-label": "findings by where they are"},
        el("thead", {}, el("tr", {}, [["finding"], ["in", "left"], ["together"], ["most in one"], ["processes by size"]]
            .map(([text, kind]) => el("th", {scope: "col", class: kind}, text)))), el("tbody", {}, findings.map(row))))
        : el("p", {class: "none"}, nothingFound());
}

function cellsTable(measure, how) {
    const text = (value) => valueText(rankMeasure(measure), value), list = cellsInOrder(measure, how).slice(0, MOST_CELLS_LISTED);
    return fold({}, `The ${rankMeasure(measure).low ? "lowest" : "highest"} of ${plural(rankCells.length, "cell")} as a table`, () =>
        numbersTable("cells of the map", ["nodes", "local rank", "ranks", "highest", "average"], list.map((cell) => [nodesText(cell), String(cell.local),
            countText(cell.ranks), text(cellValue(cell, measure, "most")), text(cellValue(cell, measure, "mean"))])));
}

/* The map with its choices; returns what brings it up to date. */
function heatMapIn(root) {
    const controls = el("div", {class: "controls"}), told = el("p", {class: "told-frame", role: "status"}), keys = el("div"), table = el("div");
    const tell = (cell) => told.replaceChildren(cellText(cell, cellMeasureWanted()));
    const picture = fitted((width) => drawHeatMap(width, cellMeasureWanted(), cellValueWanted(cellMeasureWanted()), tell));
    root.append(el("h2", {}, "Nodes and local ranks"), controls, told, picture, keys, table);
    return () => {
        const measure = cellMeasureWanted(), how = cellValueWanted(measure);
        updateControls(controls, [
            select("of", rankCellMeasures.map((key) => [key, rankMeasure(key).name]), measure, (of) => state.set({of, colour: ""})),
            d3.max(rankCells, ({ranks}) => ranks) > 1 ? select("colour", CELL_VALUES, how, (colour) => state.set({colour})) : null]);
        picture.redraw();
        keys.replaceChildren(heatLegend(measure, d3.extent(rankCells, (cell) => cellValue(cell, measure, how))));
        table.replaceChildren(cellsTable(measure, how));
    };
}

const ranksView = {
    name: "ranks", title: "Ranks",
    enter(root) {
        fill(root, {}, [manyFacts(), el("h2", {}, "Who stands out"), remarksList(), el("h2", {}, "Where the findings are"), spreadTable()]);
        const update = rankCells.length && rankCellMeasures.length ? heatMapIn(root) : () => {};
        fill(root, {}, [el("h2", {}, "Distributions"), el("div", {class: "processes"}, distributionCards()), notSeen()]);
        return update;
    },
};
