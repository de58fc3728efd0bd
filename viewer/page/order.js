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

function numbered(n) {
    const list = new Uint32Array(n);
    for (let i = 0; i < n; i++)
        list[i] = i;
    return list;
}

/* The rows by what `value` says of each, a number or a text; those that are alike stay as they are. A radix sort. */
function inOrder(list, value, down) {
    const values = list.map(value), places = typeof values[0] === "string" ? placesOf(values) : null, sign = down ? -1 : 1;
    const keys = new Float64Array(list.length);
    for (let n = 0; n < keys.length; n++)
        keys[n] = sign * (places ? places.get(values[n]) : values[n]) || 0;
    const digits = digitsOf(keys);
    let order = numbered(list.length), other = new Uint32Array(list.length);
    for (let w = 0; w < 4; w++) {
        const starts = new Uint32Array(0x10001);
        for (let n = w; n < digits.length; n += 4)
            starts[digits[n] + 1]++;
        if (starts[digits[w] + 1] === list.length)
            continue;
        for (let digit = 0; digit < 0x10000; digit++)
            starts[digit + 1] += starts[digit];
        for (let n = 0; n < order.length; n++) {
            const row = order[n];
            other[starts[digits[4 * row + w]]++] = row;
        }
        [order, other] = [other, order];
    }
    const made = new Array(list.length);
    for (let n = 0; n < order.length; n++)
        made[n] = list[order[n]];
    return made;
}
