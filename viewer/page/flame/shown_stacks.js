/* What of each stack is shown: frames of Python, native ones, or both; Python's own way to a module as one box, unless it is
   unfolded. A key says which: "python", "both+imports". */

const STACK_KINDS = [["python", "Python"], ["native", "native"], ["both", "both"]];

const shownKey = (kind, imports) => kind + (imports ? "+imports" : "");

/* {as, nearest, caller}, numbers over stacks: the frame that a stack is shown as, −1 where it is not; the nearest stack
   outwards that is shown, itself first; the nearest of what called it. −1 where none is. */
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

/* Frames that a stack is shown as, innermost first. */
function shownFramesOf(stack, key) {
    const {as, nearest, caller} = shownStacks(key), list = [];
    for (let s = stack < 0 ? -1 : nearest[stack]; s >= 0; s = caller[s])
        list.push(as[s]);
    return list;
}

/* Stacks that are shown by who called them, as lists: the first one called from each, and the next beside each. The last
   of `first` is of those that nothing shown has called. */
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
