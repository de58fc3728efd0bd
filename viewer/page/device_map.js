/* A device's memory at an instant, in address order: the driver's segments, the tensors in them, the free gaps between. */

const layouts = () => data.layouts || [];

const LAYOUT_REASONS = {failed: "out of memory", refused: "the driver refused a request", peak: "fullest"};

function layoutName(layout) {
    const several = layouts().some((other) => other.pid !== layout.pid);
    return `GPU ${layout.device}, ${LAYOUT_REASONS[layout.reason]} in ${stepUnit} ${layout.step}` +
        (several ? `, process ${layout.pid}` : "");
}

/* The layout that was asked for, else the first where a request failed. */
function layoutWanted() {
    const wanted = layouts()[+state.get("layout", "-1")];
    return wanted || layouts().find((layout) => layout.reason === "failed") || layouts()[0];
}

const USED = 0, FREE = 1, UNUSABLE = 2;

/* PyTorch serves requests up to this size from segments of their own. */
const SMALL_REQUEST = 2 ** 20;

/* Pieces in order, each {segment, offset, bytes, kind, site}; `at`: where each segment begins when all stand in a row. */
function piecesOf(layout) {
    if (layout.pieces)
        return layout;
    const {segments, tensors} = layout, list = [], pieces = [];
    let at = 0, t = 0;
    const asked = layout.asked_bytes;
    const isOfUse = (segment, bytes) => !asked || bytes >= asked && segment.small === (asked <= SMALL_REQUEST);
    const free = (segment, offset, bytes) => bytes > 0 && pieces.push({segment, offset, bytes, site: -1,
        kind: isOfUse(segment, bytes) ? FREE : UNUSABLE});
    for (let s = 0; s < (segments.bytes || []).length; s++) {
        const segment = {number: s, at, bytes: segments.bytes[s], address: BigInt(segments.address[s] || 0),
            small: segments.small[s] === 1, first: pieces.length};
        let end = 0;
        for (let k = 0; k < segments.tensors[s]; k++, t++) {
            free(segment, end, tensors.gap[t]);
            pieces.push({segment, offset: end + tensors.gap[t], bytes: tensors.bytes[t], site: tensors.site[t], kind: USED});
            end += tensors.gap[t] + tensors.bytes[t];
        }
        if (segments.cache[s])
            free(segment, end, segment.bytes - end);
        else
            pieces.push({segment, offset: 0, bytes: segment.bytes, site: segments.site[s], kind: USED});
        segment.n = pieces.length - segment.first;
        list.push(segment);
        at += segment.bytes;
    }
    return Object.assign(layout, {list, pieces});
}

/* The page's index of a piece's site; undefined where it is unknown. */
const siteOfPiece = (piece) => siteNumber.get("S" + piece.site);

const PIECE_NAMES = {
    line: (i) => site.shortTitle(i),
    part: (i) => site.part(i),
    finding: findingsTitle,
};

/* [{name, bytes, blocks, index}], the largest first; those after the seventh, and those without a name, are one group. */
function pieceGroups(pieces, by) {
    const groups = new Map(), groupOfSite = new Map(); /* there are far fewer sites than pieces */
    const groupOf = (piece) => {
        const i = siteOfPiece(piece), name = i === undefined ? null : PIECE_NAMES[by](i);
        if (!groups.has(name))
            groups.set(name, {name, bytes: 0, blocks: 0});
        groupOfSite.set(piece.site, groups.get(name));
        return groups.get(name);
    };
    for (const piece of pieces) {
        if (piece.kind !== USED)
            continue;
        piece.group = groupOfSite.get(piece.site) || groupOf(piece);
        piece.group.bytes += piece.bytes;
        piece.group.blocks++;
    }
    const order = [...groups.values()].sort((a, b) => (a.name === null) - (b.name === null) || b.bytes - a.bytes);
    order.forEach((group, i) => group.index = group.name === null ? PALETTE.length : Math.min(i, PALETTE.length));
    return order;
}

/* Bytes per row: a round number that gives about that many rows. */
function rowBytes(total, rows) {
    let bytes = 512;
    while (total / bytes > rows)
        bytes *= 2;
    return total / (bytes * 0.75) <= rows ? bytes * 0.75 : bytes;
}

const MAP_ROW = 24, MAP_GAP = 4;

/* Where bytes are in the picture. */
function mapOf(width, total) {
    const left = MARGIN.left, right = Math.max(width - 14, left + 40);
    const perRow = rowBytes(total, width < 600 ? 32 : 24), rows = Math.max(1, Math.ceil(total / perRow));
    return {width, left, right, perRow, rows, total, bottom: rows * (MAP_ROW + MAP_GAP), height: rows * (MAP_ROW + MAP_GAP) + 34,
        x: (bytes) => left + bytes / perRow * (right - left),
        y: (row) => row * (MAP_ROW + MAP_GAP)};
}

const halfPixels = (x) => Math.round(2 * x) / 2;

/* Calls part(x0, x1, row) for each row that a range crosses; in half pixels. */
function eachPart(map, from, bytes, part) {
    for (let row = Math.floor(from / map.perRow); row * map.perRow < from + bytes; row++)
        part(halfPixels(map.x(Math.max(from - row * map.perRow, 0))),
            halfPixels(map.x(Math.min(from + bytes - row * map.perRow, map.perRow))), row);
}

const box = (map, x0, x1, row) => `M${x0} ${map.y(row)}H${x1}V${map.y(row) + MAP_ROW}H${x0}z`;

/* One path per colour; merges neighbours of the same colour, and what is smaller than half a pixel. */
function mapPaths(map, pieces, origin) {
    const paths = new Map();
    let key = null, run = null;
    const flush = () => {
        if (!run)
            return;
        if (!paths.has(run.key))
            paths.set(run.key, []);
        paths.get(run.key).push(box(map, run.x0, run.x1, run.row));
    };
    const part = (x0, x1, row) => {
        if (x1 === x0)
            return;
        if (run && key === run.key && row === run.row && x0 <= run.x1) {
            run.x1 = x1;
            return;
        }
        flush();
        run = {key, x0, x1, row};
    };
    for (const piece of pieces) {
        key = piece.kind === USED ? piece.group.index : piece.kind === FREE ? "free" : "small";
        eachPart(map, piece.segment.at - origin + piece.offset, piece.bytes, part);
    }
    flush();
    return paths;
}

/* Free memory has the colour of paper; free memory that the failed request could not use is crossed out. */
function mapFill(defs, key) {
    if (typeof key === "number")
        return patternFill(defs, key);
    if (key === "free")
        return "var(--free)";
    const id = freshId("small");
    defs.append(svg("pattern", {id, width: 8, height: 8, patternUnits: "userSpaceOnUse"},
        svg("rect", {width: 8, height: 8, fill: "var(--free)"}),
        svg("path", {d: "M0 8L8 0M0 0L8 8", stroke: "var(--bad)", "stroke-width": 1.2, fill: "none"})));
    return `url(#${id})`;
}

function mapAxes(map) {
    const axis = svg("g", {class: "axis"});
    for (let row = 0; row < map.rows; row += map.rows > 16 ? 2 : 1)
        axis.append(svg("text", {x: map.left - 8, y: map.y(row) + MAP_ROW / 2 + 4, "text-anchor": "end"}, bytesText(row * map.perRow)));
    for (const bytes of bytesTicks(map.perRow, map.width < 600 ? 3 : 8))
        axis.append(svg("text", {x: map.x(bytes), y: map.bottom + 14, "text-anchor": bytes ? "middle" : "start"}, "+" + bytesText(bytes)));
    axis.append(svg("text", {class: "axis-name", x: map.right, y: map.bottom + 30, "text-anchor": "end"},
        `${bytesText(map.perRow)} a row, in address order`));
    return axis;
}

/* Edges of those that are wide enough for a border: lines that extend beyond their row by `out`. */
function mapEdges(map, list, startOf, out) {
    return list.filter(({bytes}) => bytes / map.perRow * (map.right - map.left) > 3).map((one) => {
        const at = startOf(one), row = Math.floor(at / map.perRow);
        return `M${halfPixels(map.x(at - row * map.perRow))} ${map.y(row) - out}v${MAP_ROW + 2 * out}`;
    }).join("");
}

function pieceText(layout, piece) {
    const where = `at 0x${(piece.segment.address + BigInt(piece.offset)).toString(16)}, ` +
        `segment ${piece.segment.number + 1} of ${layout.list.length} (${bytesText(piece.segment.bytes)})`;
    if (piece.kind !== USED)
        return `${bytesText(piece.bytes)} free ${where}` + (piece.kind === FREE ? "" : piece.bytes < layout.asked_bytes
            ? `; too small for the ${bytesText(layout.asked_bytes)} requested`
            : `; PyTorch keeps it for requests ${piece.segment.small ? "of up to" : "above"} ${bytesText(SMALL_REQUEST)}`);
    const i = siteOfPiece(piece);
    return `${bytesText(piece.bytes)} ${where}: ${i === undefined ? "unknown line" : site.title(i)}`;
}

function pieceLinks(piece) {
    const i = siteOfPiece(piece);
    return i === undefined ? [] : [" ", el("a", {href: "#sites?site=" + site.id(i)}, "show in Table"),
        findingsOf[i].map(({id}) => [" ", findingLink(id)])];
}

/* The piece at a position, among those in sight. */
function pieceAt(pieces, origin, bytes) {
    const at = d3.bisector((piece) => piece.segment.at - origin + piece.offset).right(pieces, bytes) - 1;
    return Math.max(at, 0);
}

function movedPiece(map, pieces, origin, active, key) {
    if (key === "ArrowLeft" || key === "ArrowRight")
        return Math.min(Math.max(active + (key === "ArrowRight" ? 1 : -1), 0), pieces.length - 1);
    const piece = pieces[active], middle = piece.segment.at - origin + piece.offset + Math.min(piece.bytes, map.perRow) / 2;
    const there = middle + (key === "ArrowDown" ? map.perRow : -map.perRow);
    return there < 0 || there >= map.total ? active : pieceAt(pieces, origin, there);
}

/* `now`: {layout, pieces, list, origin, total}, what is in sight; `tell` and `zoom` take a piece. */
function drawMap(width, now, tell, zoom) {
    const map = mapOf(width, now.total), {pieces, origin} = now;
    const picture = svg("svg", {width, height: map.height, class: "chart map", role: "application", tabindex: "0",
        "aria-label": `${layoutName(now.layout)}: ${plural(now.list.length, "segment")}; arrow keys go from block to block`});
    const defs = svg("defs"), chosen = svg("path", {class: "chosen"});
    picture.append(defs, mapAxes(map));
    for (const [key, parts] of mapPaths(map, pieces, origin))
        picture.append(svg("path", {class: "piece", d: parts.join(""), fill: mapFill(defs, key)}));
    const startOf = (piece) => piece.segment.at - origin + piece.offset;
    picture.append(svg("path", {class: "piece-edge", d: mapEdges(map, pieces, startOf, 0)}),
        svg("path", {class: "segment-edge", d: mapEdges(map, now.list, (segment) => segment.at - origin, 2)}), chosen);
    let active = -1;
    const choose = (at) => {
        active = at;
        const piece = pieces[at];
        let shape = "";
        eachPart(map, startOf(piece), piece.bytes, (x0, x1, row) => shape += box(map, x0, Math.max(x1, x0 + 1), row));
        chosen.setAttribute("d", shape);
        tell(piece);
    };
    const under = (event) => {
        const frame = picture.getBoundingClientRect();
        const row = Math.floor((event.clientY - frame.top) / (MAP_ROW + MAP_GAP));
        const share = (event.clientX - frame.left - map.left) / (map.right - map.left);
        const bytes = (row + share) * map.perRow;
        return share < 0 || share >= 1 || bytes < 0 || bytes >= map.total ? -1 : pieceAt(pieces, origin, bytes);
    };
    picture.addEventListener("mousemove", (event) => {
        const at = under(event);
        if (at >= 0 && at !== active)
            choose(at);
    });
    picture.addEventListener("click", (event) => under(event) >= 0 && zoom(pieces[under(event)], false));
    picture.addEventListener("focus", () => choose(Math.max(active, 0)));
    picture.addEventListener("keydown", (event) => {
        if (event.key.startsWith("Arrow"))
            choose(movedPiece(map, pieces, origin, active, event.key));
        else if (event.key === "Enter" || event.key === " ")
            zoom(pieces[active], true);
        else if (event.key === "Escape" || event.key === "Backspace")
            zoom(null, true);
        else
            return;
        event.preventDefault();
    });
    return picture;
}

/* The index of a space's layout to show, that of a failed request first; null where there is none. */
function layoutOf(space) {
    const [kind, device] = space.split(":");
    const fits = d3.range(layouts().length).filter((i) => (kind === "tensor" || kind === "device") && layouts()[i].device === +device);
    return fits.find((i) => layouts()[i].reason === "failed") ?? fits[0] ?? null;
}
