/* What a digest says of many processes, in words: measures and their units, who a process is, where a finding is. */

/* `text` is followed by `unit`; `low`: those with least stand out. */
const RANK_MEASURES = {
    rss_peak_bytes: {name: "RSS at its peak", text: bytesText},
    gpu_peak_bytes: {name: "GPU memory at its peak", text: bytesText},
    growth_millibytes_per_step: {name: "growth of what leaks or is kept", text: (n) => bytesText(n / 1000), unit: () => ` a ${stepUnit}`},
    collective_peak_bytes: {name: "memory for collectives at its peak", text: bytesText},
    steps: {name: "steps", text: countText, low: true},
};

/* A measure of processes, else a space. */
function rankMeasure(of) {
    return RANK_MEASURES[of] || {name: `${spaceWords(of) || of} at its peak`, text: bytesText};
}

function valueText({text, unit}, value) {
    return text(value) + (unit ? unit() : "");
}

/* A class of a histogram, which ends before the next power of two. */
function classText(measure, from) {
    return from ? `${measure.text(from)} to ${valueText(measure, 2 * from)}` : valueText(measure, 0);
}

const ROLE_PLURALS = {trainer: "trainers", "loader-worker": "loader workers", rank: "ranks", helper: "helpers"};

function rolesText(role, n) {
    return n === 1 ? (role === "loader-worker" ? "loader worker" : role) : ROLE_PLURALS[role] || role;
}

const countOfRole = (role, n) => `${countText(n)} ${rolesText(role, n)}`;

/* "rank 3 on node2" */
function placeOfProcess({rank, host, pid}) {
    return `${rank === null ? "process " + pid : "rank " + rank} on ${host}`;
}

/* "exit 1", "signal 9", "running" or "unknown" as a digest has it. */
function endText(end) {
    const [kind, number] = end.split(" ");
    return kind === "signal" ? `killed by signal ${number}` : kind === "running" ? "still running"
        : kind === "exit" ? (number === "0" ? "ended normally" : `ended with status ${number}`) : "how they ended is not known";
}

const isBadEnd = (end) => /^(signal|exit) [1-9]/.test(end);

/* Where a finding is: "rank 3 alone, of 8 000 ranks". */
function spreadText({kind, role, processes: n, of, least_rank: least, most_rank: most, host}) {
    const all = countOfRole(role, of);
    if (kind === "all")
        return of === 1 ? "the only " + rolesText(role, 1) : "all " + all;
    if (kind === "one")
        return `${least === null ? "one" : "rank " + least}${host === null ? "" : " on " + host} alone, of ${all}`;
    return `${countText(n)} of ${all}` + (kind === "host" && host !== null ? `, all on ${host}`
        : least === null ? "" : `, between rank ${least} and rank ${most}`);
}
