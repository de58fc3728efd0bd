/* What was taken of a process that is looked at: its memory, which of it is live, which Python it
 * runs, if seep records it, its live set, and what a survey made of these. Everything read here is
 * untrusted. */
#ifndef SEEP_LIBPROF_LOOK_TAKEN_H
#define SEEP_LIBPROF_LOOK_TAKEN_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/blocks/memory_window.h"
#include "libprof/who/find/dump.h"
#include "libprof/who/find/live_set.h"
#include "libprof/who/find/process_profile.h"
#include "libprof/who/graph/cells.h"
#include "libprof/who/graph/process_maps.h"
#include "libprof/who/process/remote.h"
#include "libprof/who/ways/reach.h"

/* Whether another malloc than glibc's is a process's: a preloaded one, or one that the program
 * brings itself. */

enum { SEEP_MALLOC_NAME = 64 };

/* Names it, such as "jemalloc", or by its file. False, and "": it is glibc's, or none that can be
 * told. Opens files as `pid` sees them. */
bool seep_other_malloc(const struct seep_maps *maps, struct seep_window *window, pid_t pid,
                       char name[SEEP_MALLOC_NAME]);

struct seep_taken {
    struct seep_dump dump;
    struct seep_block_list blocks; /* by address; once settled without pools, */
    struct seep_cells cells;       /* which are here, */
    uint64_t lowest;               /* the first of both; all until it was surveyed */
    uint64_t free_bytes;           /* in malloc's heaps */
    struct seep_heap heap;         /* what a survey has found: all that is needed to answer */
    struct seep_reach reach;
    struct seep_process_profile profile;
    struct seep_live_set live;        /* empty where there is no profile */
    struct seep_python python;        /* layout NULL: no Python, or an unknown one */
    uint64_t thread_pointer;          /* of its first thread; 0: it is not known */
    uint32_t python_version;          /* hex, 0: there is none */
    bool starts, ends;                /* Python has no modules yet, or takes them apart */
    bool no_gil;                      /* it is free-threaded */
    char allocator[SEEP_MALLOC_NAME]; /* the malloc that replaces glibc's; "": none */
    bool is_cut;                      /* more is live than was kept */
    bool lacks_memory;                /* some of what it had was not there to be read */
    bool is_surveyed;
};

/* What may be taken. */
struct seep_take_limits {
    uint64_t max_bytes; /* the most to keep of its memory; of more, some is left out */
    bool passes_by;     /* it stays as it is until it was surveyed: none of it is kept */
    /* Called before that is kept, and again when it is known how many nodes there are, with what it
     * takes to find who holds it (seep_reading_need()). False: it is given up, with -SEEP_ENOMEM.
     * NULL: never. */
    bool (*admits)(void *arg, uint64_t need_bytes);
    void *arg;
};

/* Takes it from `remote`, of a process that is stopped or a copy of `whole`: the same, if it is not
 * a copy. If its memory passes by (dump.ranges), `remote` is needed until it was surveyed; where
 * another malloc's heap is searched, object by object, it is kept all the same. Returns 0;
 * -SEEP_EIO: it cannot be read, errno says why; -SEEP_ENOMEM. Allocates; seep_taken_fini() in
 * either case. */
SEEP_MUST_CHECK int seep_take(struct seep_taken *taken, struct seep_remote *remote,
                              struct seep_remote *whole, const struct seep_take_limits *limits);

/* Evaluates what was found: where pools are, which chunks are free. The process may have been let
 * go. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_taken_settle(struct seep_taken *taken);

/* Surveys what was settled: afterwards nothing of the process's memory is needed, and none is kept.
 * `keys`: texts of dict keys may be shown. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_taken_survey(struct seep_taken *taken,
                                      const struct seep_take_limits *limits, bool keys);
void seep_taken_fini(struct seep_taken *taken);

/* Which CPython a process runs and where its state is, found by the symbols of the program or
 * library that contains it. */

struct seep_python_runtime {
    uint64_t address; /* of _PyRuntime */
    uint32_t
        version;   /* PY_VERSION_HEX; before 3.11, which does not store it, from the file's name */
    bool no_gil;   /* free-threaded: objects are others */
    bool mimalloc; /* which allocates its objects */
    bool starts;   /* it cannot run code yet */
    bool ends;     /* it takes them apart */
};

/* False: there is none. Opens files as the remote says. */
bool seep_python_runtime_find(struct seep_python_runtime *runtime, const struct seep_maps *maps,
                              struct seep_remote *remote);

#endif
