/* Reads a pickle (protocols 2 to 5) without making its objects: a stack of small values, on which
 * each container is replaced by what its reader makes of it. So a list of a million dicts takes the
 * memory of what is kept of each.
 *
 * Only plain data are read: containers, numbers and texts. An opcode that would import, call or
 * fetch something is refused by its name. Everything in a pickle is untrusted; memory is bounded by
 * the bytes read, whatever lengths and numbers they claim. */
#ifndef SEEP_LIBPROF_TORCH_PICKLE_READ_H
#define SEEP_LIBPROF_TORCH_PICKLE_READ_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum seep_pickle_kind {
    SEEP_PICKLE_OTHER, /* None, bytes, a tuple, a set: the maker may know what a tuple is */
    SEEP_PICKLE_MARK,  /* never given to the maker */
    SEEP_PICKLE_INT,   /* `number`; a bool is 0 or 1 */
    SEEP_PICKLE_FLOAT, /* `real` */
    SEEP_PICKLE_TEXT,  /* `from`: as the maker numbered it */
    SEEP_PICKLE_DICT,  /* of which the maker has made nothing */
    SEEP_PICKLE_LIST,
    SEEP_PICKLE_OWN, /* from here on to 15: the maker's, `from` is its number */
};

enum { SEEP_PICKLE_MOST_KINDS = 16 };

struct seep_pickle_value {
    uint8_t kind;
    uint8_t of;     /* the maker's, of a list: the kind of its items */
    uint16_t depth; /* the maker's, of a list: it is of lists */
    uint32_t memo_plus_1;
    union {
        int64_t number;
        double real;
        struct {
            uint32_t from, to; /* `to` and a list's `from`: the maker's */
        };
    };
};

/* Who makes something of texts and containers. Returns are 0 or an error, which ends the reading.
 */
struct seep_pickle_maker {
    void *context;
    int (*text)(void *context, const char *bytes, size_t n, uint32_t *number);
    /* Items were added: n / 2 pairs of key and value. *dict may become a value of the maker's. */
    int (*dict)(void *context, struct seep_pickle_value *dict,
                const struct seep_pickle_value *items, size_t n);
    /* Called with no items, too. */
    int (*list)(void *context, struct seep_pickle_value *list,
                const struct seep_pickle_value *items, size_t n);
    /* All of a tuple's items. */
    int (*tuple)(void *context, struct seep_pickle_value *tuple,
                 const struct seep_pickle_value *items, size_t n);
};

/* Where the bytes come from: how many were read, 0 at the end, −1 on an error. */
struct seep_pickle_source {
    void *context;
    int64_t (*read)(void *context, void *buffer, size_t n);
};

enum { SEEP_PICKLE_TEXT_BYTES = 4096 }; /* longer texts are cut */

/* Reads one pickle. Of one that ends early, what has begun is closed as it is: then *is_cut is
 * set. Returns 0; -SEEP_EFORMAT with the reason and the offset; -SEEP_EIO; -SEEP_ENOMEM; or an
 * error of the maker's. */
SEEP_MUST_CHECK int seep_pickle_read(const struct seep_pickle_source *source,
                                     const struct seep_pickle_maker *maker, bool *is_cut,
                                     struct seep_pickle_value *result, struct seep_error *err);

/* Whether bytes begin a pickle of one of these protocols. */
static inline bool seep_pickle_begins(const uint8_t *bytes, size_t n)
{
    return n >= 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5;
}

#endif
