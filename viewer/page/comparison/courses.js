/* The timeline of each space in both runs, on one axis of steps: NEW as an area, BASE as a dashed line. */

/* {steps, values}: a space's level at the end of each step; the last one holds until the job's last step. */
function courseOf(line, rows, space, last) {
    const column = line.spaces[space];
    return heldUntil(last, rows.map((row) => line.step[row]), rows.map((row) => column ? column.live_bytes[row] || 0 : 0));
}

function drawCourse(width, space, was, now) {
    const last = Math.max(d3.max(comparedCourses, (course) => course.last), 1);
    const most = Math.max(d3.max(was.values) || 0, d3.max(now.values) || 0);
    const chart = chartOf(width, 180, [0, last], most, true);
    drawAreas(chart, now.steps, [{name: `${space}, NEW`, values: now.values, index: spaceIndex(space)}]);
    drawAxes(chart, countText, Math.max(2, width / 110), 4, stepUnit);
    drawLine(chart, was.steps, was.values, "base");
    chart.root.setAttribute("aria-label", `${space} by ${stepUnit}: at most ${bytesText(d3.max(was.values) || 0)} in BASE, ` +
        `${bytesText(d3.max(now.values) || 0)} in NEW`);
    return chart.root;
}

/* The timelines of every space that either run has, the largest first; made once. */
let comparedCourses;
derive(() => comparedCourses = !comparison ? [] : comparison.spaces.map(({space}) => {
    const was = courseOf(comparison.timeline, stepEnds(comparison.timeline, comparison.job), space, comparison.job.steps);
    const now = courseOf(timeline, stepRows, space, job.steps);
    return {space, was, now, most: Math.max(d3.max(was.values) || 0, d3.max(now.values) || 0),
        last: Math.max(was.steps[was.steps.length - 1] || 0, now.steps[now.steps.length - 1] || 0)};
}).filter((course) => course.most > 0).sort((a, b) => b.most - a.most));

function courses() {
    return [el("div", {class: "courses"}, comparedCourses.map(({space, was, now}) => el("section", {},
        el("h3", {}, nameOf(space)), fitted((width) => drawCourse(width, space, was, now))))),
    legend([...comparedCourses.map(({space}) => ({name: `${space} in NEW`, index: spaceIndex(space)})), {name: "BASE", line: "base"}])];
}
