/* The rules that give a frame its role in a training job: roles.toml, and a user's own before it.
 */
#ifndef SEEP_LIBPROF_ROLES_H
#define SEEP_LIBPROF_ROLES_H

#include "libprof/error.h"
#include "libprof/frames.h"

#include <stdbool.h>

enum { SEEP_MAX_ROLE_RULES = 1024, SEEP_MAX_CALLER_RULES = 64, SEEP_MAX_KIND_RULES = 64 };

/* What a function is, beside its role: `is` in roles.toml. */
enum seep_kind {
    SEEP_KIND_ALLOCATOR,   /* native: hands out memory, for its caller's purposes */
    SEEP_KIND_WORKER_LOOP, /* all that a loader's worker process does */
    SEEP_KIND_GRAPH_NODE,  /* makes nodes of an autograd graph */
    SEEP_N_KINDS,
    SEEP_KIND_NOTHING = SEEP_N_KINDS /* takes a later rule back */
};

struct seep_roles;

/* Reads the shipped rules and before them those of `file` (NULL: none). Returns 0; -SEEP_EIO;
 * -SEEP_EINVAL when the file does not hold what roles.toml describes; -SEEP_ENOMEM.
 * Allocates: *roles; free with seep_roles_free(). */
SEEP_MUST_CHECK int seep_roles_load(struct seep_roles **roles, const char *file,
                                    struct seep_error *err);
void seep_roles_free(struct seep_roles *roles);

/* A frame as rules see it: of Python, or of the user's native code. Strings are not NULL. */
struct seep_role_frame {
    const char *file, *function,
        *qualname; /* qualname "" before Python 3.11; file: of the source */
    bool own;      /* the user's code */
};

/* SEEP_SITE_OTHER where no rule without a caller matches. Pure, as all below. */
enum seep_role seep_roles_of_frame(const struct seep_roles *roles, const struct seep_role_frame *f);

/* What the first rule that says `is` and matches says: 1 << enum seep_kind, or 0. */
uint8_t seep_roles_kinds_of_frame(const struct seep_roles *roles, const struct seep_role_frame *f);

/* Which of the rules with a caller speak of what frames of this library's file call: a bit each. */
uint64_t seep_roles_of_caller(const struct seep_roles *roles, const char *file);

/* The role that the first of these rules gives a frame; SEEP_SITE_OTHER for none. *whole_class says
 * that the frame's class has it too. */
enum seep_role seep_roles_of_callee(const struct seep_roles *roles, uint64_t rules,
                                    const struct seep_role_frame *f, bool *whole_class);

#endif
