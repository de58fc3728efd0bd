#include "libprof/model/stages/model_stages.h"

#include <string.h>

int seep_fork_links_find(struct seep_model *m)
{
    struct seep_hash_index by_name = {0};
    int rc = 0;

    seep_model_begin(m, SEEP_MODEL_LINKED);
    for (uint32_t i = 0; i < m->n_processes && !rc; i++) {
        const char *name = m->processes[i].id.file;
        rc = seep_hash_add(&by_name, seep_hash_bytes(name, strlen(name)), i);
    }
    for (uint32_t i = 0; i < m->n_processes && !rc; i++) {
        struct seep_model_process *p = &m->processes[i];
        const char *name = p->profile ? seep_profile_parent_name(p->profile) : NULL;
        if (p->profile && p->profile->header->inherited_end > SEEP_HEADER_BYTES)
            p->orphaned = true;
        if (!name)
            continue;
        uint64_t hash = seep_hash_bytes(name, strlen(name));
        uint32_t at = seep_hash_begin(&by_name, hash), k;
        while ((k = seep_hash_next(&by_name, hash, &at)) != SEEP_HASH_NONE) {
            const struct seep_model_process *q = &m->processes[k];
            /* A parent began earlier: sorted by start, links cannot form a ring. */
            if (k < i && q->folder == p->folder && q->profile && strcmp(q->id.file, name) == 0) {
                p->profile->parent = q->profile;
                p->parent = k + 1;
                p->orphaned = q->orphaned;
                break;
            }
        }
    }
    seep_hash_fini(&by_name);
    return rc;
}
