/* Whose code a frame is, which line of a stack the user should look at, and what part of a training
 * job a stack belongs to. */
#ifndef SEEP_LIBPROF_FRAMES_H
#define SEEP_LIBPROF_FRAMES_H

#include "libprof/dictionary.h"

struct seep_kinds;

enum seep_role {
    SEEP_SITE_OTHER = 0, /* the user's own code, nothing more is known */
    SEEP_SITE_DATASET,
    SEEP_SITE_LOADER,
    SEEP_SITE_CAMERA,
    SEEP_SITE_MODEL,
    SEEP_SITE_BACKWARD,
    SEEP_SITE_OPTIMIZER,
    SEEP_SITE_LOGGING,
    SEEP_SITE_CHECKPOINT,
    SEEP_SITE_COLLECTIVE,
    SEEP_SITE_LIBRARY, /* no frame of the user's */
    SEEP_SITE_N_ROLES
};

/* What is known of each stack of a dictionary, by its id. */
struct seep_frames {
    uint32_t
        *look_at; /* the frame to look at: innermost of the user's own, else the best other one */
    bool *is_own; /* look_at is the user's own code */
    bool *importing; /* inside an import statement */
    uint8_t *role;   /* enum seep_role: by the innermost frame that has one */
    uint16_t *roles; /* bit set of the roles of all frames */
    size_t n_stacks;
    uint32_t *line_of; /* by frame of the dictionary: the one that stands for its line in look_at */
    const struct seep_kinds *kinds; /* of their frames */
};

struct seep_roles;
struct seep_symbols;

/* Looks at every stack, in linear time. Native code of the user's has the names that
 * seep_kinds_init() looked up. `kinds` outlives *f. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_frames_init(struct seep_frames *f, const struct seep_dictionary *d,
                                     const struct seep_roles *roles, const struct seep_kinds *kinds,
                                     const struct seep_symbols *symbols);
void seep_frames_fini(struct seep_frames *f);

/* "dataset" and so on. */
const char *seep_role_name(enum seep_role role);

#endif
