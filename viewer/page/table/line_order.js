/* The order of lines of code. */

/* A number for each frame that sorts by file, line number and function. */
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
