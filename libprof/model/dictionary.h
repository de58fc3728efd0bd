/* The job's dictionary: strings, modules, frames and the stack tree of all processes, each interned
 * once, so that equal stacks of different threads, processes and hosts are one id.
 *
 * Ids are dense and count from 0; id 0 of each kind is the empty one. A stack's parent always has a
 * smaller id, so properties that pass down the tree are computed in one sweep.
 * Out of memory is sticky: functions then return 0 and `failed` is set; the caller looks once, at
 * the end. Threads: none may share one. */
#ifndef SEEP_LIBPROF_MODEL_DICTIONARY_H
#define SEEP_LIBPROF_MODEL_DICTIONARY_H

#include "libprof/base/pair_index.h"
#include "libprof/format/profile_format.h"

#include <stdbool.h>

struct seep_dict_module {
    uint32_t path;     /* string */
    uint32_t build_id; /* string, 0 none */
};

/* Frames that stand for no code: kind native, module 0. */
enum seep_pseudo_frame { SEEP_PSEUDO_UNKNOWN = 0, SEEP_PSEUDO_BOUND = 1 };

struct seep_dict_frame {
    uint8_t kind;      /* enum seep_frame_kind; 0 only for id 0 */
    bool pseudo;       /* `where` is an enum seep_pseudo_frame */
    uint32_t source;   /* Python: file string; native: module, 0 none */
    uint32_t function; /* Python: co_name */
    uint32_t qualname; /* Python: co_qualname, 0 unknown */
    uint64_t where;    /* Python: line, 0 unknown; native: offset in the module */
};

/* Stacks are what a model has most of. While they are added the index knows a stack by its two
 * words: the flag is set once all is merged, see stages/model_build.c. */
struct seep_dict_stack {
    uint32_t parent; /* 0: the frame is the outermost */
    uint32_t frame : 31, in_worker_loop : 1;
};

struct seep_dictionary {
    char *text;
    size_t text_bytes, text_capacity;
    size_t *string_at; /* offsets into text, NUL-terminated there */
    size_t n_strings, strings_capacity;
    struct seep_dict_module *modules;
    size_t n_modules, modules_capacity;
    struct seep_dict_frame *frames;
    size_t n_frames, frames_capacity;
    struct seep_dict_stack *stacks;
    size_t n_stacks, stacks_capacity;
    uint16_t *depths; /* of the stacks, until nothing is added any more */
    size_t depths_capacity;
    struct seep_hash_index string_index, module_index, frame_index;
    struct seep_pair_index stack_index;
    bool failed;
};

SEEP_MUST_CHECK int seep_dictionary_init(struct seep_dictionary *d);

/* Nothing is added any more: frees what only that needs. */
void seep_dictionary_seal(struct seep_dictionary *d);
void seep_dictionary_fini(struct seep_dictionary *d);

/* `n` bytes, cut at the first NUL and at 4096; 0 once half a GiB of texts is there. */
uint32_t seep_dictionary_string(struct seep_dictionary *d, const char *text, size_t n);
uint32_t seep_dictionary_module(struct seep_dictionary *d, uint32_t path, uint32_t build_id);
uint32_t seep_dictionary_frame(struct seep_dictionary *d, const struct seep_dict_frame *frame);

/* The node below `parent`; deeper than SEEP_MAX_STACK_DEPTH it is `parent` itself. */
uint32_t seep_dictionary_stack(struct seep_dictionary *d, uint32_t parent, uint32_t frame);

/* The number of its frames. */
unsigned seep_dictionary_depth(const struct seep_dictionary *d, uint32_t stack);

static inline bool seep_dictionary_in_worker_loop(const struct seep_dictionary *d, uint32_t stack)
{
    return d->stacks[stack].in_worker_loop;
}

/* Never NULL; valid until the next string is added. */
const char *seep_dictionary_text(const struct seep_dictionary *d, uint32_t string);

#endif
