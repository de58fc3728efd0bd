/* Which part of a stack is shown: Python frames, native ones, or both; Python's own import path as one box, unless
   unfolded. A key encodes this: "python", "both+imports". */

const STACK_KINDS = [["python", "Python"], ["native", "native"], ["both", "both"]];

const shownKey = (kind, imports) => kind + (imports ? "+imports" : "");

/* {as, nearest, caller}, arrays indexed by stack: the frame that it is shown as, or −1; the nearest shown stack outwards,
   itself included; the nearest shown caller of that. −1 where there is none. */
const shownStacks = onceOfData((key) => {
    const [kind, imports] = key.split("+"), isImport = onceFor((file) => texts[file].startsWith("<frozen importlib"));
    const frameAs = (f) => frame.isMadeUp(f) ? f : kind !== "both" && frame.isPython(f) !== (kind === "python") ? -1
        : !imports && frames.file[f] >= 0 && isImport(frames.file[f]) ? importFrame : f;
    const frameShown = Int32Array.from(frames.name, (_, f) => frameAs(f));
    const as = new Int32Array(nStacks), nearest = new Int32Array(nStacks), caller = new Int32Array(nStacks);
    for (let s = 0; s < nStacks; s++) { /* parents are in the table before their children */
        const parent = stacks.parent[s];
        caller[s] = parent < 0 ? -1 : nearest[parent];
        const goesOn = frameShown[stacks.frame[s]] === importFrame && caller[s] >= 0 && as[caller[s]] === importFrame;
        as[s] = goesOn ? -1 : frameShown[stacks.frame[s]];
        nearest[s] = as[s] >= 0 ? s : caller[s];
    }
    return {as, nearest, caller};
});

/* Frames shown for a stack, innermost first. */
function shownFramesOf(stack, key) {
    const {as, nearest, caller} = shownStacks(key), list = [];
    for (let s = stack < 0 ? -1 : nearest[stack]; s >= 0; s = caller[s])
        list.push(as[s]);
    return list;
}

/* Stacks by their shown callers, as linked lists: `first` has the first callee of each, `next` the next sibling. The last
   entry of `first` is for stacks without a shown caller. */
const shownCallees = onceOfData((key) => {
    const {as, caller} = shownStacks(key), first = new Int32Array(nStacks + 1).fill(-1), next = new Int32Array(nStacks);
    for (let s = nStacks - 1; s >= 0; s--) {
        if (as[s] >= 0) {
            const of = caller[s] < 0 ? nStacks : caller[s];
            next[s] = first[of];
            first[of] = s;
        }
    }
    return {first, next};
});
