/* A box of a flame graph in words: beside the pointer, and above the graph for the keyboard. */

/* {name, where, facts} of a node; `spaces`: its sums after the first three. */
function nodeFacts(node, total, spaces) {
    const [bytes, blocks, allocations, ...bySpace] = node.sums, f = node.frame;
    const about = Math.round(blocks);
    const several = bySpace.filter((n) => n > 0).length > 1;
    return {name: f < 0 ? "all" : frame.name(f), where: f < 0 ? "" : frame.where(f), source: f < 0 ? "" : frame.source(f), facts: [
        `${bytesText(bytes)}, ${shareText(bytes / (total || 1))}`,
        ...f === smallFrame ? ["sites too small for a box of their own"] : [],
        ...f === restFrame ? ["on the timeline but at no line: freed within a step, or its line is unknown"] : [],
        ...about > 0 ? [`about ${plural(about, "block")} of ${bytesText(bytes / blocks)}`] : [],
        ...several ? [spaces.map((space, n) => [space, bySpace[n]]).filter(([, n]) => n > 0)
            .map(([space, n]) => `${bytesText(n)} ${spaceText(space)}`).join(", ")] : [],
        ...allocations > 0 ? [plural(allocations, "allocation") + " in the run"] : []]};
}

/* On one line. */
function factsText({name, where, facts}) {
    return name + (where ? " · " + where : "") + ": " + facts.join("; ");
}
