/* Putting very many rows in order: by numbers alone, so that a hundred thousand take no time that one notices. */

/* Their place among all texts in order. */
function placesOf(list) {
    return new Map([...new Set(list)].sort().map((text, place) => [text, place]));
}

/* A number by which lines are in order: their file, their number in it, their function. */
const lineOrders = onceFor(() => {
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

/* Keys as words of 16 bits, the lowest first, that are in order as the keys are. */
function digitsOf(keys) {
    const words = new Uint16Array(keys.buffer);
    for (let n = 0; n < keys.length; n++) {
        const flip = words[4 * n + 3] & 0x8000 ? 0xffff : 0;
        for (let w = 0; w < 4; w++)
            words[4 * n + w] ^= flip;
        words[4 * n + 3] ^= flip ? 0 : 0x8000;
    }
    return words;
}

/* The rows by what `value` says of each, a number or a text; those that are alike stay as they are. A radix sort. */
function inOrder(list, value, down) {
    const values = list.map(value), places = typeof values[0] === "string" ? placesOf(values) : null, sign = down ? -1 : 1;
    const digits = digitsOf(Float64Array.from(values, (v) => sign * (places ? places.get(v) : v) || 0));
    let order = Uint32Array.from(list, (_, n) => n), other = new Uint32Array(list.length);
    for (let w = 0; w < 4; w++) {
        const starts = new Uint32Array(0x10001);
        for (let n = 0; n < list.length; n++)
            starts[digits[4 * n + w] + 1]++;
        if (starts[digits[w] + 1] === list.length)
            continue;
        for (let digit = 0; digit < 0x10000; digit++)
            starts[digit + 1] += starts[digit];
        for (const n of order)
            other[starts[digits[4 * n + w]]++] = n;
        [order, other] = [other, order];
    }
    return Array.from(order, (n) => list[n]);
}
