/* A subject with several sections: runs the one that its first argument names. */
#ifndef SEEP_TESTS_SUBJECTS_SECTIONS_H
#define SEEP_TESTS_SUBJECTS_SECTIONS_H

#include "tally.h"

struct section {
    const char *name;
    void (*run)(void);
};

/* The subject's status: 2 where there is no such section. */
static int run_section(int argc, char **argv, const struct section *sections, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (argc > 1 && strcmp(argv[1], sections[i].name) == 0) {
            sections[i].run();
            tally_write("ok\n", 3);
            (void)tally_print, (void)tally_gone, (void)tally_shrunk, (void)tally_random;
            return 0;
        }
    return 2;
}

#endif
