/* Whose code a frame is: the user's, a library's, the import system's, or seep's own. */
#ifndef SEEP_LIBPROF_OWNERS_H
#define SEEP_LIBPROF_OWNERS_H

#include "libprof/dictionary.h"

enum seep_owner {
    SEEP_OWNER_UNKNOWN = 0,
    SEEP_OWNER_USER,
    SEEP_OWNER_LIBRARY,
    SEEP_OWNER_IMPORT,
    SEEP_OWNER_SEEP,
};

/* What has been asked before, by string and by module. */
struct seep_owners {
    const struct seep_dictionary *d;
    uint8_t *of_string, *of_module;
};

/* `d` gets no further strings or modules while *owners is in use. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_owners_init(struct seep_owners *owners, const struct seep_dictionary *d);
void seep_owners_fini(struct seep_owners *owners);

/* Never SEEP_OWNER_UNKNOWN. */
enum seep_owner seep_owner_of(struct seep_owners *owners, const struct seep_dict_frame *f);

#endif
