/* One file holders-PID-STEP.json: what a snapshot of a process's heap says of who holds what. The
 * launcher's worker writes it; here it is anybody's, and nothing in it is believed.
 *
 *   { "format": "seep-holders", "version": 1,
 *     "pid", "process" (its place in the job's table), "step",
 *     "complete": bool, "why_not": text|null,
 *     "stop_ns", "cpu_ns",
 *     "lines": [ the largest first
 *       { "frame": as in a report,
 *         "state": "held|shared|cycle|lost|reference|unknown",
 *         "blocks", "bytes", "explained_bytes", "lost_bytes", "cycle_bytes",
 *         "reference_bytes", "graph_bytes",
 *         "paths": [ the one that leads to most first
 *           { "text",
 *             "root": { "kind", "name", "function", "file", "line" (0: not known) },
 *             "hops": [ { "kind", "name", "type" } ],
 *             "blocks", "bytes", "sole_bytes",
 *             "holder": { "hop", "type", "name", "length", "bound", "bound_by" } or null } ] } ] }
 *
 * Of bytes and blocks those arenas of Python's are left out that the holder's entries may fill.
 * Kinds and bound_by are words of lower-case letters and hyphens; names, types, functions and files
 * may be null, and so may sole_bytes, lengths and bounds. What else there is is not read. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_READ_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_READ_H

#include "libprof/base/error.h"
#include "libprof/who/merge/holders_path.h"

enum {
    SEEP_HOLDERS_VERSION = 1,
    SEEP_HOLDERS_MAX_FILE_BYTES = 16 << 20,
    SEEP_HOLDERS_MAX_LINES = 4096, /* of a file; the largest come first */
    SEEP_HOLDERS_MAX_PATHS = 8,    /* of a line; the first holds most */
};

enum seep_holders_state {
#define SEEP_HOLDER_STATE(id, name) SEEP_HOLDERS_##id,
#include "libprof/words/holder_states.def"
#undef SEEP_HOLDER_STATE
    SEEP_HOLDERS_N_STATES
};
extern const char *const seep_holders_states[SEEP_HOLDERS_N_STATES];

/* What a line of code made, and is live. */
struct seep_holders_line {
    char *frame; /* seep_holders_frame_key() of it; "" where the code is not known */
    enum seep_holders_state state;
    uint64_t blocks, bytes;
    uint64_t explained_bytes, lost_bytes, cycle_bytes; /* none is more than bytes */
    uint64_t reference_bytes;
    uint64_t graph_bytes; /* of those, held by way of nodes of autograd graphs */
    struct seep_holders_path paths[SEEP_HOLDERS_MAX_PATHS];
    size_t n_paths; /* at least one where it is held or shared */
};

struct seep_holders_snapshot {
    char *file;      /* its name */
    uint32_t folder; /* the caller's: which of several */
    uint32_t pid, process, step;
    bool complete;            /* else nothing in it is called lost */
    char *why_not;            /* "" where nobody says */
    uint64_t stop_ns, cpu_ns; /* what it cost: the process stood still; the reader's time */
    struct seep_holders_line *lines;
    size_t n_lines;
    size_t n_wrong;    /* lines that are not as they should be, and so left out */
    size_t n_left_out; /* lines beyond SEEP_HOLDERS_MAX_LINES */
};

/* Reads bytes[0, n). Returns 0; -SEEP_EFORMAT or -SEEP_EVERSION with *why; -SEEP_ENOMEM.
 * Allocates: *snapshot; free with seep_holders_snapshot_fini(), also after an error. Threads: safe
 * on distinct outputs. */
SEEP_MUST_CHECK int seep_holders_read(const char *file, const char *bytes, size_t n,
                                      struct seep_holders_snapshot *snapshot,
                                      struct seep_error *why);
void seep_holders_snapshot_fini(struct seep_holders_snapshot *snapshot);

/* What a frame of a report or of such a file is told by: file and line, module and offset; "" where
 * it has neither. Allocates the result (free() it); NULL without memory. */
char *seep_holders_frame_key(const json_t *frame);

/* The same of a place: a file and a line of it, or a module and an offset in it; "" for "". */
char *seep_holders_place_key(const char *place, uint64_t where);

#endif
