/* Stacks as a tree of frames with weights, for the flame graph. A node: {frame, value, parent, children}. */

const MEASURES = [["live", "live at the window's end"], ["kept", "kept at the end"], ["growth", "growth in the window"], ["peak", "peaks in the window"],
    ["allocated", "allocated in the whole run"]];
const STACK_KINDS = [["python", "Python"], ["native", "native"], ["both", "both"]];
const LEAST_SHARE = 1 / 4000; /* of the frame around it: what is narrower is not to be seen, and so not zoomed to */

function weightOf(i, measure, window) {
    if (measure === "allocated")
        return sites.allocated_bytes[i] || 0;
    if (measure === "kept")
        return sites.retained_bytes[i] || 0;
    if (measure === "growth")
        return Math.max(0, levelAt(i, window.to) - (window.whole ? 0 : levelAt(i, window.from)));
    if (measure === "peak")
        return window.whole ? sites.peak_bytes[i] || 0 : highestIn(i, window.from, window.to);
    return levelAt(i, window.to);
}

/* Weights of all sites that are looked at; others weigh nothing. */
function weights(memory, measure, window, finding) {
    const list = new Float64Array(nSites);
    for (let i = 0; i < nSites; i++) {
        if (site.memory(i) === memory && (!finding || isOfFinding(i, finding)))
            list[i] = weightOf(i, measure, window);
    }
    return list;
}

/* Python's own way to a module says nothing: it is left out. */
const shownFrames = onceOfData((kind) => {
    const isIn = new Uint8Array(frames.name.length), isImport = onceFor((file) => texts[file].startsWith("<frozen importlib"));
    for (let f = 0; f < isIn.length; f++)
        isIn[f] = (kind === "both" || frame.isPython(f) === (kind === "python")) && !(frames.file[f] >= 0 && isImport(frames.file[f]));
    return isIn;
});

/* Of each stack the nearest one outwards, itself first, whose frame is shown; −1 where none is. */
const shownStacks = onceOfData((kind) => {
    const isIn = shownFrames(kind), nearest = new Int32Array(nStacks);
    for (let s = 0; s < nStacks; s++) {
        const parent = stacks.parent[s]; /* parents are in the table before their children */
        nearest[s] = isIn[stacks.frame[s]] ? s : parent < 0 ? -1 : nearest[parent];
    }
    return nearest;
});

/* The same of what called each stack. */
const shownCallers = onceOfData((kind) => {
    const nearest = shownStacks(kind);
    const callers = new Int32Array(nStacks);
    for (let s = 0; s < nStacks; s++)
        callers[s] = stacks.parent[s] < 0 ? -1 : nearest[stacks.parent[s]];
    return callers;
});

/* Stacks that are shown by who called them, as lists: the first one called from each, and the next beside each. The last
   of `first` is of those that nothing shown has called. */
const shownCallees = onceOfData((kind) => {
    const isIn = shownFrames(kind), caller = shownCallers(kind);
    const first = new Int32Array(nStacks + 1).fill(-1), next = new Int32Array(nStacks);
    for (let s = nStacks - 1; s >= 0; s--) {
        if (isIn[stacks.frame[s]]) {
            const of = caller[s] < 0 ? nStacks : caller[s];
            next[s] = first[of];
            first[of] = s;
        }
    }
    return {first, next};
});

/* A tree's nodes are made where they are looked at, for what is too narrow to be seen is by far the most. The stacks of a
   node have the same shown frames up to it; `tree.headsOf(node)` gives those that come next, and their weights. */
function callNode(tree, frame, parent, value) {
    return {tree, frame, parent, value, stacks: [], weights: [], children: [], least: Infinity, heads: null};
}

function treeOf(headsOf, value, heads) {
    const nFrames = frames.name.length;
    return {...callNode({headsOf, byFrame: new Float64Array(nFrames), slots: new Int32Array(nFrames)}, -1, null, value), heads};
}

/* Children that are new with this weight as the least: their frames are those seen, with a sum in `byFrame`. */
function freshChildren(node, seen, least) {
    const {tree, children} = node, {byFrame, slots} = tree, known = new Set(children.map((child) => child.frame)), fresh = [];
    for (const f of seen) {
        if (byFrame[f] >= least && !known.has(f))
            slots[f] = fresh.push(callNode(tree, f, node, byFrame[f]));
    }
    return fresh;
}

/* Children that have at least this weight; there may be others. */
function childrenOf(node, least) {
    if (!node.tree || least >= node.least)
        return node.children;
    node.least = least;
    node.heads ??= node.tree.headsOf(node);
    const {byFrame, slots} = node.tree, {stacks: heads, weights: of} = node.heads, seen = [];
    for (let n = 0; n < heads.length; n++) {
        const f = stacks.frame[heads[n]];
        if (byFrame[f] === 0)
            seen.push(f);
        byFrame[f] += of[n];
    }
    const fresh = freshChildren(node, seen, least);
    for (let n = 0; fresh.length && n < heads.length; n++) {
        const slot = slots[stacks.frame[heads[n]]];
        if (slot) {
            fresh[slot - 1].stacks.push(heads[n]);
            fresh[slot - 1].weights.push(of[n]);
        }
    }
    for (const f of seen)
        byFrame[f] = slots[f] = 0;
    node.children.push(...fresh);
    return node.children;
}

/* Weights of what each shown stack made itself. */
function ownWeights(weight, kind) {
    const nearest = shownStacks(kind), own = new Float64Array(nStacks);
    for (let i = 0; i < nSites; i++) {
        const at = sites.stack[i] < 0 ? -1 : nearest[sites.stack[i]];
        if (at >= 0)
            own[at] += weight[i];
    }
    return own;
}

/* Callers first. */
function callersTree(weight, kind) {
    const sum = ownWeights(weight, kind), caller = shownCallers(kind), {first, next} = shownCallees(kind);
    for (let s = nStacks - 1; s >= 0; s--) {
        if (sum[s] > 0 && caller[s] >= 0)
            sum[caller[s]] += sum[s];
    }
    const called = (callers) => {
        const heads = {stacks: [], weights: []};
        for (const of of callers) {
            for (let s = first[of]; s >= 0; s = next[s]) {
                if (sum[s] > 0) {
                    heads.stacks.push(s);
                    heads.weights.push(sum[s]);
                }
            }
        }
        return heads;
    };
    return treeOf((node) => called(node.stacks), d3.sum(weight), called([nStacks]));
}

/* The innermost first. Stacks that meet on their way outwards are one from there on. */
function calleesTree(weight, kind) {
    const own = ownWeights(weight, kind), caller = shownCallers(kind), sums = new Float64Array(nStacks);
    const headsOf = (node) => {
        const list = [];
        for (let n = 0; n < node.stacks.length; n++) {
            const stack = caller[node.stacks[n]];
            if (stack < 0)
                continue;
            if (sums[stack] === 0)
                list.push(stack);
            sums[stack] += node.weights[n];
        }
        const heads = {stacks: list, weights: list.map((stack) => sums[stack])};
        for (const stack of list)
            sums[stack] = 0;
        return heads;
    };
    const tips = d3.range(nStacks).filter((s) => own[s] > 0);
    return treeOf(headsOf, d3.sum(weight), {stacks: tips, weights: tips.map((s) => own[s])});
}

/* Share of the weight whose stacks have a matching frame, and which frames match. */
function searchFrames(text, weight, kind) {
    const matches = shownFrames(kind).slice(), isWanted = frameMatcher(text.toLowerCase());
    for (let f = 0; f < matches.length; f++)
        matches[f] = matches[f] && isWanted(f) ? 1 : 0;
    const has = new Uint8Array(nStacks);
    for (let s = 0; s < nStacks; s++)
        has[s] = matches[stacks.frame[s]] || (stacks.parent[s] >= 0 && has[stacks.parent[s]]) ? 1 : 0;
    let found = 0, total = 0;
    for (let i = 0; i < nSites; i++) {
        total += weight[i];
        if (sites.stack[i] >= 0 && has[sites.stack[i]])
            found += weight[i];
    }
    return {matches, share: total ? found / total : 0, bytes: found};
}
