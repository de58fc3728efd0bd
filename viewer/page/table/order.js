/* Putting very many rows in order: by numbers alone, so that a hundred thousand take no time that one notices. */

/* Their place among all texts in order. */
function placesOf(list) {
    return new Map([...new Set(list)].sort().map((text, place) => [text, place]));
}

/* A number by which lines are in order: their file, their number in it, their function. */
const lineOrders = onceOfData(() => {
    const ends = onceFor((text) => texts[text].split("/").pop().toLowerCase());
    const files = frames.name.map((_, f) => frames.file[f] >= 0 ? ends(frames.file[f]) : frames.module[f] >= 0 ? ends(frames.module[f]) : "");
    const names = frames.name.map((name) => lowerName(name)), placeOfFile = placesOf(files), placeOfName = placesOf(names);
    const most = 2 + Math.max(0, d3.max(frames.line));
    return Float64Array.from(files, (file, f) =>
        (placeOfFile.get(file) * most + frames.line[f] + 1) * placeOfName.size + placeOfName.get(names[f]));
});

function lineOrder(f) {
    return f < 0 ? -1 : lineOrders()[f];
}

/* The rows by what `value` says of each, a number or a text; those that are alike stay as they are. */
function inOrder(list, value, down) {
    const values = list.map(value), places = typeof values[0] === "string" ? placesOf(values) : null, sign = down ? -1 : 1;
    const keys = Float64Array.from(values, (v) => sign * (places ? places.get(v) : v) || 0);
    return Array.from(Uint32Array.from(list.keys()).sort((a, b) => keys[a] - keys[b] || a - b), (n) => list[n]);
}
