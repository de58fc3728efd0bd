/* Words of evidence about memory that grows: its pace, bursts, cycles and graphs. Formats of
 * printf(); callers fill in numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_GROWTH_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_GROWTH_WORDS_H

#define SEEP_GROWTH_PACE_TEXT        "Grows by ≈ %s a %s%s over %s"
#define SEEP_GROWTH_INTERVAL_TEXT    "95 % interval: "
#define SEEP_GROWTH_ALL_PARTS_TEXT   "Rises in all %u parts of the run"
#define SEEP_GROWTH_SOME_PARTS_TEXT  "Rises in %u of %u parts of the run"
#define SEEP_GROWTH_NO_PLATEAU_TEXT  "; never levels off"
#define SEEP_GROWTH_BY_PROCESS_TEXT  "Measured within each process: some ended before the job did"
#define SEEP_GROWTH_NO_BOUND_TEXT    "%s has %llu entries, ≈ %.3g more a %s, and no bound"
#define SEEP_GROWTH_KEEPS_MORE_TEXT  "What holds it keeps more in each snapshot, and has no bound"
#define SEEP_GROWTH_SHARED_MAPS_TEXT "%llu shared mappings outlive the %s that made them"

/* Python's garbage that waits for the collector. */
#define SEEP_CYCLE_ALONE_TEXT "A snapshot shows that only a reference cycle holds it"
#define SEEP_CYCLE_BURSTS_TEXT                                                                     \
    "Freed only in bursts: %u time%s live memory fell from about %s to %s"
#define SEEP_CYCLE_RISE_TEXT      "In between it rises by %s a step%s"
#define SEEP_CYCLE_NO_EPOCHS_TEXT "; the falls do not match epoch ends"

/* Growth that is no leak, or not this line's. */
#define SEEP_OBJECTS_TITLE_TEXT "Small Python objects pile up"
#define SEEP_OBJECTS_ADVICE_TEXT                                                                   \
    "Look for a list, dict or set that is only added to, here or at other lines. seep run "        \
    "--python-allocators shows each object at its own line."
#define SEEP_SMALL_RISE_TEXT                                                                       \
    "From step %u to step %u the arenas of Python's small objects grew by %s, and the objects "    \
    "that %s by %s"
#define SEEP_SMALL_SEEN_TEXT                                                                       \
    "Up to step %u the arenas of Python's small objects grew by %s; there are %s of objects that " \
    "%s"
#define SEEP_SMALL_OF_HOLDER_TEXT "this holder keeps alive"
#define SEEP_SMALL_OF_CYCLES_TEXT "only reference cycles keep alive"
#define SEEP_SMALL_OF_NOBODY_TEXT "nobody holds"
#define SEEP_NETWORK_TITLE_TEXT   "The network grows by new parameters"
#define SEEP_NETWORK_ADVICE_TEXT                                                                   \
    "If every part of the network is in use, plan memory for its final size. If not, remove old "  \
    "parts from the network and from the optimizer."
#define SEEP_LIBRARY_GROWS_TITLE_TEXT "%s grows"

/* Autograd graphs. */
#define SEEP_GRAPH_HELD_BY_TEXT "Held through an autograd graph: %s"
#define SEEP_GRAPH_HELD_TEXT    "Held through an autograd graph"
#define SEEP_GRAPH_NODES_TEXT   "Autograd graph nodes from this line stay alive, at %u site%s"
#define SEEP_GRAPH_EPOCH_TEXT                                                                      \
    "Grows by %s a step within each epoch, up to %s, and is freed when the epoch ends"
#define SEEP_GRAPH_FALLS_TEXT "%u time%s live memory fell from about %s to %s"
#define SEEP_GRAPH_BOUND_TEXT "Bounded by %s, which holds %llu of at most %llu results"
#define SEEP_GRAPH_FLAT_TEXT  "Live memory is flat since step %d: each new graph replaces an old one"
#define SEEP_GRAPH_ALIVE_TEXT                                                                      \
    "%llu autograd graphs are alive at once, counted by the nodes of one operator in this %s; "    \
    "this line has %.1f blocks for each"
#define SEEP_GRAPH_RESULTS_TITLE_TEXT "%llu results are kept, each with its autograd graph"

#define SEEP_CHUNKS_TEXT          "Sizes are those of malloc's chunks, with headers and rounding"
#define SEEP_UNTOUCHED_TEXT       "Of large blocks only those pages count that the job has touched"
#define SEEP_REQUESTED_TEXT       "Requested: %s"
#define SEEP_REQUESTED_GROWS_TEXT "Requested: %s, %s more each %s"

#define SEEP_GROWTH_BATCHES_TEXT "This line takes the batches, which the loader's thread has pinned"
#define SEEP_GROWTH_KEEPS_BATCHES_TEXT                                                             \
    "Find what keeps the batches: a list, a queue, or a branch of itertools.tee() that lags "      \
    "behind. "                                                                                     \
    "Keep clone() of what must stay, not the pinned batch."

#endif
