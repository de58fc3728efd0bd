/* What functions are, besides their part in a training job: by the rules of roles.toml that say
 * `is`. */
#ifndef SEEP_LIBPROF_CODE_FUNCTION_KINDS_H
#define SEEP_LIBPROF_CODE_FUNCTION_KINDS_H

#include "libprof/code/part_rules.h"
#include "libprof/code/symbols.h"
#include "libprof/model/dictionary.h"

/* A function of the user's native code as rules see it: its name without parameters, template
 * arguments, return type and the compiler's suffixes. */
struct seep_native_name {
    char function[256]; /* "load" of "Scenes::load(int) const"; "": unknown */
    char qualname[256]; /* "Scenes::load" */
    const char *file;   /* never NULL */
};

void seep_native_name_set(struct seep_native_name *name, const struct seep_symbol *symbol);

struct seep_function_kinds {
    uint16_t *of_frame; /* by frame of the dictionary: bits of 1 << enum seep_function_kind */
    uint8_t *named_by;  /* which of the calls inlined at its address names it */
};

static inline bool seep_function_kinds_is(const struct seep_function_kinds *kinds, uint32_t frame,
                                          enum seep_function_kind kind)
{
    return (kinds->of_frame[frame] >> kind) & 1;
}

/* The function, file and line that name a native frame: of the calls inlined at its address, the
 * innermost that is no allocator, else the innermost. NULL: unknown. */
const struct seep_symbol *seep_function_kinds_symbol(const struct seep_function_kinds *kinds,
                                                     const struct seep_symbols *symbols,
                                                     uint32_t frame);

/* Looks up the names of the user's native code, and of what asked for memory in threads that run
 * none, and asks the rules about each frame. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_function_kinds_init(struct seep_function_kinds *kinds,
                                             const struct seep_dictionary *d,
                                             const struct seep_part_rules *rules,
                                             struct seep_symbols *symbols);
void seep_function_kinds_fini(struct seep_function_kinds *kinds);

/* Which of all frames are of a kind: [n_frames], to be freed by the caller. NULL without memory. */
bool *seep_function_kinds_marks(const struct seep_function_kinds *kinds, size_t n_frames,
                                enum seep_function_kind kind);

#endif
