/* The map of nodes and local ranks: a column for each node or some neighbouring ones, a row for each local rank, in as many
   bands as the page's width needs. */

const HEAT = {left: 84, right: 8, names: 22, least: 8, most: 30, tall: 640};

/* Where each cell is. */
function heatGrid(width) {
    const nodes = [...new Set(rankCells.map(({node}) => node))].sort((a, b) => a - b);
    const locals = [...new Set(rankCells.map(({local}) => local))].sort((a, b) => a - b);
    const room = Math.max(width - HEAT.left - HEAT.right, HEAT.least);
    const size = Math.min(HEAT.most, Math.max(HEAT.least, Math.floor(room / nodes.length)));
    const perBand = Math.max(1, Math.floor(room / size)), bands = Math.ceil(nodes.length / perBand);
    const row = Math.max(3, Math.min(18, Math.floor(HEAT.tall / locals.length))), band = locals.length * row + HEAT.names;
    const columnOf = new Map(nodes.map((node, i) => [node, i])), rowOf = new Map(locals.map((local, i) => [local, i]));
    const placeOf = (cell) => [columnOf.get(cell.node), rowOf.get(cell.local)];
    const x = (column) => HEAT.left + column % perBand * size, y = (column, at) => Math.floor(column / perBand) * band + at * row;
    return {nodes, locals, size, row, perBand, bands, band, width, height: bands * band + 12, placeOf, x, y,
        at: new Map(rankCells.map((cell) => [placeOf(cell).join(), cell]))};
}

const heatColour = (share) => d3.interpolateCividis(0.04 + 0.96 * share);

/* The numbers of local ranks and of nodes, as far as they have room; and where no rank is. */
function heatNames(grid) {
    const parts = [], every = Math.ceil(11 / grid.row), apart = Math.ceil(64 / grid.size);
    for (let band = 0; band < grid.bands; band++) {
        const first = band * grid.perBand, n = Math.min(grid.perBand, grid.nodes.length - first), top = band * grid.band;
        parts.push(svg("rect", {class: "no-rank", x: HEAT.left, y: top, width: n * grid.size, height: grid.locals.length * grid.row}));
        for (let at = 0; at < grid.locals.length; at += every)
            parts.push(svg("text", {x: HEAT.left - 6, y: top + (at + 0.5) * grid.row + 4, "text-anchor": "end"}, (band || at ? "" : "local rank ") + grid.locals[at]));
        for (let k = 0; k < n && (k === 0 || (k + apart / 2) * grid.size <= n * grid.size); k += apart)
            parts.push(svg("text", {x: HEAT.left + k * grid.size, y: top + grid.locals.length * grid.row + 14},
                (band || k ? "" : "node ") + grid.nodes[first + k]));
    }
    return svg("g", {class: "axis"}, parts);
}

/* The next cell there, over places where no rank is. */
function nextCell(grid, cell, key) {
    const [dx, dy] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[key];
    let [column, at] = grid.placeOf(cell);
    do {
        column += dx;
        at += dy;
        if (column < 0 || at < 0 || column >= grid.nodes.length || at >= grid.locals.length)
            return cell;
    } while (!grid.at.has([column, at].join()));
    return grid.at.get([column, at].join());
}

function cellUnder(grid, frame, event) {
    const left = event.clientX - frame.left - HEAT.left, top = event.clientY - frame.top, band = Math.floor(top / grid.band);
    const column = Math.floor(left / grid.size), at = Math.floor((top - band * grid.band) / grid.row);
    return left < 0 || column >= grid.perBand ? undefined : grid.at.get([band * grid.perBand + column, at].join());
}

/* The value of each colour, at both ends. */
function heatLegend(measure, [least, most]) {
    const text = (value) => valueText(rankMeasure(measure), value), id = freshId("heat"), width = 180;
    const stops = d3.range(0, 1.01, 0.1).map((share) => svg("stop", {offset: share, "stop-color": heatColour(share)}));
    if (least === most)
        return el("p", {class: "heat-legend"}, `${text(most)} in each cell`);
    return el("p", {class: "heat-legend"}, text(least), " ", svg("svg", {width, height: 12, "aria-hidden": "true"},
        svg("defs", {}, svg("linearGradient", {id}, stops)), svg("rect", {width, height: 12, fill: `url(#${id})`})), " ", text(most));
}

/* `tell` takes the cell that is pointed at. The outermost one is marked first. */
function drawHeatMap(width, measure, how, tell) {
    const grid = heatGrid(width), values = rankCells.map((cell) => cellValue(cell, measure, how)), [least, most] = d3.extent(values);
    const shareOf = (value) => most > least ? (value - least) / (most - least) : 0.5;
    const chosen = svg("rect", {class: "chosen", width: grid.size, height: grid.row});
    const picture = svg("svg", {width, height: grid.height, class: "chart map heat", role: "application", tabindex: "0",
        "aria-label": `${rankMeasure(measure).name} by node and local rank; arrow keys go from cell to cell`});
    const gap = grid.size > 6 && grid.row > 6 ? 1 : 0;
    picture.append(heatNames(grid), ...rankCells.map((cell, i) => {
        const [column, at] = grid.placeOf(cell);
        return svg("rect", {class: "heat-cell", x: grid.x(column), y: grid.y(column, at), width: grid.size - gap, height: grid.row - gap,
            fill: heatColour(shareOf(values[i])), "data-cell": `${cell.node}.${cell.local}`});
    }), chosen);
    let active = null;
    const choose = (cell) => {
        const [column, at] = grid.placeOf(active = cell);
        chosen.setAttribute("x", grid.x(column));
        chosen.setAttribute("y", grid.y(column, at));
        tell(cell);
    };
    picture.addEventListener("mousemove", (event) => {
        const cell = cellUnder(grid, picture.getBoundingClientRect(), event);
        if (cell && cell !== active)
            choose(cell);
    });
    picture.addEventListener("keydown", (event) => {
        if (!event.key.startsWith("Arrow") || event.ctrlKey || event.altKey || event.metaKey)
            return;
        choose(nextCell(grid, active, event.key));
        event.preventDefault();
    });
    choose(cellsInOrder(measure, how)[0]);
    return picture;
}
