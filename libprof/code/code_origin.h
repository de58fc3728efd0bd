/* Whose code a frame is: the user's, a library's, the import system's, or seep's own. */
#ifndef SEEP_LIBPROF_CODE_CODE_ORIGIN_H
#define SEEP_LIBPROF_CODE_CODE_ORIGIN_H

#include "libprof/model/dictionary.h"

enum seep_origin {
    SEEP_ORIGIN_UNKNOWN = 0,
    SEEP_ORIGIN_USER,
    SEEP_ORIGIN_LIBRARY,
    SEEP_ORIGIN_IMPORT,
    SEEP_ORIGIN_SEEP,
};

/* Whether the code of a native file only passes on what others ask for: allocators, the C and C++
 * libraries, the interpreter and what calls C for it. Pure. */
bool seep_native_passes_on(const char *path);

/* Whether a native file is the interpreter. Pure. */
bool seep_native_is_python(const char *path);

/* Earlier answers, by string and by module. */
struct seep_origins {
    const struct seep_dictionary *d;
    uint8_t *of_string, *of_module;
};

/* `d` gets no further strings or modules while *origins is in use. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_origins_init(struct seep_origins *origins,
                                      const struct seep_dictionary *d);
void seep_origins_fini(struct seep_origins *origins);

/* Never SEEP_ORIGIN_UNKNOWN. */
enum seep_origin seep_origin_of(struct seep_origins *origins, const struct seep_dict_frame *f);

#endif
