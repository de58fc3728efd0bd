/* Sites of both runs as pairs, by what changed; and what is known of one pair. */

const MEASURES_OF_PAIRS = ["kept", "growth", "peak"];
const inBase = (measure, i) => pairs[measure + "_before"][i];
const inNew = (measure, i) => pairs[measure + "_after"][i];

/* A run that has no such site keeps nothing by it. */
function changeOf(measure, i) {
    const change = (inNew(measure, i) || 0) - (inBase(measure, i) || 0);
    return Math.abs(change) < 0.5 ? 0 : change;
}

const sideColumn = (measure, run, of, width) => ({key: `${measure}_${run}`, title: `${measure} ${run.toUpperCase()}`, width, wide: true,
    value: (i) => of(measure, i) ?? -Infinity, text: (i) => of(measure, i) === null ? "" : bytesText(of(measure, i))});
const changeColumn = (measure, width, wide) => ({key: measure, title: measure + " change", width, wide,
    value: (i) => Math.abs(changeOf(measure, i)), text: (i) => signedText(changeOf(measure, i))});

const PAIR_COLUMNS = [
    {key: "line", title: "line", left: true, value: (i) => lineOrder(pairs.look_at[i]),
        text: (i, fit) => nameOf(fit(shortFrameText(pairs.look_at[i])), {title: frame.text(pairs.look_at[i])})},
    {key: "space", title: "space", width: 84, wide: true, value: (i) => texts[pairs.space[i]], text: (i) => texts[pairs.space[i]]},
    {key: "role", title: "role", width: 100, wide: true, value: (i) => texts[pairs.role[i]], text: (i) => texts[pairs.role[i]]},
    sideColumn("kept", "base", inBase, 104), sideColumn("kept", "new", inNew, 104), changeColumn("kept", 120),
    sideColumn("growth", "base", inBase, 118), sideColumn("growth", "new", inNew, 118), changeColumn("growth", 130),
    changeColumn("peak", 120, true),
];

/* What is listed, by the sign of the change that is sorted by. */
const PAIR_KINDS = {
    changed: ["changed", (i) => MEASURES_OF_PAIRS.some((measure) => changeOf(measure, i))],
    more: ["more in NEW (+)", (i, measure) => changeOf(measure, i) > 0],
    less: ["less in NEW (−)", (i, measure) => changeOf(measure, i) < 0],
    base: ["only in BASE", (i) => inNew("kept", i) === null],
    new: ["only in NEW", (i) => inBase("kept", i) === null],
    all: ["all", () => true],
};

function pairText(i) {
    return `${pairs.look_at[i] < 0 ? "" : lowerText(pairs.look_at[i])} ${texts[pairs.space[i]]} ${texts[pairs.role[i]]}`;
}

/* Pairs that have every word. */
function pairsInOrder(text, kind, key, down) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const column = PAIR_COLUMNS.find((c) => c.key === key) || PAIR_COLUMNS[5];
    const measure = MEASURES_OF_PAIRS.find((m) => column.key.startsWith(m)) || "kept";
    const isWanted = (PAIR_KINDS[kind] || PAIR_KINDS.changed)[1];
    const list = d3.range(nPairs).filter((i) => isWanted(i, measure) && words.every((word) => pairText(i).includes(word)));
    return inOrder(list, column.value, down);
}

function pairDetails(i) {
    const own = pairs.site[i] < 0 ? undefined : texts[pairs.site[i]];
    return el("section", {class: "details", "aria-labelledby": "pair-title", tabindex: "-1", id: "pair"},
        el("h2", {id: "pair-title"}, nameOf(frame.text(pairs.look_at[i]))),
        el("p", {}, `${texts[pairs.space[i]]}, ${texts[pairs.role[i]]}`,
            siteNumber.has(own) ? ["; ", el("a", {href: state.link("sites", {site: own})}, `site ${own} of NEW`)] : null),
        el("div", {class: "scroll-x", tabindex: "0", role: "region", "aria-label": "both runs"}, el("table", {},
            el("thead", {}, el("tr", {}, ["", "BASE", "NEW", "change"].map((text) => el("th", {scope: "col"}, text)))),
            el("tbody", {}, [["kept", "kept"], ["peak", "peak"], ["growth", `growth a ${stepUnit}`]].map(([measure, title]) =>
                el("tr", {}, el("th", {scope: "row"}, title), comparedCells(inBase(measure, i), inNew(measure, i))))))),
        el("h3", {}, "Stack, innermost first"), stackList(pairs.stack[i], pairs.look_at[i]));
}

const changesView = {
    name: "changes", title: "Changes",
    enter(root) {
        const controls = el("div", {class: "controls"}), details = el("div");
        const count = el("p", {class: "quiet", role: "status"});
        const sortKey = () => state.get("sort", "kept"), sortDown = () => state.get("order", "down") === "down";
        const search = searchField("filter", state.get("search"), (text) => state.set({search: text}));
        const chosen = () => state.get("columns"), columns = columnChoice(PAIR_COLUMNS, chosen, (keys) => state.set({columns: keys}));
        const table = virtualTable({columns: PAIR_COLUMNS, chosen, label: "sites of both runs", sortKey, sortDown,
            onsort: (key) => state.set({sort: key, order: key === sortKey() && sortDown() ? "up" : "down"}),
            onopen: (i) => state.set({pair: String(i)}, true)});
        let shown = "", listed = "";
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
            if (key !== listed) {
                listed = key;
                const list = pairsInOrder(text, kind, sortKey(), sortDown());
                table.update(list);
                const leftOut = d3.sum(comparison.small.pairs || []);
                count.textContent = `${countText(list.length)} of ${plural(nPairs, "site")} of both runs, paired by stack` +
                    (leftOut ? `; ${countText(leftOut)} very small ones are not on this page` : "");
            }
            if (state.get("pair") !== shown) {
                shown = state.get("pair");
                details.replaceChildren(.../^\d+$/.test(shown) && +shown < nPairs ? [pairDetails(+shown)] : []);
            }
        };
    },
};
