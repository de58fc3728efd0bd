/* What a picture shows and what one does with it, folded, for who sees it for the first time. */

const HOW_TO_READ = {
    timeline: () => ["Areas are live memory: allocated and not yet freed. They stack up to all of it.",
        `A level is what was live when a ${stepUnit} ended, and holds until the next one. A leak climbs to the end; a cache climbs ` +
        "and levels off; a spike comes and goes.",
        "The dashed line is RSS, what the system has given: what lies between it and the areas are programs, libraries, and freed " +
        "memory that malloc keeps.",
        "Drag to choose a window; the links below it show what grew in it, and what was live at its end."],
    flame: () => ["Each box is a function. It is as wide as the memory that it and what it called allocated; what it called lies below it.",
        "Look for wide boxes far down: there the memory is allocated. Left and right mean nothing.",
        "The stripe at the foot of a box says which memory it is, in the colours that the timeline has for it.",
        "A click zooms in, Esc zooms out. “Inverted” has the function that allocates on top, and its callers below. “c” shows one " +
        "function with its callers above it and its callees below.",
        "“small sites” are allocations that are each too small for a box. “import” is Python's own way to a module. “unattributed” was live " +
        `when the timeline looked, in the middle of a ${stepUnit}, and no line had it at that ${stepUnit}'s end.`],
    table: () => [`A row is a line of code: all that it allocated, by whatever stack. “Kept” is what it still had over the last ` +
        `${stepUnit}s; “growth” is what that gains a ${stepUnit}; “allocated” counts freed memory, too.`,
        "Sort by what you look for: “kept” and “growth” for a leak, “peak” for a crash, “allocations” for speed.",
        "A click shows a line's memory over time and, below that, its stacks."],
};

function howToRead(view) {
    return el("details", {class: "how"}, el("summary", {}, "How to read this"), HOW_TO_READ[view]().map((text) => el("p", {}, text)));
}
