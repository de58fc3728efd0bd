/* Where memory is live in a process, by a walk through what it has mapped: chunks of glibc's heaps,
 * pools of Python's small objects, and maps of which nothing more is known. Reads heads, not what
 * is in them: what has to be read of them is known from here on. */
#ifndef SEEP_LIBPROF_WHO_BLOCKS_LIVE_PLACES_H
#define SEEP_LIBPROF_WHO_BLOCKS_LIVE_PLACES_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/blocks/memory_window.h"
#include "libprof/who/graph/process_maps.h"
#include "libprof/who/graph/py_layout.h"

/* Calls take() with each run of pages of [start, end) that the process has made its own, by
 * address. */
typedef int seep_own_pages(void *context, uint64_t start, uint64_t end,
                           int (*take)(void *arg, uint64_t start, uint64_t end), void *arg);

struct seep_live_question {
    const struct seep_maps *maps;
    const struct seep_python_layout *python; /* NULL: there is none */
    struct seep_window *window;
    seep_own_pages *own_pages;
    void *context; /* of own_pages */
};

/* Adds what is live, by address. Returns 0, what own_pages() ended with, or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_live_places(const struct seep_live_question *question,
                                     struct seep_block_list *blocks);

#endif
