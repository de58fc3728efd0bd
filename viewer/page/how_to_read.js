/* What a picture shows and how to use it, folded, for readers who see it for the first time. */

const HOW_TO_READ = {
    timeline: () => ["Areas show live memory: allocated and not yet freed. Stacked, they add up to all of it.",
        `Each level was measured when a ${stepUnit} ended, and is drawn up to the next one. A leak climbs to the end. A cache climbs ` +
        "and levels off. A spike comes and goes.",
        many ? "A digest has the average level of each part of the run, of all processes together, and nothing of RSS over time."
            : "The dashed line is RSS, what the process has of the system's memory. Between it and the areas lie programs, libraries, and freed " +
        "memory that malloc keeps: choose by part of RSS to see each.",
        "Drag to choose a window. The links below the picture show what grew in it and what was live at its end."],
    flame: () => ["Each box is a function, and the boxes below it are the functions that it called. Its width is the memory that all of them allocated.",
        "Look for wide boxes far down: they allocate the memory. Left and right mean nothing.",
        "The stripe at the foot of a box shows the kind of memory, in the colours of the timeline.",
        "Click to zoom in, press Esc to zoom out. “Inverted” puts the function that allocates on top and its callers below. Press c to see " +
        "one function with its callers above it and its callees below.",
        "“small sites” are allocations too small for a box each. “import” stands for Python's import machinery. “unattributed” was live " +
        `in the middle of a ${stepUnit}, when the timeline measured it, but at no line when that ${stepUnit} ended.`],
    table: () => [`A row is a line of code with all that it allocated, by any stack. “Kept” is what was still live over the last ` +
        `${stepUnit}s. “Growth” is how much live memory grows a ${stepUnit}. “Allocated” also counts freed memory, “temporary” only what ` +
        `was freed within its ${stepUnit}.`,
        `Sort by “kept” or “growth” to find a leak, by “peak” for a crash` +
            (many ? "." : ", by “allocations” for speed."),
        "Click a line to see its memory over time and its stacks."],
};

function howToRead(view) {
    return el("details", {class: "how"}, el("summary", {}, "How to read this"), HOW_TO_READ[view]().map((text) => el("p", {}, text)));
}
