/* The holders as a table. */

const GROWTH_NAMES = {endless: "grows, no bound", steady: "grows", grew: "grew", no: "stays"};

function stateText(holder) {
    const state = {cycle: "in a cycle", reference: "not given back", lost: "lost"}[holder.state];
    return [state, holder.growth === "no" && state ? "" : GROWTH_NAMES[holder.growth]].filter(Boolean).join(", ");
}

/* "length 267, at most 300"; "" for what is no container. */
function containerText(holder, length) {
    return length === null ? "" : `length ${countText(length)}` + (holder.bound === null ? "" : `, at most ${countText(holder.bound)}`);
}

/* "61.0 MiB on cuda:0, 2.0 MiB on cuda:1" */
const devicesText = (devices, text = bytesText) => devices.map(([device, n]) => `${text(n)} on ${device}`).join(", ");
const devicesCell = (devices, text) => el("span", {title: devicesText(devices, text)}, devices.length ? text(d3.sum(devices, ([, n]) => n)) : "");

const HOLDER_COLUMNS = [
    {key: "holder", title: "holder", left: true, value: ({holder}) => holder.path.text,
        text: ({holder}, fit) => nameOf(fit(holder.path.text), {title: holder.path.text})},
    {key: "type", title: "type", width: 150, wide: 3, left: true, value: ({holder}) => holder.type || "",
        text: ({holder}) => nameOf(holder.type || "", {title: holder.type})},
    {key: "length", title: "length", width: 90, wide: 2, value: ({length}) => length ?? -1, text: ({length}) => length === null ? "" : countText(length)},
    {key: "bytes", title: "bytes", width: 96, value: ({bytes}) => bytes, text: ({bytes}) => bytesText(bytes)},
    {key: "devices", title: "on GPUs", width: 96, wide: 1, value: ({devices}) => d3.sum(devices, ([, bytes]) => bytes),
        text: ({devices}) => devicesCell(devices, bytesText)},
    {key: "rate", title: "a minute", width: 104, value: ({holder}) => holder.growth_bytes_per_minute,
        text: ({holder}) => signedText(holder.growth_bytes_per_minute)},
    {key: "deviceRate", title: "GPUs a minute", width: 140, wide: 4, value: ({holder}) => d3.sum(deviceRates(holder), ([, rate]) => rate),
        text: ({holder}) => devicesCell(deviceRates(holder), signedText)},
    {key: "state", title: "state", width: 150, wide: 1, left: true, value: ({holder}) => stateText(holder), text: ({holder}) => stateText(holder)},
];

/* Without the GPUs where nothing is on any. */
const holderColumns = () => HOLDER_COLUMNS.filter(({key}) => !key.startsWith("device") ||
    subjects.some(({looks}) => looks.some((look) => d3.sum(Object.values(look.device_bytes || {})))));

/* By growth, where there are looks to compare. */
const holderOrder = (subject) => state.get("sort", subject.looks.length > 1 ? "rate" : "bytes");

/* The holders in whose path, type or state all the words are; null without words. */
function holdersFound(holders, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const isOne = (holder) => {
        const all = [holder.path.text, holder.type, stateText(holder), ...holder.path.hops.map(({type}) => type)].join("\n").toLowerCase();
        return words.every((word) => all.includes(word));
    };
    return words.length ? new Set(holders.filter(isOne)) : null;
}

function holderRows(subject, k, found, key, down) {
    const column = HOLDER_COLUMNS.find((one) => one.key === key) || HOLDER_COLUMNS.find((one) => one.key === "bytes");
    const rows = subject.holders.filter((holder) => !found || found.has(holder))
        .map((holder) => ({holder, bytes: bytesAt(holder, k), devices: devicesAt(holder, k), length: holder.length_by_look[k]}));
    return inOrder(rows, column.value, down);
}
