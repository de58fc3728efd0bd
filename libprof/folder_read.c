#include "libprof/folder_read.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 1 << 16, MAX_FOLLOWS = 64 };

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);

    return n > k && strcmp(name + n - k, suffix) == 0;
}

static int add_process(struct seep_model *m, size_t *capacity, struct seep_profile *profile,
                       uint32_t folder)
{
    if (m->n_processes >= MAX_FILES)
        return -SEEP_ENOMEM;
    if (seep_grow(&m->processes, capacity, m->n_processes + 1, sizeof *m->processes))
        return -SEEP_ENOMEM;
    struct seep_model_process *p = &m->processes[m->n_processes++];
    memset(p, 0, sizeof *p);
    p->profile = profile;
    p->folder = folder;
    return 0;
}

static int add_job(struct seep_model *m, const char *dir)
{
    struct seep_job **jobs = realloc(m->jobs, (m->n_jobs + 1) * sizeof *jobs);
    char path[4096];

    if (!jobs)
        return -SEEP_ENOMEM;
    m->jobs = jobs;
    m->jobs[m->n_jobs++] = NULL;
    if (snprintf(path, sizeof path, "%s/%s", dir, SEEP_JOB_FILE) >= (int)sizeof path)
        return 0;
    struct seep_error why = {0};
    int rc = seep_job_read(path, &m->jobs[m->n_jobs - 1], &why);
    if (rc == -SEEP_ENOMEM)
        return rc;
    if (rc)
        seep_model_not_read(m, SEEP_JOB_FILE, why.text);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the profiles in `dir`, sorted, so that a report does not hang on the folder's order. */
static int list_files(const char *dir, char ***names, size_t *n, struct seep_error *err)
{
    size_t capacity = 0;
    struct dirent *entry;
    int rc = 0;
    DIR *stream = opendir(dir);

    *names = NULL;
    *n = 0;
    if (!stream)
        return seep_error_set(err, SEEP_EIO, dir, 0, "cannot read the folder: %s", strerror(errno));
    while (!rc && (entry = readdir(stream)) && *n < MAX_FILES) {
        if (!has_suffix(entry->d_name, SEEP_PROFILE_SUFFIX) || entry->d_name[0] == '.')
            continue;
        char *name = strdup(entry->d_name);
        if (!name || seep_grow(names, &capacity, *n + 1, sizeof **names)) {
            free(name);
            rc = seep_error_set(err, SEEP_ENOMEM, dir, 0, "no memory");
        } else {
            (*names)[(*n)++] = name;
        }
    }
    closedir(stream);
    if (*n)
        qsort(*names, *n, sizeof **names, compare_names);
    return rc;
}

static int open_file(struct seep_model *m, size_t *capacity, const char *dir, const char *name,
                     uint32_t folder)
{
    struct seep_profile *profile;
    struct seep_error why = {0};
    char path[4096];

    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) {
        seep_model_not_read(m, name, "the path is too long");
        return 0;
    }
    int rc = seep_profile_open(path, &profile, &why);
    if (rc == -SEEP_ENOMEM)
        return rc;
    if (rc) {
        seep_model_not_read(m, name, why.text);
        return 0;
    }
    rc = add_process(m, capacity, profile, folder);
    if (rc)
        seep_profile_close(profile);
    return rc;
}

static int open_folder(struct seep_model *m, size_t *capacity, const char *dir, uint32_t folder,
                       struct seep_error *err)
{
    char **names;
    size_t n;
    int rc = list_files(dir, &names, &n, err);

    if (!rc)
        rc = add_job(m, dir);
    for (size_t i = 0; i < n && !rc; i++)
        rc = open_file(m, capacity, dir, names[i], folder);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return rc;
}

static int by_start(const void *a, const void *b)
{
    const struct seep_model_process *p = a, *q = b;

    if (p->profile->header->start_unix_ns != q->profile->header->start_unix_ns)
        return p->profile->header->start_unix_ns < q->profile->header->start_unix_ns ? -1 : 1;
    return strcmp(p->profile->name, q->profile->name);
}

/* Links each forked profile to the file of the process it was forked from. */
static int link_parents(struct seep_model *m)
{
    struct seep_hash_index by_name = {0};
    int rc = 0;

    for (uint32_t i = 0; i < m->n_processes && !rc; i++) {
        const char *name = m->processes[i].profile->name;
        rc = seep_hash_add(&by_name, seep_hash_bytes(name, strlen(name)), i);
    }
    for (uint32_t i = 0; i < m->n_processes && !rc; i++) {
        struct seep_model_process *p = &m->processes[i];
        const char *name = seep_profile_parent_name(p->profile);
        if (p->profile->header->inherited_end > SEEP_HEADER_BYTES)
            p->orphaned = true;
        if (!name)
            continue;
        uint64_t hash = seep_hash_bytes(name, strlen(name));
        uint32_t at = seep_hash_begin(&by_name, hash), k;
        while ((k = seep_hash_next(&by_name, hash, &at)) != SEEP_HASH_NONE) {
            const struct seep_model_process *q = &m->processes[k];
            /* A parent began earlier: sorted by start, links cannot form a ring. */
            if (k < i && q->folder == p->folder && strcmp(q->profile->name, name) == 0) {
                p->profile->parent = q->profile;
                p->orphaned = q->orphaned;
                break;
            }
        }
    }
    seep_hash_fini(&by_name);
    return rc;
}

/* Times of an untrusted file stay where sums and floating point cannot go wrong: 73 years. */
#define MAX_NS (UINT64_C(1) << 61)

static uint64_t bounded_ns(uint64_t t_ns)
{
    return t_ns < MAX_NS ? t_ns : MAX_NS;
}

static uint64_t last_seen(const struct seep_header *h)
{
    uint64_t t = h->end_ns ? h->end_ns : h->last_ns;

    for (uint32_t i = 0; i < h->n_timeline && !h->end_ns; i++) {
        if (h->timeline[i].t_ns > t)
            t = h->timeline[i].t_ns;
    }
    return bounded_ns(t > h->start_ns ? t : h->start_ns);
}

static void settle_axis(struct seep_model_process *p)
{
    const struct seep_process *e = p->entry;

    p->start_ns = bounded_ns(p->profile->header->start_ns);
    p->end_ns = last_seen(p->profile->header);
    p->axis_start_ns = p->start_ns;
    if (!e)
        return;
    p->steps = e->steps;
    for (int hops = 0; e->follows && hops < MAX_FOLLOWS; hops++) {
        if (e->follows > p->job->n_processes)
            break;
        e = &p->job->processes[e->follows - 1];
    }
    p->period = e->period;
    p->axis_steps = e->first_step_period || e->steps ? e->steps : 0;
    p->axis_first = e->first_step_period;
    p->axis_start_ns = e->start_ns ? bounded_ns(e->start_ns) : p->start_ns;
}

static void choose_main(struct seep_model *m)
{
    m->main = m->root = 0;
    for (uint32_t i = 1; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i], *best = &m->processes[m->main];
        bool python = p->profile->header->python_version != 0;
        bool best_python = best->profile->header->python_version != 0;
        if (p->steps > best->steps || (p->steps == best->steps && python && !best_python))
            m->main = i;
    }
}

static void settle_steps(struct seep_model *m)
{
    const struct seep_model_process *main = &m->processes[m->main];

    m->start_ns = UINT64_MAX;
    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->start_ns < m->start_ns)
            m->start_ns = p->start_ns;
        if (p->end_ns > m->end_ns)
            m->end_ns = p->end_ns;
    }
    if (main->steps) {
        m->n_steps = main->steps < INT32_MAX / 4 ? main->steps : INT32_MAX / 4;
        m->step_source = main->entry->step_source <= SEEP_STEP_API
                             ? (enum seep_step_source)main->entry->step_source
                             : SEEP_STEP_TIME;
    } else {
        uint64_t slices = (m->end_ns - m->start_ns) / (SEEP_TIME_SLICE_MS * UINT64_C(1000000)) + 1;
        m->n_steps = slices < INT32_MAX / 4 ? (uint32_t)slices : INT32_MAX / 4;
        m->step_source = SEEP_STEP_TIME;
    }
}

static int settle_epochs(struct seep_model *m)
{
    const struct seep_model_process *main = &m->processes[m->main];
    const struct seep_header *h = main->profile->header;

    m->epochs = main->entry ? main->entry->epochs : h->n_epochs;
    if (!h->n_epochs)
        return 0;
    m->epoch_starts = calloc(h->n_epochs, sizeof *m->epoch_starts);
    if (!m->epoch_starts)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < h->n_epochs; i++) {
        int32_t step = seep_model_step(m, main, h->epochs[i].period);
        /* A validation loader's iteration begins where no training step has been made since. */
        if (m->n_epoch_starts && step <= m->epoch_starts[m->n_epoch_starts - 1])
            continue;
        m->epoch_starts[m->n_epoch_starts++] = step;
    }
    return 0;
}

static int settle(struct seep_model *m)
{
    qsort(m->processes, m->n_processes, sizeof *m->processes, by_start);
    for (uint32_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        uint32_t at = p->profile->header->process_plus_1;
        p->job = p->folder < m->n_jobs ? m->jobs[p->folder] : NULL;
        if (p->job && at && at <= p->job->n_processes &&
            p->job->processes[at - 1].pid == p->profile->header->pid)
            p->entry = &p->job->processes[at - 1];
        settle_axis(p);
    }
    int rc = link_parents(m);
    if (rc)
        return rc;
    choose_main(m);
    settle_steps(m);
    return settle_epochs(m);
}

int seep_folder_read(const char *const *dirs, size_t n_dirs, struct seep_model *m,
                     struct seep_error *err)
{
    size_t capacity = 0;
    int rc = seep_dictionary_init(&m->dict);

    for (size_t i = 0; i < n_dirs && !rc; i++)
        rc = open_folder(m, &capacity, dirs[i], (uint32_t)i, err);
    if (rc == -SEEP_ENOMEM)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    if (rc)
        return rc;
    if (!m->n_processes) {
        const char *why = m->n_not_read ? m->not_read[0].reason : "no profile is in it";
        return seep_error_set(err, SEEP_ENODATA, n_dirs ? dirs[0] : "", 0, "%s", why);
    }
    rc = settle(m);
    return rc ? seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory") : 0;
}

int seep_folder_adopt(struct seep_profile **profiles, size_t n, struct seep_job *job,
                      struct seep_model *m)
{
    size_t capacity = 0;
    int rc = seep_dictionary_init(&m->dict);

    m->jobs = rc ? NULL : calloc(1, sizeof *m->jobs);
    if (!m->jobs)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        rc = add_process(m, &capacity, profiles[i], 0);
        if (rc) {
            m->n_processes = 0;
            return rc;
        }
    }
    m->n_jobs = 1;
    m->jobs[0] = job;
    if (!n)
        return -SEEP_ENODATA;
    rc = settle(m);
    if (rc) {
        m->n_processes = 0;
        m->jobs[0] = NULL;
    }
    return rc;
}
