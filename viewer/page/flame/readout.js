/* What a box of a flame graph is, in words: beside the pointer, and above the graph where the keyboard is. */

/* {name, where, facts} of a node; `spaces` are those of its sums behind the first three. */
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

/* A card beside the pointer, which it never lies under. */
function readout() {
    const card = el("div", {class: "readout", hidden: true, "aria-hidden": "true"});
    card.show = (event, {name, where, source, facts}) => {
        card.hidden = false;
        card.replaceChildren(el("b", {}, nameOf(cutText(name, 200))), where ? el("div", {class: "quiet"}, nameOf(where)) : "",
            source ? el("code", {}, nameOf(cutText(source, 200))) : "",
            ...facts.map((fact) => el("div", {}, fact)));
        const left = event.clientX + 14, top = event.clientY + 18, {offsetWidth: width, offsetHeight: height} = card;
        card.style.left = Math.max(4, left + width > innerWidth - 4 ? event.clientX - width - 10 : left) + "px";
        card.style.top = Math.max(4, top + height > innerHeight - 4 ? event.clientY - height - 10 : top) + "px";
    };
    card.hide = () => card.hidden = true;
    return card;
}
