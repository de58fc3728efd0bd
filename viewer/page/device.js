/* A device when a request failed, or at its peak: in words, as a picture (device_map.js), and in numbers. */

function layoutStory(layout) {
    const capacity = limitOf("device:" + layout.device);
    const taken = `${bytesText(layout.taken_bytes)} of GPU ${layout.device}${capacity ? ` (${bytesText(capacity)})` : ""} were taken from the driver, in ` +
        `${plural(layout.list.length, "segment")}: ` +
        `${bytesText(layout.tensor_bytes)} hold tensors` +
        (layout.other_bytes ? `, ${bytesText(layout.other_bytes)} do not belong to PyTorch's allocator` : "");
    const free = layout.free_bytes ? `, ${bytesText(layout.free_bytes)} are free in ${plural(layout.free_pieces, "piece")}, ` +
        `the largest ${bytesText(layout.largest_free_bytes)}.` : ", and nothing is free.";
    const small = !layout.asked_bytes || !layout.free_bytes ? "" : layout.unusable_bytes < layout.free_bytes
        ? ` ${shareText(layout.unusable_bytes / layout.free_bytes)} of the free memory cannot serve this request; the rest may belong to another stream.`
        : layout.largest_free_bytes < layout.asked_bytes ? " No free piece is large enough."
            : ` PyTorch keeps the pieces that are large enough for requests ${layout.asked_bytes > SMALL_REQUEST ? "of up to" : "above"} ` +
                `${bytesText(SMALL_REQUEST)}.`;
    const asked = layout.asked_bytes === null ? "" : `CUDA out of memory: ${bytesText(layout.asked_bytes)} requested. `;
    return `${asked}In ${stepUnit} ${layout.step}, ${taken}${free}${small}`;
}

function layoutNotes(layout) {
    const notes = [], device = (data.devices || []).find((one) => one.device === layout.device);
    if (device && device.reserved_bytes !== null)
        notes.push("Settings of PyTorch's allocator: " + (device.allocator_settings.join(", ") || "the defaults") + ".");
    if (layout.outside_bytes)
        notes.push(`The picture leaves out ${bytesText(layout.outside_bytes)} of tensors: seep saw no segment where they lie.`);
    if (layout.left_out)
        notes.push(`seep recorded no address for ${plural(layout.left_out.blocks, "block")} (${bytesText(layout.left_out.bytes)}), because there were ` +
            "too many: the picture shows their places as free.");
    return notes.map((text) => el("p", {class: "quiet"}, text));
}

function numbersTable(label, heads, rows) {
    return el("div", {class: "scroll-x"}, el("table", {"aria-label": label, class: "numbers"},
        el("thead", {}, el("tr", {}, heads.map((text) => el("th", {scope: "col"}, text)))),
        el("tbody", {}, rows.map(([first, ...rest]) => el("tr", {}, el("th", {scope: "row"}, first),
            rest.map((text) => el("td", {}, text)))))));
}

function groupsTable(groups, total) {
    return numbersTable("tensors by line", ["", "bytes", "share", "blocks"], groups.slice(0, 40).map((group) => [
        nameOf(group.name ?? "others"), bytesText(group.bytes), shareText(group.bytes / total), countText(group.blocks)]));
}

/* Sums by size classes that double: [[from, n, bytes], …], the largest first. */
function bySize(list) {
    const classes = new Map();
    for (const {bytes} of list) {
        const from = sizeClass(bytes);
        const sums = classes.get(from) || [from, 0, 0];
        sums[1]++;
        sums[2] += bytes;
        classes.set(from, sums);
    }
    return [...classes.values()].sort((a, b) => b[0] - a[0]);
}

function sizesTable(label, list, total) {
    return numbersTable(label, ["size", "pieces", "bytes", "share"], bySize(list).map(([from, n, bytes]) => [
        sizeClassText(from), countText(n), bytesText(bytes), shareText(bytes / total)]));
}

function layoutLegend(groups, pieces) {
    const entries = groups.filter((group) => group.index < PALETTE.length).map(({name, index}) => ({name, index}));
    if (groups.some((group) => group.index === PALETTE.length))
        entries.push({name: "others", index: PALETTE.length});
    if (pieces.some(({kind}) => kind === FREE))
        entries.push({name: "free, in the allocator's cache", index: "free"});
    if (pieces.some(({kind}) => kind === UNUSABLE))
        entries.push({name: "free, but cannot serve the failed request", index: "small"});
    return legend(entries, mapFill);
}

/* Everything, or the one segment that was zoomed to. */
function inSight(layout, number) {
    const segment = number === "" ? null : layout.list[+number];
    return segment
        ? {layout, list: [segment], origin: segment.at, total: segment.bytes,
            pieces: layout.pieces.slice(segment.first, segment.first + segment.n)}
        : {layout, list: layout.list, origin: 0, total: layout.taken_bytes || 1, pieces: layout.pieces};
}

const deviceView = {
    name: "device", title: "Device",
    enter(root) {
        const controls = el("div", {class: "controls"}), story = el("p", {class: "story"}), trail = el("ol", {class: "crumbs"});
        const told = el("p", {class: "told-frame", role: "status"}), keys = el("div"), notes = el("div"), tables = el("div", {class: "columns"});
        let now = null, refocus = false;
        const zoom = (piece, byKey) => {
            refocus = byKey;
            state.set({segment: piece && now.list.length > 1 ? piece.segment.number : ""}, true);
        };
        const tell = (piece) => told.replaceChildren(nameOf(pieceText(now.layout, piece)), ...pieceLinks(piece).flat());
        const picture = fitted((width) => drawMap(width, now, tell, zoom));
        root.append(controls, story, trail, told, picture, keys, notes, tables);
        return () => {
            const layout = piecesOf(layoutWanted()), by = state.get("by", "line");
            const groups = pieceGroups(layout.pieces, by);
            now = inSight(layout, state.get("segment"));
            updateControls(controls, [
                select("at", layouts().map((one, i) => [String(i), layoutName(one)]), String(layouts().indexOf(layout)),
                    (value) => state.set({layout: value, segment: ""})),
                select("colours by", [["line", "line"], ["part", "part"], ["finding", "finding"]], by, (value) => state.set({by: value}))]);
            story.textContent = layoutStory(layout);
            trail.replaceChildren(el("li", {}, el("button", {type: "button", class: "crumb", "aria-current": now.list === layout.list ? "true" : null,
                onclick: () => zoom(null)}, "all segments")),
            ...now.list === layout.list ? [] : [el("li", {}, `segment ${now.list[0].number + 1}, ${bytesText(now.total)}`)]);
            told.replaceChildren("Point at a block, or use the arrow keys. Click to zoom to its segment.");
            picture.redraw();
            keys.replaceChildren(layoutLegend(groups, layout.pieces));
            notes.replaceChildren(...layoutNotes(layout));
            tables.replaceChildren(
                el("div", {}, el("h2", {}, "Tensors"), groupsTable(groups, layout.taken_bytes)),
                el("div", {}, el("h2", {}, "Free pieces by size"), sizesTable("free pieces by size",
                    layout.pieces.filter(({kind}) => kind !== USED), layout.taken_bytes),
                el("h2", {}, "Segments by size"), sizesTable("segments by size", layout.list, layout.taken_bytes)));
            if (refocus) {
                refocus = false;
                picture.querySelector("svg").focus();
            }
        };
    },
};
