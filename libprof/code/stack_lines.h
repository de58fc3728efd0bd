/* Whose code a frame is, which line of a stack the user should look at, and what part of a training
 * job a stack belongs to. */
#ifndef SEEP_LIBPROF_CODE_STACK_LINES_H
#define SEEP_LIBPROF_CODE_STACK_LINES_H

#include "libprof/model/dictionary.h"
#include "libprof/words/parts.h"

struct seep_function_kinds;

/* What is known of each stack of a dictionary, by the stack's id. */
struct seep_stack_lines {
    uint32_t
        *shown;   /* the frame to look at: innermost of the user's own, else the best other one */
    bool *is_own; /* whether it is the user's own code */
    bool *importing; /* inside an import statement */
    uint8_t *part;   /* enum seep_part: by the innermost frame that has one */
    uint16_t *parts; /* bit set of the parts of all frames */
    size_t n_stacks;
    uint32_t *line_of; /* by frame of the dictionary: the frame that stands for its line */
    const struct seep_function_kinds *kinds; /* of their frames */
};

struct seep_part_rules;
struct seep_symbols;

/* Looks at every stack, in linear time. Native code of the user's has the names that
 * seep_function_kinds_init() looked up. `kinds` must outlive *f. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_stack_lines_init(struct seep_stack_lines *f,
                                          const struct seep_dictionary *d,
                                          const struct seep_part_rules *rules,
                                          const struct seep_function_kinds *kinds,
                                          const struct seep_symbols *symbols);

/* Once all is judged: frees what only judges ask, `parts`. */
void seep_stack_lines_judged(struct seep_stack_lines *f);
void seep_stack_lines_fini(struct seep_stack_lines *f);

#endif
