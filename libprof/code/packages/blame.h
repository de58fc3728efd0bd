/* Who may have lost a stack's memory, or keeps it: not who was asked for it, but who asked on
 * behalf of the user's line. */
#ifndef SEEP_LIBPROF_CODE_PACKAGES_BLAME_H
#define SEEP_LIBPROF_CODE_PACKAGES_BLAME_H

#include "libprof/code/code.h"

enum { SEEP_BLAME_NAME = 128, SEEP_BLAME_CHAIN = 512 };

struct seep_blame {
    /* The outermost package between the user's own code and the allocation: "scipy 1.18.1"; the
     * library's file if it is in no package; "": the user's line itself asked. */
    char package[SEEP_BLAME_NAME];
    bool is_own; /* the user's library, not an installed one */
    /* The innermost, in which it was allocated, and its calls, innermost first: "PyArray_IterNew ←
     * diag ← roots"; "": none has a name. */
    char made_in[SEEP_BLAME_NAME], calls[SEEP_BLAME_CHAIN];
};

/* Looks up symbols, and what installers noted beside the files. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_blame_find(const struct seep_code *code, uint32_t stack,
                                    struct seep_blame *blame);

/* Whether a file's code only passes on what others ask for: allocators, the C and C++ libraries,
 * the interpreter and what calls C for it. */
bool seep_blame_passes_on(const struct seep_dictionary *d, const struct seep_dict_frame *frame);

/* Whether a native file was installed, and is not the user's own. */
bool seep_blame_is_library(const char *path);

/* "scipy 1.18.1" for a file of an installed package, with the version if that was there before the
 * job began; else the file's own name. */
void seep_package_name(const struct seep_model *m, const char *path, char name[SEEP_BLAME_NAME]);

#endif
