/* Lines of both runs by what changed, with their stacks below: sites are paired by stack, and pairs are listed by line. */

const MEASURES_OF_PAIRS = ["kept", "growth", "peak"];

/* A line has a frame number in each run: pairs are listed under the first of them. */
derive(() => pairs.line = pairs.look_at && ((same) => pairs.look_at.map((f) => f < 0 ? f : same[f]))(sameFrames(frame.line)));

/* The sum over pairs in one run; null where that run has none of their sites. */
function sumOfPairs(column, list) {
    const known = list.map((i) => pairs[column][i]).filter((value) => value !== null);
    return known.length ? d3.sum(known) : null;
}
const inBase = (measure, list) => sumOfPairs(measure + "_before", list);
const inNew = (measure, list) => sumOfPairs(measure + "_after", list);

/* A run without such a site keeps nothing there. */
function changeOf(measure, list) {
    const change = (inNew(measure, list) || 0) - (inBase(measure, list) || 0);
    return Math.abs(change) < 0.5 ? 0 : change;
}

/* The text that most of several pairs have, and the number of others. */
function textsOfPairs(column, line) {
    const counts = d3.nest().key((i) => pairs[column][i]).rollup((own) => own.length).entries(line.rows).sort((a, b) => b.value - a.value);
    return texts[counts[0].key] + (counts.length > 1 ? ` +${counts.length - 1}` : "");
}

const sideColumn = (measure, run, of, width) => ({key: `${measure}_${run}`, title: `${measure} ${run.toUpperCase()}`, width, wide: true,
    value: (line) => of(measure, line.rows) ?? -Infinity, text: (line) => of(measure, line.rows) === null ? "" : bytesText(of(measure, line.rows))});
const changeColumn = (measure, width, wide) => ({key: measure, title: measure + " change", width, wide,
    value: (line) => Math.abs(changeOf(measure, line.rows)), text: (line) => signedText(changeOf(measure, line.rows))});
const pairTextColumn = (key, width) => ({key, title: key, width, wide: true, value: (line) => textsOfPairs(key, line),
    text: (line) => textsOfPairs(key, line)});

const PAIR_COLUMNS = [
    {key: "line", title: "line", left: true, value: (line) => lineOrder(line.f),
        text: (line, fit) => nameOf(fit(shortFrameText(line.f)), {title: frame.text(line.f)})},
    pairTextColumn("space", 92),
    pairTextColumn("part", 112),
    sideColumn("kept", "base", inBase, 104), sideColumn("kept", "new", inNew, 104), changeColumn("kept", 120),
    sideColumn("growth", "base", inBase, 118), sideColumn("growth", "new", inNew, 118), changeColumn("growth", 130),
    changeColumn("peak", 120, true),
    {key: "stacks", title: "stacks", width: 70, wide: true, value: (line) => line.rows.length, text: (line) => countText(line.rows.length)},
];

/* Which pairs are listed, by the sign of the change that they are sorted by. */
const PAIR_KINDS = {
    changed: ["changed", (list) => MEASURES_OF_PAIRS.some((measure) => changeOf(measure, list))],
    more: ["more in NEW (+)", (list, measure) => changeOf(measure, list) > 0],
    less: ["less in NEW (−)", (list, measure) => changeOf(measure, list) < 0],
    base: ["only in BASE", (list) => inNew("kept", list) === null],
    new: ["only in NEW", (list) => inBase("kept", list) === null],
    all: ["all", () => true],
};

function pairText(i) {
    return `${pairs.look_at[i] < 0 ? "" : lowerText(pairs.look_at[i])} ${texts[pairs.space[i]]} ${texts[pairs.part[i]]}`;
}

/* Lines of the pairs that match every word. */
function changedLines(text, kind, key, down) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const column = PAIR_COLUMNS.find((c) => c.key === key) || PAIR_COLUMNS[5];
    const measure = MEASURES_OF_PAIRS.find((m) => column.key.startsWith(m)) || "kept";
    const isWanted = (PAIR_KINDS[kind] || PAIR_KINDS.changed)[1];
    const list = words.length ? d3.range(nPairs).filter((i) => words.every((word) => pairText(i).includes(word))) : d3.range(nPairs);
    return inOrder(linesOfRows(pairs, list).filter((line) => isWanted(line.rows, measure)), column.value, down);
}

/* Several stacks peak at different moments: the sum of their peaks is not the line's peak. */
function bothRuns(list) {
    return el("div", {class: "scroll-x", tabindex: "0", role: "region", "aria-label": "both runs"}, el("table", {},
        el("thead", {}, el("tr", {}, ["", "BASE", "NEW", "change"].map((text) => el("th", {scope: "col"}, text)))),
        el("tbody", {}, [["kept", "kept"], ["peak", list.length > 1 ? "peaks of its stacks, added up" : "peak"], ["growth", `growth a ${stepUnit}`]]
            .map(([measure, title]) => el("tr", {}, el("th", {scope: "row"}, title), comparedCells(inBase(measure, list), inNew(measure, list)))))));
}

function pairFacts(i) {
    const own = pairs.site[i] < 0 ? undefined : texts[pairs.site[i]];
    return el("p", {}, `${texts[pairs.space[i]]}, ${texts[pairs.part[i]]}`,
        siteNumber.has(own) ? ["; ", el("a", {href: state.link("sites", {site: own})}, `site ${own} of NEW`)] : null);
}

const pairParts = (i) => [pairFacts(i), bothRuns([i]), el("h3", {}, "Stack, innermost first"), stackList(pairs.stack[i], pairs.look_at[i])];

function pairFold(i, open) {
    const way = wayText(pairs, i), one = fold({open, class: "stack-fold brief"}, [el("b", {}, signedText(changeOf("kept", [i]))), " kept ",
        el("span", {class: "quiet"}, `${texts[pairs.space[i]]}, by `, nameOf(shortName(way, 120), {title: way}))], () => pairParts(i));
    one.keptAs = () => stackName(pairs.stack[i]);
    return one;
}

/* `wanted`: the stack that is unfolded, of several. */
function changeDetails(line, wanted) {
    const list = [...line.rows].sort((a, b) => (b === wanted) - (a === wanted) || Math.abs(changeOf("kept", [b])) - Math.abs(changeOf("kept", [a])));
    const rest = list.slice(MOST_STACKS);
    return el("section", {class: "details", "aria-labelledby": "pair-title", tabindex: "-1", id: "pair"},
        el("h2", {id: "pair-title"}, nameOf(frame.text(line.f))),
        frame.source(line.f) ? el("pre", {class: "source"}, nameOf(frame.source(line.f))) : null,
        list.length === 1 ? pairParts(list[0]) : [bothRuns(list), el("h3", {}, `Its ${plural(list.length, "stack")}`),
            list.slice(0, MOST_STACKS).map((i) => pairFold(i, i === wanted)),
            rest.length ? el("p", {class: "quiet"}, `${plural(rest.length, "further stack")}: ${signedText(changeOf("kept", rest))} kept`) : null]);
}

function countOfChanges(lines) {
    const leftOut = d3.sum(comparison.small.pairs || []);
    return `${plural(lines.length, "line")}, ${plural(d3.sum(lines, (line) => line.rows.length), "stack")} of ${countText(nPairs)} of both runs, ` +
        "paired by stack" + (leftOut ? `; ${countText(leftOut)} very small ones are not on this page` : "");
}

const pairWanted = () => /^\d+$/.test(state.get("pair")) && +state.get("pair") < nPairs ? +state.get("pair") : undefined;

const changesView = {
    name: "changes", title: "Changes",
    enter(root) {
        const controls = el("div", {class: "controls"}), details = el("div");
        const count = el("p", {class: "quiet", role: "status"});
        const sortKey = () => state.get("sort", "kept"), sortDown = () => state.get("order", "down") === "down";
        const search = searchField("filter", state.get("search"), (text) => state.set({search: text}));
        const chosen = () => state.get("columns"), columns = columnChoice(PAIR_COLUMNS, chosen, (keys) => state.set({columns: keys}));
        const table = virtualTable({columns: PAIR_COLUMNS, chosen, label: "lines of both runs", sortKey, sortDown,
            onsort: (key) => state.set({sort: key, order: key === sortKey() && sortDown() ? "up" : "down"}),
            onopen: (line) => state.set({line: lineKey(line), pair: ""}, true)});
        let shown = "", listed = "", list = [];
        controls.append(search, el("span", {class: "choices"}), columns);
        root.append(controls, count, table, details);
        return () => {
            const text = state.get("search"), kind = state.get("show", "changed"), input = search.querySelector("input");
            if (document.activeElement !== input)
                input.value = text;
            updateControls(controls.querySelector(".choices"), [
                select("show", Object.entries(PAIR_KINDS).map(([key, [title]]) => [key, title]), kind, (show) => state.set({show})),
                select("sort by", PAIR_COLUMNS.map((c) => [c.key, c.title]), sortKey(), (key) => state.set({sort: key}))]);
            columns.sync();
            const key = [text, kind, sortKey(), sortDown(), chosen()].join("\n");
            const isOther = key !== listed;
            if (isOther) {
                listed = key;
                list = changedLines(text, kind, sortKey(), sortDown());
                table.update(list);
                count.textContent = countOfChanges(list);
            }
            const wanted = [state.get("line"), state.get("pair")].join(" ");
            if (wanted !== shown || isOther) {
                shown = wanted;
                const pair = pairWanted(), line = chosenLine(pairs, list, pair);
                details.replaceChildren(...line ? [changeDetails(line, pair)] : []);
            }
        };
    },
};
