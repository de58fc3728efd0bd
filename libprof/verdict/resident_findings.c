/* Findings on memory that no hook saw: on the host by RSS, on devices by what their driver says. */
#include "libprof/verdict/diagnosis.h"

#include "libprof/base/text.h"
#include "libprof/measure/device_memory.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/finding_list.h"
#include "libprof/words/step_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more finding. Returns 0 or -SEEP_ENOMEM. */
static int make_room(struct seep_findings *out)
{
    struct seep_finding *list = reallocarray(out->list, out->n + 1, sizeof *list);

    if (!list)
        return -SEEP_ENOMEM;
    out->list = list;
    return 0;
}

static void describe(const struct seep_model *m, const struct seep_rss *rss, struct seep_finding *f)
{
    const struct seep_rss_sample *sum = &rss->peak.sum;
    const char *unit = seep_step_unit(m->step_source == SEEP_STEP_TIME);
    char each[SEEP_SIZE_TEXT], one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];

    f->title = seep_text_format("Memory that seep cannot see grows by %s a %s",
                                seep_text_size(rss->unexplained.slope.value, each), unit);
    f->advice = strdup("Look under \"not seen\" for a library with its own allocator. Otherwise "
                       "look which mappings grow (run pmap -X PID twice): a driver's, those of a "
                       "library that maps memory without libc, or [heap], which grows when code "
                       "calls malloc through a handle of its own (ctypes, dlsym).");
    seep_finding_note(f,
                      "Resident memory that is neither heap, mappings, shared memory, stack nor a "
                      "known file went from %s to %s over %ss %d to %d",
                      seep_text_size(rss->unexplained.first, one),
                      seep_text_size(rss->unexplained.last, other), unit, (int)rss->from,
                      (int)rss->to);
    if (rss->peak.parts_known && rss->peak.step > 0 && sum->rss_bytes)
        seep_finding_note(f, "In %s %d it was %s of %s RSS (%.0f %%)", unit, (int)rss->peak.step,
                          seep_text_size((double)sum->unexplained_bytes, one),
                          seep_text_size((double)sum->rss_bytes, all),
                          100.0 * (double)sum->unexplained_bytes / (double)sum->rss_bytes);
    if (rss->heap_free.growing)
        seep_finding_note(f, "Free memory in malloc's arenas also grows, by %s a %s",
                          seep_text_size(rss->heap_free.slope.value, each), unit);
}

static int add_unexplained(const struct seep_model *m, const struct seep_rss_table *t,
                           struct seep_findings *out)
{
    const struct seep_rss *job = &t->job;
    struct seep_finding f = {
        .pattern = SEEP_PATTERN_UNDETERMINED,
        .severity = SEEP_INFO,
        .confidence = SEEP_LIKELY,
        .part = SEEP_PART_OTHER,
        .space = m->host,
        .live_bytes = (uint64_t)fmax(job->unexplained.last, 0),
        .peak_bytes =
            (uint64_t)fmax(job->unexplained.last, (double)job->peak.sum.unexplained_bytes),
        .growth = job->unexplained.slope,
        .first_step = job->from,
        .sites = calloc(1, sizeof *f.sites),
        .processes = calloc(m->n_processes + 1, sizeof *f.processes),
    };

    if (!f.sites || !f.processes || make_room(out)) {
        seep_finding_fini(&f);
        return -SEEP_ENOMEM;
    }
    for (uint32_t i = 0; i < m->n_processes; i++) {
        if (t->of_process[i].unexplained.growing)
            f.processes[f.n_processes++] = i;
    }
    seep_finding_set_limit(m, &out->resident, &f);
    describe(m, job, &f);
    out->list[out->n++] = f;
    return 0;
}

/* The rule for the heap's cache knows what was taken beyond live memory; samples know that it is
 * free. */
static void note_fragmentation(const struct seep_model *m, const struct seep_rss *job,
                               struct seep_findings *out)
{
    char each[SEEP_SIZE_TEXT];

    for (size_t i = 0; i < out->n && job->heap_free.growing; i++) {
        struct seep_finding *f = &out->list[i];
        if (f->pattern == SEEP_PATTERN_ALLOCATOR_CACHE && f->space == m->host)
            seep_finding_note(f, "Free memory in malloc's arenas grows by %s a %s",
                              seep_text_size(job->heap_free.slope.value, each),
                              seep_step_unit(m->step_source == SEEP_STEP_TIME));
    }
}

int seep_rss_judge(const struct seep_model *m, const struct seep_rss_table *table,
                   struct seep_findings *out)
{
    note_fragmentation(m, &table->job, out);
    return table->job.unexplained.growing ? add_unexplained(m, table, out) : 0;
}

/* ---- contexts of ranks on each other's devices ------------------------------------------------
 */

static struct seep_finding *find_wrong_device(const struct seep_model *m, struct seep_findings *out,
                                              int device)
{
    for (size_t i = 0; i < out->n; i++) {
        struct seep_finding *f = &out->list[i];
        if (f->pattern == SEEP_PATTERN_WRONG_DEVICE && m->spaces[f->space].name.device == device)
            return f;
    }
    return NULL;
}

/* The space of a device, or that of its tensors: whichever has anything recorded. */
static bool space_of_device(const struct seep_model *m, int device, uint16_t *space)
{
    for (*space = 0; *space < m->n_spaces; ++*space) {
        const struct seep_space_name *name = &m->spaces[*space].name;
        if ((name->class == SEEP_CLASS_DEVICE || name->class == SEEP_CLASS_TENSOR) &&
            name->device == device)
            return true;
    }
    return false;
}

static int add_contexts(const struct seep_model *m, uint16_t space, const uint32_t *whose, size_t n,
                        uint64_t bytes, struct seep_findings *out)
{
    char size[SEEP_SIZE_TEXT];
    struct seep_finding f = {
        .pattern = SEEP_PATTERN_WRONG_DEVICE,
        .severity = SEEP_RETENTION,
        .confidence = SEEP_CERTAIN,
        .part = SEEP_PART_OTHER,
        .space = space,
        .live_bytes = bytes,
        .peak_bytes = bytes,
        .saving_bytes = bytes,
        .steps_to_limit = -1,
        .sites = calloc(1, sizeof *f.sites),
        .processes = calloc(n + 1, sizeof *f.processes),
    };

    if (!f.sites || !f.processes || make_room(out)) {
        seep_finding_fini(&f);
        return -SEEP_ENOMEM;
    }
    memcpy(f.processes, whose, n * sizeof *whose);
    f.n_processes = n;
    f.title = seep_text_format("Ranks have a CUDA context on another rank's GPU: %s",
                               seep_text_size((double)bytes, size));
    seep_finding_note(&f,
                      "The driver says that %zu rank%s with %s own GPU also use%s GPU %d: for a "
                      "CUDA context and its code, not for blocks of the program",
                      n, n == 1 ? "" : "s", n == 1 ? "its" : "their", n == 1 ? "s" : "",
                      m->spaces[space].name.device);
    out->list[out->n++] = f;
    return 0;
}

int seep_contexts_judge(const struct seep_model *m, struct seep_findings *out)
{
    uint32_t *whose = calloc(m->n_processes + 1, sizeof *whose);
    int rc = whose ? 0 : -SEEP_ENOMEM;

    for (int device = 0; device < SEEP_MAX_DEVICES && !rc; device++) {
        struct seep_finding *known = find_wrong_device(m, out, device);
        char size[SEEP_SIZE_TEXT];
        uint64_t bytes = 0;
        uint16_t space;
        size_t n = 0;
        for (uint32_t i = 0; i < m->n_processes; i++) {
            const uint64_t its = m->processes[i].recording.uses[device].used_bytes;
            if (its < SEEP_T_PEAK_BYTES || !seep_device_is_anothers(m, &m->processes[i], device))
                continue;
            whose[n++] = i;
            bytes = seep_sum(bytes, its);
        }
        if (n && known)
            seep_finding_note(known, "With their contexts they use %s of that GPU",
                              seep_text_size((double)bytes, size));
        else if (n && space_of_device(m, device, &space))
            rc = add_contexts(m, space, whose, n, bytes, out);
    }
    free(whose);
    return rc;
}
