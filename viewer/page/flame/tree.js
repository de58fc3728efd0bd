/* Stacks as a tree of frames with weights, for the flame graph. A node: {frame, value, sums, parent, children}. */

const LEAST_SHARE = 1 / 4000; /* of the frame around it: narrower ones cannot be seen, nor zoomed to */

/* Nodes are made when they are looked at, since most are too narrow to be seen. The stacks of a node share the shown frames
   down to it; `tree.headsOf(node)` returns the stacks that come next, and their weights: a list for each channel, of which
   the first is the value. */
function callNode(tree, frame, parent, sums) {
    return {tree, frame, parent, sums, value: sums[0], heads: null, stacks: [], weights: sums.map(() => []), children: [], least: Infinity};
}

function treeOf(frame, as, headsOf, sums, heads) {
    const nFrames = frames.name.length;
    const tree = {as, headsOf, byFrame: new Float64Array(nFrames), slots: new Int32Array(nFrames)};
    return {...callNode(tree, frame, null, sums), ...heads.of, heads: heads.next};
}

/* New children with at least this weight: their frames are those seen, with a sum in `byFrame`. */
function freshChildren(node, seen, least) {
    const {tree, children} = node, {byFrame, slots} = tree, known = new Set(children.map((child) => child.frame)), fresh = [];
    for (const f of seen) {
        if (byFrame[f] >= least && !known.has(f))
            slots[f] = fresh.push(callNode(tree, f, node, [byFrame[f], ...new Array(node.sums.length - 1).fill(0)]));
    }
    return fresh;
}

/* Gives new children their stacks. */
function fillChildren(tree, fresh, heads) {
    for (let n = 0; fresh.length && n < heads.stacks.length; n++) {
        const slot = tree.slots[tree.as[heads.stacks[n]]];
        if (!slot)
            continue;
        const child = fresh[slot - 1];
        child.stacks.push(heads.stacks[n]);
        heads.weights.forEach((of, k) => {
            child.weights[k].push(of[n]);
            child.sums[k] += k ? of[n] : 0;
        });
    }
}

/* Children with at least this weight; may include others. */
function childrenOf(node, least) {
    if (!node.tree || least >= node.least)
        return node.children;
    node.least = least;
    node.heads ??= node.tree.headsOf(node);
    const {as, byFrame, slots} = node.tree, {stacks: heads, weights: [of]} = node.heads, seen = [];
    for (let n = 0; n < heads.length; n++) {
        const f = as[heads[n]];
        if (byFrame[f] === 0)
            seen.push(f);
        byFrame[f] += of[n];
    }
    const fresh = freshChildren(node, seen, least);
    fillChildren(node.tree, fresh, node.heads);
    for (const f of seen)
        byFrame[f] = slots[f] = 0;
    node.children.push(...fresh);
    return node.children;
}

/* For each channel, the weight that each shown stack allocated itself. */
function ownWeights(channels, key) {
    const {nearest} = shownStacks(key), own = channels.map(() => new Float64Array(nStacks));
    for (let row = 0; row < nRowsWeighed; row++) {
        const at = channels[0][row] > 0 && weighed.stack[row] >= 0 ? nearest[weighed.stack[row]] : -1;
        for (let k = 0; at >= 0 && k < channels.length; k++)
            own[k][at] += channels[k][row];
    }
    return own;
}

/* The same including its callees. */
function allWeights(channels, key) {
    const sums = ownWeights(channels, key), {caller} = shownStacks(key);
    for (let s = nStacks - 1; s >= 0; s--) {
        for (let k = 0; sums[0][s] > 0 && caller[s] >= 0 && k < sums.length; k++)
            sums[k][caller[s]] += sums[k][s];
    }
    return sums;
}

/* Heads with their weights in each channel. */
const headsWith = (list, sums) => ({stacks: list, weights: sums.map((sum) => list.map((s) => sum[s]))});

const totalsOf = (channels) => channels.map((of) => d3.sum(of));

/* Callees of shown stacks, if they weigh anything. */
function calledFrom(sums, key) {
    const {first, next} = shownCallees(key);
    return (callers) => {
        const list = [];
        for (const of of callers) {
            for (let s = first[of]; s >= 0; s = next[s]) {
                if (sums[0][s] > 0)
                    list.push(s);
            }
        }
        return headsWith(list, sums);
    };
}

/* Callers of a node's stacks. Stacks that meet on their way outwards are merged from there on. */
function callersOf(nChannels, key) {
    const {caller} = shownStacks(key), met = new Int32Array(nStacks);
    return (node) => {
        const list = [], weights = d3.range(nChannels).map(() => []);
        for (let n = 0; n < node.stacks.length; n++) {
            const stack = caller[node.stacks[n]];
            if (stack < 0)
                continue;
            if (met[stack] === 0) {
                met[stack] = list.push(stack);
                weights.forEach((of) => of.push(0));
            }
            for (let k = 0; k < nChannels; k++)
                weights[k][met[stack] - 1] += node.weights[k][n];
        }
        for (const stack of list)
            met[stack] = 0;
        return {stacks: list, weights};
    };
}

/* Callers first. */
function callersTree(channels, key) {
    const called = calledFrom(allWeights(channels, key), key);
    return treeOf(-1, shownStacks(key).as, (node) => called(node.stacks), totalsOf(channels), {next: called([nStacks])});
}

/* The innermost first. */
function calleesTree(channels, key) {
    const own = ownWeights(channels, key), tips = d3.range(nStacks).filter((s) => own[0][s] > 0);
    return treeOf(-1, shownStacks(key).as, callersOf(channels.length, key), totalsOf(channels), {next: headsWith(tips, own)});
}

/* The share of the weight in stacks with a matching frame, and which frames match. */
function searchFrames(text, weight, key) {
    const {as, caller} = shownStacks(key), isWanted = frameMatcher(text.toLowerCase());
    const matches = Uint8Array.from(frames.name, (_, f) => isWanted(f) ? 1 : 0);
    const has = new Uint8Array(nStacks);
    for (let s = 0; s < nStacks; s++)
        has[s] = as[s] >= 0 && matches[as[s]] || (caller[s] >= 0 && has[caller[s]]) ? 1 : 0;
    let found = 0, total = 0;
    for (let row = 0; row < nRowsWeighed; row++) {
        total += weight[row];
        if (weighed.stack[row] >= 0 && has[weighed.stack[row]])
            found += weight[row];
    }
    return {matches, share: total ? found / total : 0, bytes: found};
}
