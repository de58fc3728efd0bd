/* The profile as the data has it: tables of texts, frames and stacks, and sites as columns. */

/* `small`: sums of sites that are too small to be listed one by one, a row for each of their callers. */
let texts, frames, stacks, sites, small, nSites, nStacks, job, findings, processes, stepUnit;

/* Frames of no program, after those of the data: Python's own import path, small sites below their caller, and memory
   without a site. */
const MADE_UP = 2, OWN_PYTHON = 0, LIBRARY_PYTHON = 3;
let importFrame, smallFrame, restFrame;

function addMadeUpFrames() {
    const names = ["import", "small sites", "unattributed"], none = names.map(() => -1), {frames: own} = data;
    texts = [...data.texts, ...names];
    frames = Object.fromEntries(Object.entries(own).map(([column, list]) => [column, [...list, ...none]]));
    names.forEach((_, i) => {
        frames.kind[own.kind.length + i] = MADE_UP;
        frames.name[own.kind.length + i] = data.texts.length + i;
    });
    [importFrame, smallFrame, restFrame] = d3.range(own.name.length, frames.name.length);
    const callers = small.stack || [];
    stacks = {parent: [...data.stacks.parent, ...callers, -1], frame: [...data.stacks.frame, ...callers.map(() => smallFrame), restFrame]};
    nStacks = stacks.parent.length;
}

/* What many processes show together, on the page of a digest; null on others. It has no list of processes, no RSS over time,
   and no numbers of allocations. */
let many;

/* An older run, and the sites of both in pairs; null and none on a page of one run. */
let comparison, pairs, nPairs, cwds;

derive(() => {
    ({sites, small, job, findings, processes} = data);
    nSites = sites.id ? sites.id.length : 0;
    addMadeUpFrames();
    many = data.digest || null;
    comparison = data.comparison || null;
    pairs = comparison ? comparison.pairs : {};
    nPairs = pairs.space ? pairs.space.length : 0;
    cwds = [job, ...(comparison ? [comparison.job] : [])].filter(({cwd}) => cwd).map(({cwd}) => cwd.endsWith("/") ? cwd : cwd + "/");
    stepUnit = job.step_source === "time" ? "time slice" : "step";
});

const frame = {
    name: (f) => texts[frames.name[f]],
    file: (f) => frames.file[f] < 0 ? "" : texts[frames.file[f]],
    module: (f) => frames.module[f] < 0 ? "" : texts[frames.module[f]],
    line: (f) => frames.line[f],
    source: (f) => frames.source[f] >= 0 ? texts[frames.source[f]] : "", /* source text of its line; "" where unknown */
    isPython: (f) => frames.kind[f] === OWN_PYTHON || frames.kind[f] === LIBRARY_PYTHON,
    isLibrary: (f) => frames.kind[f] === LIBRARY_PYTHON,
    isMadeUp: (f) => frames.kind[f] === MADE_UP,
    where(f) {
        const file = frame.file(f);
        if (file)
            return belowCwd(file) + (frames.line[f] > 0 ? ":" + frames.line[f] : "");
        return frame.module(f).split("/").pop();
    },
    text: (f) => f < 0 ? "unknown" : frame.name(f) + (frame.where(f) ? " · " + frame.where(f) : ""),
};

function belowCwd(path) {
    const cwd = cwds.find((folder) => path.startsWith(folder));
    return cwd ? path.slice(cwd.length) : path;
}

function shortFrameText(f) {
    return f < 0 ? "unknown" : `${frame.where(f).split("/").pop()} ${frame.name(f)}`;
}

/* Indices of sites by their names. */
let siteNumber;
derive(() => siteNumber = new Map(d3.range(nSites).map((i) => [texts[sites.id[i]], i])));

const site = {
    id: (i) => texts[sites.id[i]],
    space: (i) => texts[sites.space[i]],
    memory: (i) => memoryOfText(sites.space[i]),
    part: (i) => texts[sites.part[i]],
    title: (i) => frame.text(sites.look_at[i]),
    threads: (i) => sites.threads[i] < 0 ? "" : texts[sites.threads[i]], /* "": the first of its process */
    pids: (i) => sites.processes[i] < 0 ? [] : texts[sites.processes[i]].split(" "),
    shortTitle: (i) => shortFrameText(sites.look_at[i]),
};

/* Findings that name a site, in their order; a shortage is also listed at the sites that filled the device. */
let findingsOf, findingById;
derive(() => {
    findingsOf = Array.from({length: nSites}, () => []);
    findingById = new Map(findings.map((finding) => [finding.id, finding]));
    for (const finding of findings)
        sitesOf(finding).forEach((i) => findingsOf[i].push(finding));
});

/* Indices of a finding's sites. */
function sitesOf(finding) {
    return finding.sites.map((id) => siteNumber.get(id)).filter((i) => i !== undefined);
}

const isOfFinding = (i, id) => findingsOf[i].some((finding) => finding.id === id);

/* "F1, F3" */
const findingIds = (i) => findingsOf[i].map((finding) => finding.id).join(", ");

/* frame.text() in small letters, for searching; made once. Many frames share few names and files. */
let frameTexts;
derive(() => frameTexts = []);
const lowerName = onceOfData((name) => texts[name].toLowerCase());
const lowerFile = onceOfData((file) => belowCwd(texts[file]).toLowerCase());

/* A frame's key in addresses: the same in other data of the job, whatever the frame's number. Without its line it is the
   function's. */
function frameKey(f, withLine = true) {
    return shortKey([frames.kind[f], frame.name(f), frame.file(f) || frame.module(f), withLine ? frame.line(f) : ""].join(" "));
}

/* A function, whatever its line: in both runs, or for all its callers. */
const functionKey = (f) => frameKey(f, false);

function lowerText(f) {
    return frameTexts[f] ??= frames.file[f] >= 0 && frames.line[f] > 0
        ? `${lowerName(frames.name[f])} · ${lowerFile(frames.file[f])}:${frames.line[f]}` : frame.text(f).toLowerCase();
}

/* Whether a frame's text contains what is looked for. Names and files, which are few, already decide it for most frames. */
function frameMatcher(wanted) {
    const inName = onceFor((name) => lowerName(name).includes(wanted)), inFile = onceFor((file) => lowerFile(file).includes(wanted));
    const isOfSeveral = /[:·\s\d]/.test(wanted);
    return (f) => f >= 0 && (inName(frames.name[f]) || (frames.file[f] >= 0 && !isOfSeveral ? inFile(frames.file[f])
        : lowerText(f).includes(wanted)));
}

/* Frames of a stack, innermost first. */
function framesOf(stack) {
    const list = [];
    for (let at = stack; at >= 0; at = stacks.parent[at])
        list.push(stacks.frame[at]);
    return list;
}

/* Memories that add up: all of the host is one, whatever allocated it; a device's driver and an allocator on top of it
   count the same bytes twice, so they are never summed. */
const HOST = "host";
function memoryOf(space) {
    return /^(device|tensor):\d+$/.test(space) ? space : HOST;
}

const memoryOfText = onceOfData((text) => memoryOf(texts[text]));

let spaces, memories;
derive(() => {
    spaces = Object.keys(data.spaces);
    memories = [...new Set(spaces.map(memoryOf))].sort((a, b) => (b === HOST) - (a === HOST) || a.localeCompare(b));
});

function memoryName(memory) {
    return memory === HOST ? "host memory" : spaceWords(memory) || memory;
}
