/* The cells of the map of nodes and local ranks: each the ranks of some neighbouring nodes with one local rank. */

let rankCells, rankCellMeasures;

derive(() => {
    const columns = many ? many.cells : {measures: {}};
    rankCells = (columns.node || []).map((node, i) => ({node, local: columns.local_rank[i], ranks: columns.ranks[i], number: i}));
    /* A measure that is 0 everywhere was not recorded, or says nothing. */
    rankCellMeasures = Object.keys(RANK_MEASURES).filter((key) => columns.measures[key] && d3.max(columns.measures[key].most) > 0);
});

/* What a cell's colour shows. */
const CELL_VALUES = [["most", "the highest rank"], ["mean", "the average"]];

function cellValue({number, ranks}, measure, how) {
    const {sum, most} = many.cells.measures[measure];
    return how === "most" ? most[number] : ranks ? sum[number] / ranks : 0;
}

/* A cell has no lowest rank, so ranks that are behind show in the average. */
const usualValue = (measure) => rankMeasure(measure).low ? "mean" : "most";

/* How far the outermost cell is from the others. */
function outlyingOf(measure) {
    const values = rankCells.map((cell) => cellValue(cell, measure, usualValue(measure)));
    const middle = d3.median(values), [least, most] = d3.extent(values);
    return rankMeasure(measure).low ? middle / least : most / middle;
}

/* The measure that was asked for, else the one in which a cell stands out most. */
function cellMeasureWanted() {
    const wanted = state.get("of");
    return rankCellMeasures.includes(wanted) ? wanted : rankCellMeasures[d3.scan(rankCellMeasures, (a, b) => outlyingOf(b) - outlyingOf(a))];
}

function cellValueWanted(measure) {
    const wanted = state.get("colour");
    return CELL_VALUES.some(([key]) => key === wanted) ? wanted : usualValue(measure);
}

/* The outermost cells first. */
function cellsInOrder(measure, how) {
    const down = rankMeasure(measure).low ? -1 : 1;
    return [...rankCells].sort((a, b) => down * (cellValue(b, measure, how) - cellValue(a, measure, how)));
}

function nodesText({node}) {
    const last = node + many.nodes_per_cell - 1;
    return last > node ? `nodes ${node} to ${last}` : `node ${node}`;
}

function cellText(cell, measure) {
    const [most, mean] = ["most", "mean"].map((how) => valueText(rankMeasure(measure), cellValue(cell, measure, how)));
    return `${nodesText(cell)}, local rank ${cell.local}: ${rankMeasure(measure).name} ` +
        (cell.ranks > 1 ? `${most} at most, ${mean} on average of ${countText(cell.ranks)} ranks` : most);
}
