/* Where a process has live memory, found by a walk through its mappings: chunks of glibc's heaps,
 * pools of Python's small objects, and maps about which nothing more is known. Reads only heads,
 * not contents; after this it is known which contents are needed. */
#ifndef SEEP_LIBPROF_WHO_BLOCKS_LIVE_PLACES_H
#define SEEP_LIBPROF_WHO_BLOCKS_LIVE_PLACES_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/blocks/memory_window.h"
#include "libprof/who/graph/process_maps.h"
#include "libprof/who/graph/py_layout.h"

/* Calls take() with each run of private pages in [start, end), by address. */
typedef int seep_own_pages(void *context, uint64_t start, uint64_t end,
                           int (*take)(void *arg, uint64_t start, uint64_t end), void *arg);

struct seep_live_question {
    const struct seep_maps *maps,
        *shared; /* the latter: of who was copied, for a copy sheds them */
    const struct seep_python_layout *python; /* NULL: there is none */
    bool other_malloc; /* the heap is not glibc's: it is where nothing more is known */
    struct seep_window *window;
    seep_own_pages *own_pages, *shared_pages; /* the latter: that it has of what is shared */
    void *context, *shared_context;           /* of each */
};

/* Adds what is live, by address. Returns 0, the status of own_pages() if that failed, or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_live_places(const struct seep_live_question *question,
                                     struct seep_block_list *blocks);

#endif
