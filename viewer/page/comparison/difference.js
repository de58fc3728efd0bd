/* The flame graph of two runs: one tree of the frames of both. Two frames are the same where kind, function and file are
   the same, even if the line has moved. */

const DIFFERENCE_MEASURES = [["kept", "kept"], ["growth", "growth a step"], ["peak", "peak, each site"]];
const WIDTHS = [["both", "the larger of both"], ["new", "NEW"], ["base", "BASE"]];
const CHANGES = {grew: ["+", "more in NEW"], shrank: ["−", "less in NEW"], same: ["=", "about the same"]};
const SAME_SHARE = 0.01; /* of the larger run: a smaller difference is not a change of the job */

/* Negative values have no width. `rows` are pairs, or sums of small sites. */
function weightsOfPair(rows, i, measure) {
    return [Math.max(0, rows[measure + "_before"][i] || 0), Math.max(0, rows[measure + "_after"][i] || 0)];
}

const widthOf = {both: Math.max, new: (_, now) => now, base: (was) => was};

/* For each frame the number of the first one that is the same: in function and file, and in what `more` adds. */
function sameFrames(more = () => "") {
    const first = new Map();
    return frames.name.map((name, f) => {
        const file = (frame.file(f) || frame.module(f)).split("/").pop();
        const key = `${frames.kind[f]} ${name} ${file} ${more(f)}`;
        if (!first.has(key))
            first.set(key, f);
        return first.get(key);
    });
}
let same;
derive(() => same = null);

function childOf(node, f) {
    let child = node.byFrame.get(f);
    if (!child) {
        child = {frame: f, value: 0, was: 0, now: 0, children: [], byFrame: new Map(), parent: node};
        node.byFrame.set(f, child);
        node.children.push(child);
    }
    return child;
}

/* Adds the weight of a stack, innermost frame first, in both runs. */
function addToTree(root, shown, was, now, value) {
    let node = root;
    for (let k = shown.length; k >= 0; k--) {
        node.was += was;
        node.now += now;
        node.value += value;
        if (k)
            node = childOf(node, shown[k - 1]);
    }
}

/* Nodes: {frame, value, was, now, children, parent}; a node is drawn as wide as its `value`. */
function differenceTree(memory, measure, width, kind) {
    const root = {frame: -1, value: 0, was: 0, now: 0, children: [], byFrame: new Map(), parent: null};
    same ??= sameFrames();
    for (const [rows, tip] of [[pairs, []], [comparison.small, [smallFrame]]]) {
        for (let i = 0; i < (rows.space || []).length; i++) {
            const [was, now] = memoryOfText(rows.space[i]) === memory ? weightsOfPair(rows, i, measure) : [0, 0];
            if (was || now)
                addToTree(root, [...tip, ...shownFramesOf(rows.stack[i], shownKey(kind))].map((f) => same[f]), was, now, widthOf[width](was, now));
        }
    }
    return root;
}

function changeKind(node) {
    const change = node.now - node.was;
    return Math.abs(change) <= SAME_SHARE * Math.max(node.was, node.now) ? "same" : change > 0 ? "grew" : "shrank";
}

function differenceFacts(node) {
    return {name: node.frame < 0 ? "all" : frame.name(node.frame), where: node.frame < 0 ? "" : frame.where(node.frame),
        facts: [CHANGES[changeKind(node)][1], `${bytesText(node.was)} in BASE`,
            `${bytesText(node.now)} in NEW (${signedText(node.now - node.was)})`]};
}

/* Hatched in one direction or the other, so that the change is visible without colour. */
const CHANGE_HATCHES = {grew: "M-1 1L1 -1M0 6L6 0M5 7L7 5", shrank: "M-1 5L1 7M0 0L6 6M5 -1L7 1"};

function changeHatches() {
    const ids = {};
    return {ids, defs: svg("defs", {}, Object.entries(CHANGE_HATCHES).map(([kind, d]) => svg("pattern",
        {id: ids[kind] = freshId("change"), width: 6, height: 6, patternUnits: "userSpaceOnUse"},
        svg("path", {d, class: "hatch"}))))};
}

/* How drawFlame() shows a node of two runs. */
function differenceLook(card) {
    const {ids, defs} = changeHatches();
    return {defs, card, label: "flame graph of both runs", kind: changeKind, facts: differenceFacts, bands: () => [],
        title: (node) => factsText(differenceFacts(node)),
        text: (node) => `${CHANGES[changeKind(node)][0]} ${node.frame < 0 ? "all" : frame.name(node.frame)} ${signedText(node.now - node.was)}`,
        over: (node) => ids[changeKind(node)] ? `url(#${ids[changeKind(node)]})` : null};
}

function changeLegend() {
    return el("ul", {class: "legend"}, Object.entries(CHANGES).map(([kind, [sign, name]]) => {
        const {ids, defs} = changeHatches();
        return el("li", {}, svg("svg", {width: 18, height: 12, "aria-hidden": "true"}, defs, svg("g", {class: "frame " + kind},
            svg("rect", {width: 18, height: 12}),
            ids[kind] ? svg("path", {d: "M0 0H18V12H0Z", fill: `url(#${ids[kind]})`}) : null)), ` ${sign} ${name}`);
    }));
}

/* Which frames match, to highlight them, and the weight at or below them. */
function searchDifference(root, text) {
    const isWanted = frameMatcher(text.toLowerCase()), matches = new Uint8Array(frames.name.length);
    for (let f = 0; f < matches.length; f++)
        matches[f] = isWanted(f) ? 1 : 0;
    const found = {matches, was: 0, now: 0}, left = [root];
    while (left.length) {
        const node = left.pop();
        if (node.frame >= 0 && matches[node.frame]) {
            found.was += node.was;
            found.now += node.now;
        } else
            left.push(...node.children);
    }
    return found;
}

/* Memories of either run; always includes the host. */
let differenceMemories;
derive(() => differenceMemories =
    [...new Set([HOST, ...(comparison ? comparison.spaces.map(({space}) => memoryOf(space)) : [])])]
        .sort((a, b) => (b === HOST) - (a === HOST) || a.localeCompare(b)));

/* The memory of the first finding of either run. */
function memoryCompared() {
    const first = findings[0] || comparison.findings.map((row) => row.before).find(Boolean);
    return first ? memoryOf(first.space) : HOST;
}

const differenceView = {
    name: "difference", title: "Difference",
    enter(root) {
        const controls = el("div", {class: "controls"}), trail = el("ol", {class: "crumbs", "aria-label": "zoomed to"});
        const told = el("p", {class: "told-frame"}), share = el("span", {class: "share", role: "status"}), notes = el("div"), card = readout();
        const search = searchField("search", state.get("search"), (text) => state.set({search: text}));
        let now = null, made = "", refocus = false;
        const zoom = (node, byKey) => {
            refocus = byKey || refocus;
            state.set({zoom: pathOf(node, functionKey)}, true);
        };
        const tell = (node) => told.replaceChildren(nameOf(factsText(differenceFacts(node))));
        const picture = fitted((width) => drawFlame(width,
            {root: now.tree, zoomed: now.zoomed, found: now.found, zoom, tell, look: differenceLook(card)}));
        root.append(controls, el("div", {class: "controls"}, search, share), trail, told, picture, notes, card);
        return () => {
            const memory = oneOf(differenceMemories.map((one) => [one]), state.get("memory") || memoryCompared());
            const measure = oneOf(DIFFERENCE_MEASURES, state.get("measure"));
            const width = oneOf(WIDTHS, state.get("width")), kind = oneOf(STACK_KINDS, state.get("stacks"));
            updateControls(controls, [
                differenceMemories.length > 1 ? select("memory", differenceMemories.map((one) => [one, memoryName(one)]), memory,
                    (value) => state.set({memory: value, zoom: ""})) : null,
                select("measure", DIFFERENCE_MEASURES, measure, (value) => state.set({measure: value, zoom: ""})),
                select("width", WIDTHS, width, (value) => state.set({width: value, zoom: ""})),
                select("stacks", STACK_KINDS, kind, (value) => state.set({stacks: value, zoom: ""}))]);
            const key = [memory, measure, width, kind].join(" ");
            if (made !== key)
                now = {tree: differenceTree(memory, measure, width, kind)};
            made = key;
            now.zoomed = zoomedNode(now.tree, state.get("zoom"), functionKey);
            const text = state.get("search").trim(), input = search.querySelector("input");
            now.found = text ? searchDifference(now.tree, text) : null;
            if (document.activeElement !== input)
                input.value = state.get("search");
            share.textContent = now.found ? `${bytesText(now.found.was)} in BASE, ${bytesText(now.found.now)} in NEW match` : "";
            trail.replaceChildren(...crumbs(now.zoomed, zoom));
            tell(now.zoomed);
            card.hide();
            picture.redraw();
            notes.replaceChildren(changeLegend(), ...(now.tree.value ? []
                : [el("p", {class: "none"}, measure === "growth" ? "Nothing grew." : "Neither run has memory in this measure.")]));
            if (refocus) {
                refocus = false;
                picture.querySelector("[tabindex='0']").focus();
            }
        };
    },
};
