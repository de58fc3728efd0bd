/* Writes the records of a profile in memory, as libprof/format/profile_format.h lays them out. */
#ifndef SEEP_LIBPROF_TORCH_PROFILE_WRITE_H
#define SEEP_LIBPROF_TORCH_PROFILE_WRITE_H

#include "libprof/base/error.h"
#include "libprof/base/pair_index.h"
#include "libprof/format/profile_format.h"

#include <stdbool.h>
#include <stddef.h>

/* Of a file that somebody else has written. */
struct seep_made_profile {
    uint8_t *bytes; /* of a profile; free() */
    size_t n_bytes;
    struct seep_job *job; /* its table, of this process alone; free() */
    bool is_cut;          /* the file ends early */
};

struct seep_profile_node {
    uint32_t parent, frame; /* refs */
    uint32_t ref;
};

/* All zero at first. What fails for lack of memory, or of room in a profile, is remembered in
 * `failed`: refs are then 0. */
struct seep_profile_writer {
    uint8_t *bytes;
    size_t n_bytes, capacity;
    uint32_t used[SEEP_CHUNK_N_TYPES];  /* bytes taken of the chunk at hand */
    uint32_t chunk[SEEP_CHUNK_N_TYPES]; /* its index + 1 */
    struct seep_profile_node *nodes;    /* of stacks */
    size_t n_nodes, nodes_capacity;
    struct seep_pair_index node_index;
    bool failed;
};

/* An empty profile: the header is zero but for what says that it is one. */
void seep_profile_begin(struct seep_profile_writer *w, uint64_t start_ns);

/* Valid until the next record; NULL if it failed. */
struct seep_header *seep_profile_header(struct seep_profile_writer *w);

/* Return refs. Records are 8-aligned, and aligned to their size where that is a multiple of 64. */
uint32_t seep_profile_add(struct seep_profile_writer *w, enum seep_chunk_type type,
                          const void *record, size_t n);
uint32_t seep_profile_add_string(struct seep_profile_writer *w, const char *text);
uint32_t seep_profile_add_python(struct seep_profile_writer *w, const char *file,
                                 const char *function, uint32_t line);
/* The node of a frame below its caller's; the same node for the same two. */
uint32_t seep_profile_add_stack(struct seep_profile_writer *w, uint32_t parent, uint32_t frame);

/* NULL if it failed. */
void *seep_profile_record(struct seep_profile_writer *w, uint32_t ref);

/* Nothing is added any more: completes the header. */
void seep_profile_end(struct seep_profile_writer *w);

/* The table of a job of this process alone, without steps; free(). NULL without memory. */
struct seep_job *seep_profile_job(uint32_t number, uint64_t start_ns);
void seep_profile_writer_fini(struct seep_profile_writer *w);

#endif
