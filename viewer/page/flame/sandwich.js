/* One function: its callers and its callees. */

/* Stacks shown as one of these frames, whose callers are not: counts recursion once. */
function outermostOf(isWanted, sums, key) {
    const {as, caller} = shownStacks(key), isWithin = new Uint8Array(nStacks), list = [];
    for (let s = 0; s < nStacks; s++) {
        const above = caller[s] >= 0 && isWithin[caller[s]] === 1, is = as[s] >= 0 && isWanted[as[s]] === 1;
        isWithin[s] = above || is ? 1 : 0;
        if (is && !above && sums[0][s] > 0)
            list.push(s);
    }
    return list;
}

/* {callers, callees}: two trees that both begin with the function, on any line; null where it weighs nothing. */
function sandwichOf(name, channels, key) {
    const {as} = shownStacks(key), sums = allWeights(channels, key);
    const isWanted = Uint8Array.from(frames.name, (_, f) => functionKey(f) === name ? 1 : 0);
    const own = headsWith(outermostOf(isWanted, sums, key), sums);
    if (!own.stacks.length)
        return null;
    const totals = totalsOf(own.weights), first = as[own.stacks[0]];
    const called = calledFrom(sums, key), calling = callersOf(channels.length, key);
    return {callees: treeOf(first, as, (node) => called(node.stacks), totals, {of: own, next: called(own.stacks)}),
        callers: treeOf(first, as, calling, totals, {of: own, next: calling(own)})};
}

/* Functions with their total and their own weight: [{frame, total, own}]; `frame` is any one of the function. */
function functionsOf(channels, key) {
    const {as, caller} = shownStacks(key), own = ownWeights([channels[0]], key)[0], all = allWeights([channels[0]], key)[0];
    const keys = onceFor((f) => functionKey(f)), known = new Map();
    const isRecursive = (s) => {
        for (let at = caller[s]; at >= 0; at = caller[at])
            if (keys(as[at]) === keys(as[s]))
                return true;
        return false;
    };
    for (let s = 0; s < nStacks; s++) {
        if (as[s] < 0 || all[s] === 0 || frame.isMadeUp(as[s]))
            continue;
        const name = keys(as[s]);
        if (!known.has(name))
            known.set(name, {frame: as[s], total: 0, own: 0});
        known.get(name).own += own[s];
        known.get(name).total += isRecursive(s) ? 0 : all[s];
    }
    return [...known.values()];
}

const MOST_FUNCTIONS = 40;

/* The top functions by each sum; each links to its callers and callees. */
function functionTable(channels, key) {
    const total = d3.sum(channels[0]) || 1;
    const list = functionsOf(channels, key).sort((a, b) => b.total - a.total || b.own - a.own);
    const shown = new Set([...list.slice(0, MOST_FUNCTIONS), ...[...list].sort((a, b) => b.own - a.own).slice(0, MOST_FUNCTIONS / 2)]);
    return el("div", {class: "scroll-x"}, el("table", {class: "numbers functions"},
        el("thead", {}, el("tr", {}, ["function", "with callees", "share", "itself"].map((text) => el("th", {scope: "col"}, text)))),
        el("tbody", {}, list.filter((one) => shown.has(one)).map((one) => el("tr", {}, el("th", {scope: "row"},
            el("a", {href: sandwichLink(one.frame)}, nameOf(cutText(frame.name(one.frame), 100))), " ",
            nameOf(frame.where(one.frame).replace(/:\d+$/, ""), {class: "quiet"})),
        [bytesText(one.total), shareText(one.total / total), bytesText(one.own)].map((text) => el("td", {}, text)))))));
}

/* Links to the flame graph of one function. */
function sandwichLink(f) {
    const values = Object.fromEntries(state.values);
    return state.link("flame", {...values, function: functionKey(f), zoom: ""});
}
