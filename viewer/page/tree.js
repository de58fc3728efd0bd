/* Stacks as a tree of frames with weights, for the flame graph. A node: {frame, value, parent, children}. */

const MEASURES = [["live", "live at the window's end"], ["growth", "growth in the window"], ["peak", "peaks in the window"],
    ["allocated", "allocated in the whole run"]];
const STACK_KINDS = [["python", "Python"], ["native", "native"], ["both", "both"]];
const LEAST_SHARE = 1 / 4000; /* of the frame around it: what is narrower is not to be seen, and so not zoomed to */

function weightOf(i, measure, window) {
    if (measure === "allocated")
        return sites.allocated_bytes[i] || 0;
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
        if (site.memory(i) === memory && (!finding || findingOf[i] && findingOf[i].id === finding))
            list[i] = weightOf(i, measure, window);
    }
    return list;
}

/* Python's own way to a module says nothing: it is left out. */
function isShown(f, kind) {
    return !frame.isImport(f) && (kind === "both" || frame.isPython(f) === (kind === "python"));
}

const shownFrames = onceFor((kind) => Uint8Array.from(frames.name, (_, f) => isShown(f, kind)));

/* Of each stack the nearest one outwards, itself first, whose frame is shown; −1 where none is. */
const shownStacks = onceFor((kind) => {
    const isIn = shownFrames(kind), nearest = new Int32Array(nStacks);
    for (let s = 0; s < nStacks; s++) {
        const parent = stacks.parent[s]; /* parents are in the table before their children */
        nearest[s] = isIn[stacks.frame[s]] ? s : parent < 0 ? -1 : nearest[parent];
    }
    return nearest;
});

/* The same of what called each stack. */
const shownCallers = onceFor((kind) => {
    const nearest = shownStacks(kind);
    return Int32Array.from(stacks.parent, (parent) => parent < 0 ? -1 : nearest[parent]);
});

/* Stacks that are shown by who called them, as lists: the first one called from each, and the next beside each. The last
   of `first` is of those that nothing shown has called. */
const shownCallees = onceFor((kind) => {
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
   node have the same shown frames up to it; `tree.next(stack, weight, add)` names those that come next, and their weights. */
function callNode(tree, frame, parent) {
    return {tree, frame, parent, value: 0, stacks: [], weights: [], children: [], least: Infinity, heads: null};
}

function treeOf(next, value, heads) {
    return {...callNode({next, byFrame: new Float64Array(frames.name.length), byStack: new Float64Array(nStacks)}, -1, null), value, heads};
}

/* What comes next after a node's stacks, each stack once: {stacks, weights}. */
function headsOf(node) {
    const {next, byStack} = node.tree, list = [];
    const add = (stack, weight) => {
        if (!byStack[stack])
            list.push(stack);
        byStack[stack] += weight;
    };
    node.stacks.forEach((stack, n) => next(stack, node.weights[n], add));
    const sums = list.map((stack) => byStack[stack]);
    list.forEach((stack) => byStack[stack] = 0);
    return {stacks: list, weights: sums};
}

/* Children that have at least this weight; there may be others. */
function childrenOf(node, least) {
    if (!node.tree || least >= node.least)
        return node.children;
    node.least = least;
    node.heads ??= headsOf(node);
    const {byFrame} = node.tree, {stacks: heads, weights: of} = node.heads;
    const known = new Map(node.children.map((child) => [child.frame, child])), fresh = new Map(), seen = [];
    heads.forEach((stack, n) => {
        const f = stacks.frame[stack];
        if (!byFrame[f])
            seen.push(f);
        byFrame[f] += of[n];
    });
    for (const f of seen) {
        if (byFrame[f] >= least && !known.has(f))
            fresh.set(f, {...callNode(node.tree, f, node), value: byFrame[f]});
        byFrame[f] = 0;
    }
    heads.forEach((stack, n) => {
        const child = fresh.get(stacks.frame[stack]);
        if (child) {
            child.stacks.push(stack);
            child.weights.push(of[n]);
        }
    });
    node.children.push(...fresh.values());
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
    const calledFrom = (of) => {
        const list = [];
        for (let s = first[of]; s >= 0; s = next[s]) {
            if (sum[s] > 0)
                list.push(s);
        }
        return list;
    };
    const tops = calledFrom(nStacks);
    return treeOf((stack, _, add) => calledFrom(stack).forEach((s) => add(s, sum[s])), d3.sum(weight),
        {stacks: tops, weights: tops.map((s) => sum[s])});
}

/* The innermost first. Stacks that meet on their way outwards are one from there on. */
function calleesTree(weight, kind) {
    const own = ownWeights(weight, kind), caller = shownCallers(kind), tips = [];
    own.forEach((value, s) => value > 0 && tips.push(s));
    return treeOf((stack, value, add) => caller[stack] >= 0 && add(caller[stack], value), d3.sum(weight),
        {stacks: tips, weights: tips.map((s) => own[s])});
}

/* Share of the weight whose stacks have a matching frame, and which frames match. */
function searchFrames(text, weight, kind) {
    const wanted = text.toLowerCase();
    const matches = shownFrames(kind).map((isIn, f) => isIn && lowerText(f).includes(wanted));
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
