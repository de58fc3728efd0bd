/* What is said of a line beside its pattern's own words (patterns.def).
 * Formats of printf(), filled with numbers and names by who knows them. */
#ifndef SEEP_LIBPROF_WORDS_LINE_WORDS_H
#define SEEP_LIBPROF_WORDS_LINE_WORDS_H

#define SEEP_LINE_BY_MESSAGES_TEXT                                                                 \
    "it came by messages of another process, in which this line makes blocks of that size"
#define SEEP_LINE_BOUND_HOLDER_TEXT                                                                \
    "bound %s, which keeps it, or take out of it what is no longer needed"
#define SEEP_LINE_TABLE_AND_OBJECTS_TEXT                                                           \
    "small Python objects pile up, and a list, dict or set grows at this line"
#define SEEP_LINE_TABLE_TEXT "the table of a list, dict or set grows at this line, up to the end"
#define SEEP_LINE_NODES_ON_HOST_TEXT                                                               \
    "nodes of autograd graphs that this function makes pile up on the host, and these by whole "   \
    "blocks a step beside them"
#define SEEP_LINE_SAME_KEEPS_TEXT    "the same %s keeps what %s:%llu makes"
#define SEEP_LINE_KEEPS_AS_WELL_TEXT "it keeps %s of %s as well"
#define SEEP_LINE_LIMIT_TEXT         "%s of %s in use (%s)"

/* Of many lines together: words in braces as in patterns.def. */
#define SEEP_SPREAD_TITLE_TEXT "{memory} grows by {each} a {unit}, spread over {lines} lines{below}"
#define SEEP_SPREAD_BELOW_TEXT ", most below %s"
#define SEEP_SPREAD_LEAK_TEXT                                                                      \
    "find what keeps the results of all these lines: a cache or a registry that meets ever new "   \
    "keys, or code that is generated and never dropped"
#define SEEP_SPREAD_LINES_TEXT "no line keeps growing by itself: the largest gained %s of %s"
#define SEEP_SPREAD_SHARE_TEXT "%.0f %% of it was allocated below the line shown"

/* Of memory whose stacks a full profile has no room for. */
#define SEEP_UNCOUNTED_TITLE_TEXT                                                                  \
    "host memory grows by %s a %s on lines that the full profile does not tell"
#define SEEP_UNCOUNTED_EVENTS_TEXT                                                                 \
    "the profile reached --max-profile or --max-folder: %s allocations and frees were counted "    \
    "without their stacks"
#define SEEP_UNCOUNTED_ADVICE_TEXT                                                                 \
    "run again with a larger --max-profile, or with --sample, to see which lines these are"

#endif
