/* Numbers and names as people read them. */

const NBSP = "\u00a0"; /* a number and its unit stay together */
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function bytesText(bytes) {
    const size = Math.abs(bytes);
    let unit = 0;
    while (unit + 1 < UNITS.length && size >= 1023.5 * 1024 ** unit)
        unit++;
    const value = size / 1024 ** unit;
    return (bytes < 0 ? "−" : "") + value.toFixed(unit && value < 99.95 ? 1 : 0) + NBSP + UNITS[unit];
}

/* A change has its sign. */
function signedText(bytes) {
    return Math.abs(bytes) < 0.5 ? `0${NBSP}B` : (bytes > 0 ? "+" : "") + bytesText(bytes);
}

function countText(n) {
    return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function secondsText(s) {
    if (s < 10)
        return s.toFixed(s < 1 ? 2 : 1) + NBSP + "s";
    if (s < 120)
        return Math.round(s) + NBSP + "s";
    const minutes = Math.round(s / 60);
    return minutes < 120 ? minutes + NBSP + "min" : (s / 3600).toFixed(1) + NBSP + "h";
}

function shareText(share) {
    return (100 * share).toFixed(share < 0.1 ? 1 : 0) + NBSP + "%";
}

function plural(n, one, many) {
    return countText(n) + " " + (n === 1 ? one : many || one + "s");
}

/* Ticks of an axis in bytes are at round binary sizes. */
function bytesTicks(most, n) {
    let step = 1;
    while (most / step > n)
        step *= 2;
    return d3.range(0, most, step);
}

/* Size classes that double: where the class of a size begins, and its name. */
function sizeClass(bytes) {
    return bytes < 1 ? 0 : 2 ** Math.floor(Math.log2(bytes));
}

function sizeClassText(from) {
    return from ? `${bytesText(from)} to ${bytesText(2 * from)}` : "0 B";
}

/* The end of a path says the most. */
function shortPath(path, most) {
    return path.length <= most ? path : "…" + path.slice(path.length - most + 1);
}

/* Shortens a name in the middle: its beginning says what it is, and its end which one. The caller shows it in full as
   `title`. */
function shortName(text, most) {
    const tail = Math.max(0, Math.floor((most - 1) * 0.6));
    return text.length <= most ? text : text.slice(0, Math.max(most - 1 - tail, 0)) + "…" + text.slice(text.length - tail);
}

/* The same for a width in pixels in the font of an element. */
const measuring = document.createElement("canvas").getContext("2d");
function nameFor(text, pixels, font) {
    measuring.font = font;
    const width = measuring.measureText(text).width;
    return width <= pixels ? text : shortName(text, Math.max(4, Math.floor(text.length * pixels / width) - 1));
}

/* The name of a space in sentences, as in libprof/words/spaces.def; "" for a space that seep does not know. */
const SPACE_WORDS = {"host": "malloc'd memory", "mmap": "mapped memory", "shm": "shared memory", "pinned": "pinned memory", "device": "GPU N",
    "tensor": "tensors on GPU N"};

function spaceWords(space) {
    const [kind, number] = space.split(":");
    return (SPACE_WORDS[kind] || "").replace(/N$/, number);
}

/* After an amount: "of malloc'd memory". */
function spaceText(space) {
    return "of " + (spaceWords(space) || space);
}

function cutText(text, most) {
    return text.length <= most ? text : text.slice(0, Math.max(most - 1, 0)) + "…";
}
