/* The rules that give a frame its part in a training job: roles.toml, preceded by a user's own. */
#ifndef SEEP_LIBPROF_CODE_PART_RULES_H
#define SEEP_LIBPROF_CODE_PART_RULES_H

#include "libprof/base/error.h"
#include "libprof/words/parts.h"

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_MAX_PART_RULES = 1024, SEEP_MAX_CALLER_RULES = 64, SEEP_MAX_KIND_RULES = 256 };

/* What a function is, besides its part: `is` in roles.toml. */
enum seep_function_kind {
    SEEP_FUNCTION_ALLOCATOR,   /* native: allocates on behalf of its caller */
    SEEP_FUNCTION_WORKER_LOOP, /* all that a loader's worker process does */
    SEEP_FUNCTION_GRAPH_NODE,  /* makes nodes of an autograd graph */
    SEEP_FUNCTION_JOIN,        /* makes a larger object of an existing one and something new */
    SEEP_FUNCTION_LOAD,        /* makes objects from a file's content */
    SEEP_FUNCTION_MODULE_LOAD, /* makes parameters of a network that a file holds as a whole */
    SEEP_FUNCTION_STATE_COPY,  /* copies a state into an existing network */
    SEEP_FUNCTION_PARAMETER,   /* makes a parameter of a network from an existing tensor */
    SEEP_FUNCTION_MOMENTS,     /* gives an optimizer the state that a file has of one */
    SEEP_FUNCTION_TWO_MOMENTS, /* steps an optimizer that keeps two moments of each parameter */
    SEEP_FUNCTION_EVALUATION,  /* runs a network over data that it does not learn from */
    SEEP_FUNCTION_CAPTURE,     /* begins to capture a CUDA graph */
    SEEP_FUNCTION_STREAM,      /* yields batches of data that have no order or end of their own */
    SEEP_FUNCTION_MESSAGE,     /* takes an object out of another process's message */
    SEEP_FUNCTION_BATCH,       /* gives a batch of a loader to whoever asks for the next one */
    SEEP_N_FUNCTION_KINDS,
    SEEP_FUNCTION_NOTHING = SEEP_N_FUNCTION_KINDS /* keeps later rules from applying */
};

struct seep_part_rules;

/* Reads the user's rules of `file` (NULL: none), then the shipped rules. Returns 0; -SEEP_EIO;
 * -SEEP_EINVAL if the file is not as roles.toml describes; -SEEP_ENOMEM. Allocates: *set; free with
 * seep_part_rules_free(). */
SEEP_MUST_CHECK int seep_part_rules_load(struct seep_part_rules **set, const char *file,
                                         struct seep_error *err);
void seep_part_rules_free(struct seep_part_rules *set);

/* A frame as rules see it: Python's, or of the user's native code. Strings are not NULL. */
struct seep_rule_frame {
    const char *file, *function,
        *qualname; /* qualname "" before Python 3.11; file: of the source */
    bool own;      /* the user's code */
};

/* SEEP_PART_OTHER if no rule without a caller matches. Pure, as all below. */
enum seep_part seep_part_of_frame(const struct seep_part_rules *set,
                                  const struct seep_rule_frame *f);

/* The answer of the first matching rule that says `is`: 1 << enum seep_function_kind, or 0. */
uint16_t seep_part_rules_kinds_of(const struct seep_part_rules *set,
                                  const struct seep_rule_frame *f);

/* Which of the rules with a caller apply to functions called from this library's file: a bit
 * each. */
uint64_t seep_part_rules_of_caller(const struct seep_part_rules *set, const char *file);

/* The part that the first of these rules gives a frame; SEEP_PART_OTHER for none. *whole_class:
 * whether the frame's class has it too. */
enum seep_part seep_part_of_callee(const struct seep_part_rules *set, uint64_t rules,
                                   const struct seep_rule_frame *f, bool *whole_class);

#endif
