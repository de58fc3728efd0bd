#include "libprof/model/stages/process_tree.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/model/stages/model_stages.h"
#include "libprof/model/stages/process_import.h"

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

enum { MAX_DEPTH = 64 }; /* who forges a ring of parents goes round this often */

/* Who started whom, by pid, with those that have no profile: they may lie in between. */
struct family {
    uint32_t *pids, *ppids;
    size_t n;
    struct seep_hash_index by_pid;
};

static int add_member(struct family *f, uint32_t pid, uint32_t ppid)
{
    f->pids[f->n] = pid;
    f->ppids[f->n] = ppid;
    return seep_hash_add(&f->by_pid, pid, (uint32_t)f->n++);
}

static int read_family(const struct seep_model *m, struct family *f)
{
    size_t n = m->n_processes;
    int rc = 0;

    for (size_t i = 0; i < m->n_jobs; i++)
        n += m->jobs[i] ? m->jobs[i]->n_processes : 0;
    f->pids = calloc(n + 1, sizeof *f->pids);
    f->ppids = calloc(n + 1, sizeof *f->ppids);
    if (!f->pids || !f->ppids)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < m->n_processes && !rc; i++)
        rc = add_member(f, m->processes[i].id.pid, m->processes[i].id.ppid);
    for (size_t i = 0; i < m->n_jobs; i++) {
        for (uint32_t k = 0; m->jobs[i] && k < m->jobs[i]->n_processes && !rc; k++)
            rc = add_member(f, m->jobs[i]->processes[k].pid, m->jobs[i]->processes[k].ppid);
    }
    return rc;
}

static void forget_family(struct family *f)
{
    free(f->pids);
    free(f->ppids);
    seep_hash_fini(&f->by_pid);
}

/* 0: not known. */
static uint32_t parent_of(const struct family *f, uint32_t pid)
{
    uint32_t at = seep_hash_begin(&f->by_pid, pid), k;

    while ((k = seep_hash_next(&f->by_pid, pid, &at)) != SEEP_HASH_NONE) {
        if (f->pids[k] == pid)
            return f->ppids[k];
    }
    return 0;
}

static bool descends(const struct family *f, uint32_t pid, uint32_t from)
{
    for (int depth = 0; pid && depth < MAX_DEPTH; depth++) {
        if (pid == from)
            return true;
        pid = parent_of(f, pid);
    }
    return false;
}

/* A forked process's stacks begin in the profile of whom it was forked from. Returns whether one
 * more has to stay. */
static bool keep_forked_from(const struct seep_model *m, bool *keep)
{
    bool found = false;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const char *name = keep[i] && p->profile ? seep_profile_parent_name(p->profile) : NULL;
        for (size_t k = 0; name && k < m->n_processes; k++) {
            const struct seep_model_process *q = &m->processes[k];
            if (!keep[k] && q->folder == p->folder && strcmp(q->id.file, name) == 0)
                found = keep[k] = true;
        }
    }
    return found;
}

static void drop_others(struct seep_model *m, const bool *keep)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        if (keep[i])
            m->processes[n++] = m->processes[i];
        else
            seep_process_fini(&m->processes[i]);
    }
    m->n_processes = n;
}

int seep_process_tree_keep(struct seep_model *m, uint32_t pid)
{
    bool *keep = calloc(m->n_processes + 1, sizeof *keep), found = false;
    struct family family = {0};
    int rc = keep ? read_family(m, &family) : -SEEP_ENOMEM;

    for (size_t i = 0; i < m->n_processes && !rc; i++) {
        found = found || m->processes[i].id.pid == pid;
        keep[i] = descends(&family, m->processes[i].id.pid, pid);
    }
    if (!rc && !found)
        rc = -SEEP_ENODATA;
    while (!rc && keep_forked_from(m, keep))
        ;
    if (!rc)
        drop_others(m, keep);
    forget_family(&family);
    free(keep);
    return rc;
}

int seep_process_tree_keep_bares(struct seep_model *m, uint32_t pid)
{
    struct family family = {0};
    int rc = read_family(m, &family);
    size_t n = 0;

    for (size_t i = 0; i < m->n_unprofiled && !rc; i++) {
        if (descends(&family, m->unprofiled[i].entry->pid, pid))
            m->unprofiled[n++] = m->unprofiled[i];
    }
    if (!rc)
        m->n_unprofiled = n;
    forget_family(&family);
    return rc;
}
