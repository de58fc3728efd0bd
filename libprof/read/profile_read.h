/* Reads one profile file (libprof/format/profile_format.h) into memory and returns its records,
 * checked.
 *
 * Everything in a file is untrusted: a record is returned only if it is inside the file and inside
 * one chunk of its type. Anything else reads as NULL, which callers print as unknown. The contents
 * are copied, never mapped: a file truncated during the read cannot raise SIGBUS. */
#ifndef SEEP_LIBPROF_READ_PROFILE_READ_H
#define SEEP_LIBPROF_READ_PROFILE_READ_H

#include "libprof/base/error.h"
#include "libprof/format/profile_format.h"

#include <stdbool.h>

struct seep_profile {
    char *path;                 /* as opened */
    const char *name;           /* its last component */
    struct seep_header *header; /* private copy, validated */
    uint8_t *base;              /* copy of the file by offset; holes and unread chunks are zero */
    uint64_t map_bytes;         /* of `base` */
    uint64_t size;              /* bytes the file had */
    uint32_t first_chunk;       /* own chunks: [first_chunk, n_chunks) */
    uint32_t n_chunks;
    uint32_t room;               /* chunks that base has room for: a running process adds some */
    bool loaded;                 /* chunks have been read */
    bool truncated;              /* the file ends before its own chunks do */
    struct seep_profile *parent; /* set by whoever opened both; NULL: none or missing */
    uint32_t **memo;             /* [room] lazily made: see seep_profile_memo() */
    uint16_t *n_done;            /* [room] records of the chunk that seep_profile_done() dropped */
};

/* Opens and validates the header of `path` (a regular file). *out is valid on success only.
 * Returns 0, -SEEP_EIO, -SEEP_EFORMAT, -SEEP_EVERSION, -SEEP_ENOMEM.
 * Allocates: *out; free with seep_profile_close(). */
SEEP_MUST_CHECK int seep_profile_open(const char *path, struct seep_profile **out,
                                      struct seep_error *err);

/* The same from `size` bytes in memory, which are copied, chunks included; `name` stands in for the
 * file's. */
SEEP_MUST_CHECK int seep_profile_from_bytes(const char *name, const void *bytes, uint64_t size,
                                            struct seep_profile **out, struct seep_error *err);

/* Reads the chunks; a no-op if they were read. For a running process, reads the chunks in use now,
 * not when it was opened: first layouts, then sites, then details, then all that these refer to, so
 * every reference resolves. Returns 0, -SEEP_EIO, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_profile_load(struct seep_profile *profile, struct seep_error *err);

/* Reports a file of another format version, and what to do. Returns -SEEP_EVERSION. */
int seep_version_error(struct seep_error *err, const char *path, uint32_t version);

/* Drops what load made; the header stays. */
void seep_profile_unload(struct seep_profile *profile);
void seep_profile_close(struct seep_profile *profile);

/* Name of the parent's file if the profile inherits records and the name is a plain one, else
 * NULL. */
const char *seep_profile_parent_name(const struct seep_profile *profile);

/* `bytes` of a record at `ref` in a chunk of `type`, or NULL. *found_in (may be NULL) becomes the
 * profile of the fork chain that holds it. The pointer lives until that profile is unloaded. */
const void *seep_profile_at(struct seep_profile *profile, uint32_t ref, enum seep_chunk_type type,
                            uint64_t bytes, struct seep_profile **found_in);

/* Text of a string record; NULL if it cannot be had. Not NUL-terminated for *n_bytes on untrusted
 * files. */
const char *seep_profile_string(struct seep_profile *profile, uint32_t ref, uint32_t *n_bytes,
                                struct seep_profile **found_in);

/* Points of the series at `ref` that the detail at `detail` owns, or NULL; *n is clamped to the
 * capacity. */
const struct seep_point *seep_profile_series(struct seep_profile *profile, uint32_t ref,
                                             uint32_t detail, uint32_t *n);

/* Says that nobody reads a record again: the memory of a chunk is given back once all the records
 * that it has room for, each of `bytes`, were given up. Each record once. */
void seep_profile_done(struct seep_profile *profile, uint32_t ref, size_t bytes);

/* A word of scratch for the record at `ref` of `profile` itself (not of its parents), zero at
 * first: the merge stores there what it made of the record. NULL without memory. */
uint32_t *seep_profile_memo(struct seep_profile *profile, uint32_t ref);

#endif
