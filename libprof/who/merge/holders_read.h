/* One file holders-PID-STEP.json: who holds what in a process, by a snapshot of its heap. The
 * launcher's worker writes it, but it is read as untrusted.
 *
 *   { "format": "seep-holders", "version": 1,
 *     "pid", "process" (its place in the job's table), "step",
 *     "complete": bool, "why_not": text|null,
 *     "stop_ns", "cpu_ns",
 *     "sampled": bool, not read: of small blocks only some were recorded, and count for the others
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
 *             "holder": { "hop", "type", "name", "length", "bound", "bound_by" } or null } ] } ],
 *     "small_objects": of Python's, in arenas (older files lack it)
 *       { "blocks", "bytes": all that are live,
 *         "holders": [ those that retain most of them first: each a path, with
 *           "table": the frame of the line that enlarged its table, or null ] } }
 *
 * bytes and blocks leave out Python arenas that the holder's entries may fill. Kinds and bound_by
 * are words of lower-case letters and hyphens; names, types, functions and files may be null, and
 * so may sole_bytes, lengths and bounds. Other fields are ignored. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_READ_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "libprof/base/error.h"

/* Takes values of an untrusted JSON document one by one. What is wrong is noted once for all of
 * them. */

struct seep_holders_check {
    bool wrong;  /* something is missing, or has the wrong type */
    bool failed; /* no memory */
};

enum { SEEP_HOLDERS_TEXT_BYTES = 2048, SEEP_HOLDERS_WORD_BYTES = 24 };

/* A whole number ≥ 0; 0 if it is wrong. */
uint64_t seep_take_count(struct seep_holders_check *c, const json_t *from, const char *key);

/* The same, for a value that may be missing or null: then `missing`. */
uint64_t seep_take_count_or(struct seep_holders_check *c, const json_t *from, const char *key,
                            uint64_t missing);
bool seep_take_bool(struct seep_holders_check *c, const json_t *from, const char *key);

/* New references: a text without control characters, cut to SEEP_HOLDERS_TEXT_BYTES; a word of
 * lower-case letters and hyphens. JSON's null if it is wrong, NULL without memory. */
json_t *seep_take_text(struct seep_holders_check *c, const json_t *from, const char *key);
json_t *seep_take_text_or_null(struct seep_holders_check *c, const json_t *from, const char *key);
json_t *seep_take_word(struct seep_holders_check *c, const json_t *from, const char *key);

enum { SEEP_HOLDERS_MAX_HOPS = 256 };

/* One path to kept memory: from a root that the program can name, through hops, to the blocks. */
struct seep_holders_path {
    json_t *text, *root, *hops; /* as in reports: made of checked fields only */
    char *way; /* the names of root and hops, without counts: equal in two processes if the same
                * thing holds the memory */
    uint64_t blocks, bytes; /* of the line, reached by it */
    uint64_t sole_bytes;    /* bytes of the line that go with the holders of this path and of those
                             * before */
    bool sole_known;

    /* The container that holds the blocks; all NULL and 0 if there is none. */
    json_t *holder;
    char *container; /* its key: name and type, or else the path to it */
    bool has_name, has_length;
    uint64_t length;
};

/* Takes a path from a file; errors are in *c. Allocates: free with seep_holders_path_fini(),
 * whatever *c says. */
void seep_holders_path_take(struct seep_holders_check *c, const json_t *from,
                            struct seep_holders_path *path);
void seep_holders_path_fini(struct seep_holders_path *path);

enum {
    SEEP_HOLDERS_VERSION = 1,
    SEEP_HOLDERS_MAX_FILE_BYTES = 16 << 20,
    SEEP_HOLDERS_MAX_LINES = 4096, /* of a file; the largest are kept */
    SEEP_HOLDERS_MAX_PATHS = 8,    /* of a line; the ones that hold most are kept */
    SEEP_HOLDERS_MAX_SMALL = 64,   /* holders of small objects; likewise */
};

enum seep_holders_state {
#define SEEP_HOLDER_STATE(id, name) SEEP_HOLDERS_##id,
#include "libprof/words/holder_states.def"
#undef SEEP_HOLDER_STATE
    SEEP_HOLDERS_N_STATES
};
extern const char *const seep_holders_states[SEEP_HOLDERS_N_STATES];

/* What a line of code allocated and is live. */
struct seep_holders_line {
    char *frame; /* its seep_holders_frame_key(); "" if the code is not known */
    enum seep_holders_state state;
    uint64_t blocks, bytes;
    uint64_t explained_bytes, lost_bytes, cycle_bytes; /* each at most `bytes` */
    uint64_t reference_bytes;
    uint64_t graph_bytes; /* of these, held through nodes of autograd graphs */
    struct seep_holders_path paths[SEEP_HOLDERS_MAX_PATHS];
    size_t n_paths; /* at least one if it is held or shared */
};

/* Who retains small objects of Python's. */
struct seep_holders_small {
    struct seep_holders_path path; /* with blocks and bytes of small objects */
    char *table; /* the key of the line that enlarged its table of entries; "" not known */
};

struct seep_holders_snapshot {
    char *file;      /* its name */
    uint32_t folder; /* set by the caller, to tell folders apart */
    uint32_t pid, process, step;
    bool complete;            /* else nothing in it is called lost */
    char *why_not;            /* "" if not stated */
    uint64_t stop_ns, cpu_ns; /* the cost: how long the process was stopped, and the reader's CPU
                               * time */
    struct seep_holders_line *lines;
    size_t n_lines;
    uint64_t small_bytes; /* of all small objects */
    struct seep_holders_small *small;
    size_t n_small;
    size_t n_wrong;    /* malformed lines and holders, which were left out */
    size_t n_left_out; /* lines beyond SEEP_HOLDERS_MAX_LINES */
};

/* Reads bytes[0, n). Returns 0; -SEEP_EFORMAT or -SEEP_EVERSION with *why; -SEEP_ENOMEM. Allocates:
 * *snapshot; free with seep_holders_snapshot_fini(), also after an error. Threads: safe on distinct
 * outputs. */
SEEP_MUST_CHECK int seep_holders_read(const char *file, const char *bytes, size_t n,
                                      struct seep_holders_snapshot *snapshot,
                                      struct seep_error *why);
void seep_holders_snapshot_fini(struct seep_holders_snapshot *snapshot);

/* The key of a frame, in a report or in such a file: file and line, or module and offset; "" if it
 * has neither. Allocates the result (free() it); NULL without memory. */
char *seep_holders_frame_key(const json_t *frame);

/* The same for a place: a file and a line, or a module and an offset; "" for "". */
char *seep_holders_place_key(const char *place, uint64_t where);

#endif
