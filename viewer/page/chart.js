/* A chart of levels: stacked areas, lines over them, marks, two axes. A level holds until the next one is known, so all
   are drawn as steps: a slope would show values that never were. */

const MARGIN = {top: 22, right: 32, bottom: 34, left: 74}, SMALL_MARGIN = {top: 8, right: 32, bottom: 34, left: 66};

/* The stack's lower and upper ends, by d3. */
function stackRows(areas, n) {
    const rows = d3.range(n).map((row) => areas.map((area) => area.values[row]));
    return d3.stack().keys(d3.range(areas.length))(rows);
}

function axisOf(chart, scale, side, ticks) {
    const axis = svg("g", {class: "axis"});
    const [x, y] = side === "bottom" ? [0, chart.bottom] : [chart.left, 0];
    axis.setAttribute("transform", `translate(${x},${y})`);
    d3.select(axis).call(ticks(scale));
    axis.removeAttribute("font-family");
    axis.removeAttribute("font-size");
    return axis;
}

/* Sizes and scales of a chart; `x` and `most` are the ends of its axes. */
function chartOf(width, height, xs, most, small) {
    const margin = small ? SMALL_MARGIN : MARGIN;
    const chart = {width, height, left: margin.left, right: Math.max(width - margin.right, margin.left + 10),
        top: margin.top, bottom: height - margin.bottom};
    chart.x = d3.scaleLinear().domain(xs).range([chart.left, chart.right]);
    chart.y = d3.scaleLinear().domain([0, most || 1]).range([chart.bottom, chart.top]);
    chart.root = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img"});
    chart.defs = svg("defs");
    chart.root.append(chart.defs);
    return chart;
}

/* Each tick has its unit of size or time; `xName` names any other unit of the lower axis. */
function drawAxes(chart, xText, nx, ny, xName) {
    const ticks = chart.x.ticks(nx).filter((x) => xText !== countText || Number.isInteger(x))
        .filter((x, i, all) => !i || xText(x) !== xText(all[i - 1]));
    chart.root.append(
        axisOf(chart, chart.y, "left", (y) => d3.axisLeft(y).tickValues(bytesTicks(y.domain()[1], ny)).tickFormat(bytesText)
            .tickSizeInner(-(chart.right - chart.left)).tickSizeOuter(0)),
        axisOf(chart, chart.x, "bottom", (x) => d3.axisBottom(x).tickValues(ticks).tickFormat(xText).tickSizeOuter(0)),
        svg("text", {class: "axis-name", x: chart.right, y: chart.height - 3, "text-anchor": "end"}, xName));
}

function drawAreas(chart, xs, areas) {
    stackRows(areas, xs.length).forEach((layer, i) => {
        const shape = d3.area().x((_, row) => chart.x(xs[row])).y0((d) => chart.y(d[0])).y1((d) => chart.y(d[1]))
            .curve(d3.curveStepAfter);
        const path = svg("path", {class: "area", d: shape(layer), fill: patternFill(chart.defs, areas[i].index)});
        path.append(svg("title", {}, areas[i].name));
        chart.root.append(path);
    });
}

function drawLine(chart, xs, values, kind) {
    const shape = d3.line().defined((d) => d !== null).x((_, row) => chart.x(xs[row])).y((d) => chart.y(d)).curve(d3.curveStepAfter);
    chart.root.append(svg("path", {class: kind, d: shape(values)}));
}

/* Where a name fits into an area: where the area is tallest, or where no other name is; null: nowhere. */
function placeOfName(chart, xs, layer, half, taken) {
    const tall = (at) => chart.y(layer[at][0]) - chart.y(layer[at][1]);
    const every = Math.ceil(xs.length / 64), tallest = d3.scan(layer, (a, b) => (b[1] - b[0]) - (a[1] - a[0]));
    const places = [tallest, ...d3.range(0, xs.length, every).sort((a, b) => tall(b) - tall(a))];
    for (const at of places) {
        if (at === undefined || tall(at) < 18)
            return null;
        const x = Math.min(Math.max(chart.x(xs[at]), chart.left + half), chart.right - half);
        const y = (chart.y(layer[at][0]) + chart.y(layer[at][1])) / 2 + 4;
        if (!taken.some((other) => Math.abs(other.y - y) < 16 && Math.abs(other.x - x) < other.half + half))
            return {x, y, half};
    }
    return null;
}

/* Writes the names into areas that are tall enough. */
function labelAreas(chart, xs, areas) {
    const taken = [];
    stackRows(areas, xs.length).forEach((layer, i) => {
        const name = shortName(areas[i].name, Math.floor((chart.right - chart.left) / 16));
        const place = chart.width < 300 ? null : placeOfName(chart, xs, layer, name.length * 3.6 + 6, taken);
        if (!place)
            return;
        taken.push(place);
        chart.root.append(svg("text", {class: "area-name", x: place.x, y: place.y, "text-anchor": "middle"}, name));
    });
}

/* Of many charts only those in sight are drawn, but all of them for paper. */
function fittedInSight(draw, height) {
    const place = el("div", {class: "fitted later", "data-paper": true, style: `min-height:${height}px`});
    const begin = () => {
        watcher.disconnect();
        place.removeEventListener("paper", begin);
        const chart = fitted(draw);
        place.replaceChildren(chart);
        chart.redraw();
    };
    const watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && begin(), {rootMargin: "400px"});
    watcher.observe(place);
    place.addEventListener("paper", begin);
    return place;
}

/* Redraws when its own width changes, and only then; `draw(width)` returns the picture. */
function fitted(draw) {
    const place = el("div", {class: "fitted"});
    let drawn = 0;
    const redraw = () => {
        const width = Math.floor(place.clientWidth);
        if (width && width !== drawn) {
            drawn = width;
            place.replaceChildren(draw(width));
        }
    };
    new ResizeObserver(redraw).observe(place);
    place.redraw = () => {
        drawn = 0;
        redraw();
    };
    return place;
}
