/* What the looks say, before all else: who grows, by how much, since which length; of a single look, what holds most. In
   the words of `seep look`. */

const GROWTH_TITLES = {endless: "Grows in every look, and has no bound", steady: "Holds more at every look", grew: "Holds more than at the first look"};
const MOST_TOLD = 3;

/* "length 30 → 105, at most 200" */
function lengthsText(holder) {
    const lengths = holder.length_by_look.filter((length) => length !== null), [was] = lengths, now = holder.length;
    const from = now !== null && lengths.length && was !== now ? `${countText(was)} → ` : "";
    return containerText(holder, now).replace("length ", "length " + from);
}

function holderLine(holder, branchOf, first) {
    const node = branchOf(holder), name = nameOf(cutText(holder.path.text, 200));
    return el("li", {}, first, node ? el("button", {type: "button", onclick: () => state.set({zoom: branchPath(node)}, true)}, name) : name,
        ...[lengthsText(holder)].filter(Boolean).map((text) => ": " + text));
}

const rateText = (holder) => [`${signedText(holder.growth_bytes_per_minute)} a minute`,
    ...deviceRates(holder).map(([device, rate]) => `${signedText(rate)} a minute on ${device}`)].join(", ");

/* The part that most of the growth of what is resident is, if no holder's growth is it; null: there is none. */
function partVerdict(subject) {
    const minutes = minutesOf(subject), rate = (key) => minutes > 0
        ? ((subject.looks[subject.looks.length - 1][key] || 0) - (subject.looks[0][key] || 0)) / minutes : 0;
    const all = subject.key || subjects.length < 2, growth = rate(all ? "rss_bytes" : "pss_bytes"), up = (key) => Math.max(0, rate(key));
    const parts = [
        ["Free memory in malloc's heaps", "small blocks that stay lie between what is freed, and nothing else fits", rate("free_bytes")],
        ["Pages of mapped files", "the kernel can drop those that were only read", all ? rate("file_bytes") : 0],
        all ? ["Memory that was mapped", "a library's own allocator, or a map that is used bit by bit",
            growth - rate("live_bytes") - rate("free_bytes") - rate("file_bytes")]
            : ["Pages that were shared", "forked processes write to them, and so own them: reading a Python object counts a reference, which is a write",
                rate("private_bytes") - up("live_bytes") - up("free_bytes")]];
    const most = growth > 0 && parts.find(([, , of]) => of >= growth / 2);
    return most ? el("p", {}, `${most[0]} ${signedText(most[2])} a minute: ${most[1]}`) : null;
}

/* The surest growth that there is; a holder that goes with another one is told by that. */
function growthVerdict(subject, branchOf) {
    for (const [growth, title] of Object.entries(GROWTH_TITLES)) {
        const all = inOrder(subject.holders.filter((holder) => holder.growth === growth && !holder.by_another), (holder) => holder.growth_bytes_per_minute, true);
        if (all.length)
            return [el("p", {class: "verdict"}, el("b", {}, title)), el("ul", {class: "told-holders"}, all.slice(0, MOST_TOLD).map((holder) =>
                holderLine(holder, branchOf, `${rateText(holder)}, now ${bytesText(holder.retained_bytes)}: `)),
            all.length > MOST_TOLD ? el("li", {class: "quiet"}, `and ${countText(all.length - MOST_TOLD)} more, below`) : null)];
    }
    return [el("p", {class: "verdict"}, el("b", {}, "No holder grew by 64 KiB or more"))];
}

function sizeVerdict(subject, branchOf) {
    const most = subject.holders.filter((holder) => holder.state === "held" && holder.within === null).slice(0, MOST_TOLD);
    return most.length ? [el("p", {class: "verdict"}, el("b", {}, "What holds most")),
        el("ul", {class: "told-holders"}, most.map((holder) => holderLine(holder, branchOf, bytesText(holder.retained_bytes) + ": ")))] : [];
}

const verdictOf = (subject, branchOf) => el("section", {"aria-label": "verdict"},
    ...subject.looks.length > 1 ? [...growthVerdict(subject, branchOf), partVerdict(subject)] : sizeVerdict(subject, branchOf));
