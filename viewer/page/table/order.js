/* Sorts very many rows: by numbers alone, so that a hundred thousand take no noticeable time. */

/* The rank of each text in sorted order. */
function placesOf(list) {
    return new Map([...new Set(list)].sort().map((text, place) => [text, place]));
}

/* Sorts rows by what `value` returns, a number or a text; equal rows keep their order. */
function inOrder(list, value, down) {
    const values = list.map(value), places = typeof values[0] === "string" ? placesOf(values) : null, sign = down ? -1 : 1;
    const keys = Float64Array.from(values, (v) => sign * (places ? places.get(v) : v) || 0);
    return Array.from(Uint32Array.from(list.keys()).sort((a, b) => keys[a] - keys[b] || a - b), (n) => list[n]);
}
