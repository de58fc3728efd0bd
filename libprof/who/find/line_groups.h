/* The lines of code that made the live blocks of a frozen copy: sites are grouped by the line to
 * show to the user, as in findings. */
#ifndef SEEP_LIBPROF_WHO_FIND_LINE_GROUPS_H
#define SEEP_LIBPROF_WHO_FIND_LINE_GROUPS_H

#include "libprof/code/function_kinds.h"
#include "libprof/code/stack_lines.h"
#include "libprof/read/profile_read.h"
#include "libprof/who/find/site_sums.h"

#include <jansson.h>

#define SEEP_NO_LINE UINT32_MAX

struct seep_line_group {
    uint32_t frame; /* of the dictionary */
    uint64_t blocks, bytes;
};

struct seep_line_groups {
    struct seep_line_group *lines; /* those that hold most first */
    size_t n_lines;
    uint32_t *of_site; /* [n_sites] index in lines[]; SEEP_NO_LINE: the site is unknown */
    size_t n_sites;
    struct seep_dictionary dict;
    struct seep_part_rules *rules;
    struct seep_symbols *symbols;
    struct seep_function_kinds kinds;
    struct seep_stack_lines stacks;
};

/* Groups the sites of the process, given its loaded profile and those that it inherits from; writes
 * to their memos. `roles_file`: NULL for the shipped rules. Returns 0, -SEEP_ENOMEM, or the error
 * of the rules. seep_line_groups_fini() in either case. */
SEEP_MUST_CHECK int seep_line_groups_init(struct seep_line_groups *g, struct seep_profile *profile,
                                          const struct seep_site_sums *sites,
                                          const char *roles_file, struct seep_error *err);
void seep_line_groups_fini(struct seep_line_groups *g);

/* The frame of a line, as in a finding, but without names for libraries' native code: module and
 * offset identify it, and looking up names takes a second of CPU time. A new reference, NULL
 * without memory. */
json_t *seep_line_groups_frame(const struct seep_line_groups *g, size_t line);

#endif
