/* What was looked at, and how: the lines above the picture. */

const timeOf = (minutes) => minutes >= 2880 ? plural(minutes / 1440, "day") : minutes >= 120 ? plural(minutes / 60, "hour")
    : plural(Math.max(1, minutes), "minute");

/* Several processes share pages, which the PSS counts once. */
const residentOf = (subject, look) => look.rss_bytes === null ? ["live memory", look.live_bytes]
    : subject.key || look.pss_bytes === null ? ["RSS", look.rss_bytes] : ["PSS", look.pss_bytes];

function memoryFact(subject, look) {
    const [name, bytes] = residentOf(subject, look), {limit} = looked;
    return `${name} ${bytesText(bytes)}` + (limit ? ` of ${bytesText(limit.bytes)} (${limit.kind})` : "");
}

function paceFact(subject) {
    const minutes = minutesOf(subject), looks = subject.looks, [name, last] = residentOf(subject, looks[looks.length - 1]);
    if (!(minutes > 0))
        return null;
    const pace = (last - residentOf(subject, looks[0])[1]) / minutes, room = looked.limit ? looked.limit.bytes - last : 0;
    return `${name} ${signedText(pace)} a minute` + (pace > 0 && room > 0 ? `: at this pace the limit is reached in ${timeOf(room / pace)}` : "");
}

/* When a core file was read says nothing of the process. */
const whenText = (look) => looked.looked_unix_s === undefined || looked.core ? "" : new Date(1000 * (looked.looked_unix_s + look.t_s)).toLocaleString();

function wayFact({way, why, stop_ns: ns}) {
    const paused = `The process was paused for ${countText(ns / 1e6)} ms`;
    return way === "core" ? "From a core file" : way === "live" ? "It was read while it ran: what changed meanwhile may be missing"
        : way === "copy" ? paused : `${paused} while it was read${why ? ": " + why : ""}`;
}

/* Pages that are live and shared are in two of the parts. */
function overlapFact(look) {
    const over = look.file_bytes + look.live_bytes - look.rss_bytes;
    return look.rss_bytes !== null && over > 0 ? `The parts are ${bytesText(over)} more than the RSS: shared memory, or live memory that was never touched` : null;
}

const mallocFact = ({allocator}) => allocator &&
    `malloc is ${allocator}'s: sizes are those of objects by type; blocks of C and C++ libraries are not counted`;

function factsOf(subject, k) {
    const look = subject.looks[k], n = subject.looks.length, line = (text, attributes) => text && el("li", attributes, nameOf(text));
    return el("ul", {class: "facts"},
        line(look.rss_bytes !== null && memoryFact(subject, look)),
        line(`${bytesText(look.live_bytes)} live in ${plural(look.objects, "object")}`),
        Object.entries(look.device_bytes || {}).map(([device, bytes]) => line(`${bytesText(bytes)} in tensors on ${device}`)),
        line(mallocFact(look)),
        line(paceFact(subject)),
        line([n > 1 ? `${n} looks in ${secondsText(60 * minutesOf(subject))}` : "", whenText(look)].filter(Boolean).join(", ")),
        line(wayFact(look)),
        line(overlapFact(look)),
        line(look.incomplete && `Not everything was read: ${look.incomplete}`, {class: "bad"}),
        line(looked.error && `The last look failed: ${looked.error}`, {class: "bad"}),
        line(looked.tree && !looked.tree.complete && "There were more processes, which were left out", {class: "bad"}),
        unseen.map(({pid, error}) => line(`Process ${pid} was not looked at: ${error || "it had ended"}`, {class: "bad"})));
}
