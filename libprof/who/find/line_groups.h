/* The lines of code that made the live blocks of a frozen copy: sites are grouped by the line to
 * show to the user, as in findings. */
#ifndef SEEP_LIBPROF_WHO_FIND_LINE_GROUPS_H
#define SEEP_LIBPROF_WHO_FIND_LINE_GROUPS_H

#include <jansson.h>

#include "libprof/base/hash_index.h"
#include "libprof/code/function_kinds.h"
#include "libprof/code/stack_lines.h"
#include "libprof/read/profile_read.h"

/* What is live of each site: how many blocks, and bytes. */

struct seep_site_sum {
    uint32_t site; /* as in a block of a snapshot */
    uint64_t blocks, bytes;
};

/* Zero-initialised is empty. */
struct seep_site_sums {
    struct seep_site_sum *list; /* [n] each site once */
    size_t n, capacity;
    struct seep_hash_index by_site;
};

/* Adds blocks of so many bytes each. Returns 0 or -SEEP_ENOMEM. Allocates. */
SEEP_MUST_CHECK int seep_site_sums_add(struct seep_site_sums *sums, uint32_t site, uint64_t bytes,
                                       uint32_t n);

/* The place of a site in the list; `n` if it is not there. */
size_t seep_site_sums_find(const struct seep_site_sums *sums, uint32_t site);
void seep_site_sums_fini(struct seep_site_sums *sums);

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
