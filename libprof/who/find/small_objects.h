/* Who holds Python's small objects. They lie in arenas, and chance decides which line asks for an
 * arena: they are no line's, and are told by what retains them. */
#ifndef SEEP_LIBPROF_WHO_FIND_SMALL_OBJECTS_H
#define SEEP_LIBPROF_WHO_FIND_SMALL_OBJECTS_H

#include "libprof/who/ways/answer.h"

enum { SEEP_SMALL_HOLDERS = 32, SEEP_SMALL_UNHELD = 8 };

struct seep_small_holder {
    struct seep_answer_path path; /* to it, with the small objects that it retains */
    uint32_t table; /* the site of its table of entries, which a line enlarged; 0: not known */
};

struct seep_small_objects {
    uint64_t blocks, bytes;         /* all of them that are live */
    struct seep_small_holder *list; /* [n] the one that retains most comes first; one may be within
                                     * another. What nobody holds comes behind them */
    size_t n;
};

/* `site`: that of their nodes; sites below it are those of lines. `reach` has run. Returns 0 or
 * -SEEP_ENOMEM. Allocates; seep_small_objects_fini() in either case. */
SEEP_MUST_CHECK int seep_small_objects_find(struct seep_small_objects *found,
                                            struct seep_reach *reach, uint32_t site, bool keys);
/* Adds those that no root reaches, by what keeps them: cycles, references that were never given
 * back, nothing. After seep_answer_lines(), which finds that out. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_small_objects_add_unheld(struct seep_small_objects *found,
                                                  struct seep_reach *reach, uint32_t site,
                                                  bool keys);
void seep_small_objects_fini(struct seep_small_objects *found);

#endif
