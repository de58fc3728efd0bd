/* What was looked at: each process, and where there are several, all of them as one. */

const SUMMED = ["rss_bytes", "file_bytes", "objects", "live_bytes", "held_bytes", "cycle_bytes", "reference_bytes", "lost_bytes", "free_bytes",
    "private_bytes"];

/* Adds numbers by name of the device. */
function addDevices(sums, numbers = {}) {
    Object.entries(numbers).forEach(([device, n]) => sums[device] = (sums[device] || 0) + n);
    return sums;
}

/* The types of all processes, those with most first. */
function othersOf(looks) {
    const sums = new Map();
    for (const {type, bytes, objects} of looks.flatMap((look) => look.others || [])) {
        const sum = sums.get(type) || {type, bytes: 0, objects: 0};
        sums.set(type, {type, bytes: sum.bytes + bytes, objects: sum.objects + objects});
    }
    return inOrder([...sums.values()], ({bytes}) => bytes, true);
}

/* The looks of one round at all the processes that were there, as one. */
function roundOf(looks) {
    const known = looks.every((look) => look.pss_bytes !== null);
    return {...looks[0], ...Object.fromEntries(SUMMED.map((key) => [key, d3.sum(looks, (look) => look[key])])),
        others: othersOf(looks), device_bytes: looks.reduce((sums, look) => addDevices(sums, look.device_bytes), Object.create(null)),
        allocator: looks.map(({allocator}) => allocator).find(Boolean), pss_bytes: known ? d3.sum(looks, (look) => look.pss_bytes) : null, stop_ns: d3.max(looks, (look) => look.stop_ns)};
}

/* The series of a holder over the rounds: bytes of all processes, lengths of the one where it retains most. */
function addSeries(series, holder, places, n) {
    const none = Array(n).fill(null), its = series.get(holder.key) || {bytes: [...none], devices: Object.create(null), lengths: [...none], most: -1};
    const add = (sums, list) => list.forEach((bytes, look) => bytes === null || (sums[places[look]] += bytes));
    series.set(holder.key, its);
    add(its.bytes, holder.retained_by_look);
    Object.entries(holder.device_bytes_by_look || {}).forEach(([device, list]) => add(its.devices[device] ||= [...none], list));
    if (holder.retained_bytes > its.most) {
        its.most = holder.retained_bytes;
        its.lengths.fill(null);
        holder.length_by_look.forEach((length, look) => its.lengths[places[look]] = length);
    }
}

function togetherOf(processes, holders) {
    const rounds = [...new Set(processes.flatMap((process) => process.looks.map((look) => look.round)))].sort(d3.ascending);
    const series = new Map(), placeOf = new Map(rounds.map((round, place) => [round, place])), none = rounds.map(() => null);
    for (const process of processes) {
        const places = process.looks.map((look) => placeOf.get(look.round));
        process.holders.forEach((holder) => addSeries(series, holder, places, rounds.length));
    }
    return {key: "", name: plural(processes.length, "process", "processes"),
        looks: rounds.map((round) => roundOf(processes.flatMap((process) => process.looks.filter((look) => look.round === round)))),
        holders: holders.map((holder) => {
            const {bytes, devices, lengths} = series.get(holder.key) || {bytes: none, devices: {}, lengths: none};
            return {...holder, retained_by_look: bytes, device_bytes_by_look: devices, length_by_look: lengths};
        })};
}

/* "train.py", else the program's own name. */
function programOf(command, most) {
    const words = command.split(" "), program = words.find((word) => /\.py$/.test(word)) || words[0] || "a process";
    return cutText(program.split("/").pop(), most);
}

/* Of each: {key, name, looks, holders}; what was tried, but never with success. */
let looked, subjects, unseen;
derive(() => {
    looked = data.look;
    const all = looked.tree ? looked.tree.processes : [looked], there = all.filter((process) => process.looks.length);
    const alone = (there.length ? there : [looked]).map((process) => ({...process, key: String(process.pid),
        name: `${process.pid} ${programOf(process.command, 20)}`}));
    subjects = alone.length > 1 ? [togetherOf(there, looked.tree.holders), ...alone] : alone;
    unseen = all.filter((process) => !process.looks.length);
});

const subjectWanted = () => subjects.find((one) => one.key === state.get("process")) || subjects[0];

/* The look that was asked for, else the last one. */
function lookWanted(subject) {
    const last = subject.looks.length - 1, asked = parseInt(state.get("look"), 10);
    return asked >= 1 && asked <= last ? asked - 1 : last;
}

/* 0: it was not there, or too small. */
const bytesAt = (holder, k) => holder.retained_by_look[k] || 0;

/* [["cuda:0", bytes]] of the devices on which it has something. */
const devicesAt = (holder, k) => Object.entries(holder.device_bytes_by_look || {}).map(([device, list]) => [device, list[k]]).filter(([, n]) => n);

/* [["cuda:0", bytes a minute]] of the devices on which it changed. */
const deviceRates = (holder) => Object.entries(holder.device_growth_bytes_per_minute || {}).filter(([, rate]) => Math.abs(rate) >= 1);

/* By look, what it has on all GPUs; null where it has nothing there in any look. */
function gpuSeries(holder) {
    const lists = Object.values(holder.device_bytes_by_look || {});
    return lists.some((list) => list.some(Boolean)) ? holder.retained_by_look.map((_, k) => d3.sum(lists, (list) => list[k])) : null;
}

const minutesOf = (subject) => (subject.looks[subject.looks.length - 1].t_s - subject.looks[0].t_s) / 60;
