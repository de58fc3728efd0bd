/* Words about a line besides its pattern's own (patterns.def). Formats of printf(); callers fill in
 * numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_LINE_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_LINE_WORDS_H

/* Words that fill the titles' braces. */
#define SEEP_GPU_TEXT                  "GPU %d"
#define SEEP_LINE_THIS_LINE_TEXT       "this line"
#define SEEP_LINE_THIS_CODE_TEXT       "this code"
#define SEEP_LINE_MADE_ELSEWHERE_TEXT  " (allocated in another process's %s)"
#define SEEP_LINE_ELSEWHERE_TEXT       " (in another process)"
#define SEEP_LINE_MADE_IN_LIBRARY_TEXT " (allocated in %s's %s)"
#define SEEP_LINE_IN_LIBRARY_TEXT      " (in %s)"
#define SEEP_LINE_BLOCKS_TEXT          "%llu block%s"
#define SEEP_LINE_SO_FAR_TEXT          "so far"
#define SEEP_LINE_TO_THE_END_TEXT      "to the end"
#define SEEP_LINE_SINCE_STEP_TEXT      "from step %d on"
#define SEEP_LINE_UNTIL_FREED_TEXT     ", until it is released"
#define SEEP_LINE_UNTIL_EPOCH_TEXT     ", until the epoch ends"

/* Evidence and advice. */
#define SEEP_LINE_BY_MESSAGES_TEXT                                                                 \
    "It arrived in messages from another process, where this line allocates blocks of that size"
#define SEEP_LINE_BOUND_HOLDER_TEXT "Bound %s, which holds it, or remove what you no longer need."
#define SEEP_LINE_MAY_BOUND_HOLDER_TEXT                                                            \
    "Bound %s, which holds it, if nothing ever empties it. In doubt run longer, past one full "    \
    "epoch: a cache levels off, a leak does not."
#define SEEP_LINE_LIBRARY_KEEPS_TEXT                                                               \
    "%s keeps it in data of its own, not in a variable of yours. Close or delete what this line "  \
    "opens or makes, or empty the library's cache. If there is nothing to close, upgrade %s, or "  \
    "report the growth to its developers."
#define SEEP_LINE_TABLE_AND_OBJECTS_TEXT                                                           \
    "Small Python objects pile up, and a list, dict or set grows at this line"
#define SEEP_LINE_TABLE_TEXT "The table of a list, dict or set grows at this line, up to the end"
#define SEEP_LINE_NODES_ON_HOST_TEXT                                                               \
    "Autograd graph nodes from this function pile up in host memory, and with them whole blocks "  \
    "a step on the GPU"
#define SEEP_LINE_SAME_KEEPS_TEXT      "The same %s keeps what %s:%llu allocates"
#define SEEP_LINE_SAME_KEEPS_MORE_TEXT "The same %s keeps what %s:%llu allocates, %s more each %s"
#define SEEP_LINE_SAME_ARENAS_TEXT                                                                 \
    "The same %s keeps small Python objects in arenas, %s more each %s"
#define SEEP_LINE_KEEPS_AS_WELL_TEXT "It also keeps %s of %s"
#define SEEP_LINE_LIMIT_TEXT         "%s of %s %s in use"
#define SEEP_LINE_LIMIT_PACE_TEXT                                                                  \
    "All that is resident of the job grows by %s a %s: at that pace it reaches the limit"
#define SEEP_LINE_LIMIT_OWN_TEXT "%s of %s %s in use, and %s by seep, which is not counted here"

/* Several lines together: words in braces as in patterns.def. */
#define SEEP_SPREAD_TITLE_TEXT                                                                     \
    "Live memory grows by {each} a {unit} ({memory}), spread over {lines} lines{below}"
#define SEEP_SPREAD_BELOW_TEXT ", most below %s"
#define SEEP_SPREAD_LEAK_TEXT                                                                      \
    "Find what keeps the results of all these lines: a cache or a registry that gets ever new "    \
    "keys, or generated code that is never dropped."
#define SEEP_SPREAD_LINES_TEXT "No line keeps growing by itself: the largest gained %s of %s"
#define SEEP_SPREAD_SHARE_TEXT "%.0f %% of it was allocated below the line shown"

/* Memory without stacks, because a full profile has no room for them. */
#define SEEP_UNCOUNTED_TITLE_TEXT                                                                  \
    "Host memory grows by %s a %s on lines that the full profile does not record"
#define SEEP_UNCOUNTED_EVENTS_TEXT                                                                 \
    "The profile reached --max-profile or --max-folder: %s allocations and frees were counted "    \
    "without their stacks"
#define SEEP_UNCOUNTED_ADVICE_TEXT                                                                 \
    "Run again with a larger --max-profile, or with --sample, to see which lines these are."

#endif
