/* One holder: what is known of it, and its bytes, those on GPUs and its length over the looks. */

const COURSE_HEIGHT = 190, LENGTH_ROOM = 40;

function drawLengths(chart, xs, lengths) {
    const y = d3.scaleLinear().domain([0, d3.max(lengths) || 1]).range([chart.bottom, chart.top]).nice(3);
    const axis = svg("g", {class: "axis length-axis", transform: `translate(${chart.right},0)`});
    d3.select(axis).call(d3.axisRight(y).tickValues(y.ticks(3).filter(Number.isInteger)).tickFormat(d3.format("~s")).tickSizeOuter(0));
    chart.root.append(axis);
    drawLine({...chart, y}, xs, lengths, "length-line");
}

function drawHolderCourse(width, subject, holder, k) {
    const xs = subject.looks.map((look) => look.t_s), bytes = holder.retained_by_look, lengths = holder.length_by_look;
    const hasLength = lengths.some((length) => length !== null), gpus = gpuSeries(holder);
    const chart = chartOf(width, COURSE_HEIGHT, [xs[0], xs[xs.length - 1]], 1.05 * d3.max([...bytes, ...gpus || []]), true);
    chart.right -= hasLength ? LENGTH_ROOM : 0;
    chart.x.range([chart.left, chart.right]);
    chart.root.setAttribute("aria-label", `bytes over the looks: ${bytes.map((n) => n === null ? "not known" : bytesText(n)).join(", ")}`);
    drawAxes(chart, secondsText, Math.min(6, width / 90), 4, "since the first look");
    drawLine(chart, xs, bytes, "level");
    if (gpus)
        drawLine(chart, xs, gpus, "gpu-line");
    bytes.forEach((n, at) => n === null || chart.root.append(svg("circle", {class: at === k ? "look-mark here" : "look-mark", cx: chart.x(xs[at]),
        cy: chart.y(n), r: at === k ? 5 : 3}, svg("title", {}, `look ${at + 1}: ${bytesText(n)}${lengths[at] === null ? "" : `, length ${countText(lengths[at])}`}`))));
    if (hasLength)
        drawLengths(chart, xs, lengths);
    return chart.root;
}

const sinceText = (now, was, k) => bytesText(now) + (k ? ` (${signedText(now - was)} since the first look)` : "");

/* "300 MiB (+200 MiB since the first look) on cuda:0" */
function devicesFact(holder, k) {
    return devicesText(Object.entries(holder.device_bytes_by_look || {}).filter(([, list]) => list[k] || list[0]),
        (list) => sinceText(list[k] || 0, list[0] || 0, k));
}

function paceOf(subject, holder) {
    const host = signedText(holder.growth_bytes_per_minute), devices = devicesText(deviceRates(holder), signedText);
    return minutesOf(subject) > 0 ? host + (devices && ", " + devices) : "";
}

/* "train.py:9 in train_step", as seep look has it. */
function lineText({function: name, file, line, module, offset}) {
    const within = name ? " in " + name : "";
    if (file)
        return file + (line ? ":" + line : "") + within;
    return module ? `${module.split("/").pop()}+0x${(offset || 0).toString(16)}${within}` : name || "unknown code";
}

/* The lines that made what it holds in the last look. */
function madeAt(subject, holder, k) {
    const last = k === subject.looks.length - 1 ? "" : " at the last look";
    return (holder.made_at || []).map(({frame, bytes}) => [inEditor(frame.file, frame.line, nameOf(lineText(frame))), `: ${bytesText(bytes)}${last}`]);
}

function holderFacts(subject, holder, k) {
    const around = holder.within === null ? null : subject.holders[holder.within];
    const rows = [["retains", sinceText(bytesAt(holder, k), bytesAt(holder, 0), k)],
        ["on GPUs", devicesFact(holder, k)],
        ["a minute", paceOf(subject, holder)],
        ["made at", ...madeAt(subject, holder, k)],
        ["type", holder.type || "a block of C's"],
        ["container", containerText(holder, holder.length_by_look[k])],
        ["objects", countText(holder.objects)],
        ["state", stateText(holder)],
        ["inside", around && around.path.text],
        ["processes", holder.pids && holder.pids.join(", ")]];
    return el("dl", {}, rows.filter(([, text]) => text).map(([name, ...texts]) => [el("dt", {}, name),
        el("dd", {}, texts.map((text) => el("div", {}, Array.isArray(text) ? text : nameOf(text))))]));
}

function holderDetails(subject, holder, k) {
    const chart = subject.looks.length > 1 && minutesOf(subject) > 0 ? fitted((width) => drawHolderCourse(width, subject, holder, k)) : null;
    const details = el("section", {class: "details", "aria-label": "the holder"}, el("h2", {}, nameOf(holder.path.text)),
        el("div", {class: "columns"}, holderFacts(subject, holder, k), chart ? el("figure", {}, chart, legend([{name: "bytes", line: "level"},
            ...gpuSeries(holder) ? [{name: "on GPUs", line: "gpu-line"}] : [],
            ...holder.length_by_look.some((length) => length !== null) ? [{name: "length", line: "length-line"}] : []])) : null));
    details.drawn = () => chart && chart.redraw();
    return details;
}
