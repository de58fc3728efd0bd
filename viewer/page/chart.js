/* A chart of levels: stacked areas, lines over them, marks, two axes. */

const MARGIN = {top: 14, right: 14, bottom: 34, left: 74};

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

/* Room and scales of a chart; `x`, `most`: what the axes reach. */
function chartOf(width, height, xs, most, small) {
    const margin = small ? {top: 8, right: 18, bottom: 22, left: 66} : MARGIN;
    const chart = {width, height, left: margin.left, right: Math.max(width - margin.right, margin.left + 10),
        top: margin.top, bottom: height - margin.bottom};
    chart.x = d3.scaleLinear().domain(xs).range([chart.left, chart.right]);
    chart.y = d3.scaleLinear().domain([0, most || 1]).range([chart.bottom, chart.top]);
    chart.root = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img"});
    chart.defs = svg("defs");
    chart.root.append(chart.defs);
    return chart;
}

function drawAxes(chart, xText, nx, ny) {
    chart.root.append(
        axisOf(chart, chart.y, "left", (y) => d3.axisLeft(y).tickValues(bytesTicks(y.domain()[1], ny)).tickFormat(bytesText)
            .tickSizeInner(-(chart.right - chart.left)).tickSizeOuter(0)),
        axisOf(chart, chart.x, "bottom", (x) => d3.axisBottom(x).ticks(nx).tickFormat(xText).tickSizeOuter(0)));
}

function drawAreas(chart, xs, areas) {
    stackRows(areas, xs.length).forEach((layer, i) => {
        const shape = d3.area().x((_, row) => chart.x(xs[row])).y0((d) => chart.y(d[0])).y1((d) => chart.y(d[1]));
        const path = svg("path", {class: "area", d: shape(layer), fill: patternFill(chart.defs, areas[i].index)});
        path.append(svg("title", {}, areas[i].name));
        chart.root.append(path);
    });
}

/* A level holds until the next one. */
function drawLine(chart, xs, values, kind, curve) {
    const shape = d3.line().x((_, row) => chart.x(xs[row])).y((d) => chart.y(d)).curve(curve || d3.curveLinear);
    chart.root.append(svg("path", {class: kind, d: shape(values)}));
}

/* Areas that are broad enough at their broadest are named where they are. */
function labelAreas(chart, xs, areas) {
    stackRows(areas, xs.length).forEach((layer, i) => {
        const at = d3.scan(layer, (a, b) => (b[1] - b[0]) - (a[1] - a[0]));
        const tall = at === undefined ? 0 : chart.y(layer[at][0]) - chart.y(layer[at][1]);
        const room = chart.right - chart.left;
        const name = cutText(areas[i].name, Math.floor(room / 16));
        if (tall < 18 || chart.width < 300)
            return;
        const half = name.length * 3.6 + 6;
        const x = Math.min(Math.max(chart.x(xs[at]), chart.left + half), chart.right - half);
        const y = (chart.y(layer[at][0]) + chart.y(layer[at][1])) / 2 + 4;
        chart.root.append(svg("text", {class: "area-name", x, y, "text-anchor": "middle"}, name));
    });
}

/* Redraws when its own width changes, and only then; `draw(width)` gives the picture. */
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
