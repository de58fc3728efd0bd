#include "libprof/base/text.h"
#include "libprof/measure/resident/memory_files.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/finding_list.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/limit_kind.h"
#include "libprof/words/step_words.h"

#include <math.h>
#include <stdlib.h>

static const struct seep_memory_files *left_by(const struct seep_model *m)
{
    return &m->processes[m->main].job->files;
}

static int by_bytes(const void *a, const void *b)
{
    const struct seep_memory_folder *p = a, *q = b;

    return (p->bytes < q->bytes) - (p->bytes > q->bytes);
}

/* Directories that hold next to nothing beside the rest are left out. */
static void note_folders(const struct seep_memory_files *left, struct seep_finding *f)
{
    struct seep_memory_files sorted = *left;
    char bytes[SEEP_SIZE_TEXT];

    qsort(sorted.folders, sorted.n, sizeof *sorted.folders, by_bytes);
    for (uint32_t i = 0; i < sorted.n; i++) {
        const struct seep_memory_folder *its = &sorted.folders[i];
        if (i && its->bytes < sorted.bytes / SEEP_T_NEGLIGIBLE)
            break;
        seep_finding_note(f, "The job left %u file%s in %s: %s. The largest is %s", its->n_files,
                          its->n_files == 1 ? "" : "s", its->path,
                          seep_text_size((double)its->bytes, bytes), its->largest);
    }
    if (left->is_cut)
        seep_finding_note(f, "There are more files: not all were looked at");
}

/* The one that holds most. */
static const struct seep_memory_folder *main_folder(const struct seep_memory_files *left)
{
    const struct seep_memory_folder *most = left->folders;

    for (uint32_t i = 1; i < left->n; i++)
        most = left->folders[i].bytes > most->bytes ? &left->folders[i] : most;
    return most;
}

/* RSS and files count towards it together. */
static void set_limit(const struct seep_model *m, const struct seep_memory_files_growth *g,
                      const struct seep_resident_trend *resident, struct seep_finding *f)
{
    struct seep_limit limit = {0};
    char used[SEEP_SIZE_TEXT], size[SEEP_SIZE_TEXT];

    f->steps_to_limit = -1;
    limit.bytes = f->limit_bytes = seep_memory_limit_of(m, &limit.kind);
    if (!limit.bytes)
        return;
    limit.used = seep_sum(seep_resident_at_most(m).bytes, (uint64_t)g->last);
    limit.growth = g->slope.value + (resident->grows ? resident->slope.value : 0);
    f->steps_to_limit = seep_memory_limit_steps(&limit);
    seep_finding_note(f, SEEP_LINE_LIMIT_TEXT, seep_text_size((double)limit.used, used),
                      seep_text_size((double)limit.bytes, size), seep_limit_words(limit.kind));
}

static void describe(const struct seep_model *m, const struct seep_memory_files_growth *g,
                     struct seep_finding *f)
{
    const char *unit = seep_step_unit(m->step_source == SEEP_STEP_TIME);
    const char *path = main_folder(left_by(m))->path;
    char each[SEEP_SIZE_TEXT], one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    f->title = seep_text_format("The job's files in %s are memory, and grow by %s a %s", path,
                                seep_text_size(g->slope.value, each), unit);
    f->advice = seep_text_format("Delete each file once nobody reads it any more, or write to a "
                                 "disk. %s lies on a tmpfs: files there stay in memory until they "
                                 "are deleted, also after the job, and count towards its limit.",
                                 path);
    seep_finding_note(f,
                      "Files in memory (tmpfs) went from %s to %s over %ss %d to %d; they are in "
                      "no process's RSS",
                      seep_text_size(g->first, one), seep_text_size(g->last, other), unit,
                      (int)g->from, (int)g->to);
    note_folders(left_by(m), f);
}

/* That of shared memory; a job that has none else has no such space. */
static uint16_t space_of(const struct seep_model *m)
{
    for (uint16_t s = 0; s < m->n_spaces; s++)
        if (m->spaces[s].name.class == SEEP_CLASS_SHM)
            return s;
    return m->host;
}

int seep_memory_files_judge(const struct seep_model *m, struct seep_findings *out)
{
    const struct seep_memory_files_growth g = seep_memory_files_measure(m, &out->span);

    if (!g.grows)
        return 0;
    struct seep_finding *list = reallocarray(out->list, out->n + 1, sizeof *list);
    if (!list)
        return -SEEP_ENOMEM;
    out->list = list;
    struct seep_finding *f = &list[out->n];
    *f = (struct seep_finding){
        .space = space_of(m),
        .part = SEEP_PART_OTHER,
        .live_bytes = (uint64_t)g.last,
        .peak_bytes = (uint64_t)g.last,
        .saving_bytes = (uint64_t)fmax(g.slope.value * (g.to - g.from), 0),
        .growth = g.slope,
        .first_step = g.from,
        .sites = calloc(1, sizeof *f->sites),
        .processes = calloc(1, sizeof *f->processes),
        .n_processes = 1,
    };
    out->n++;
    if (!f->sites || !f->processes)
        return -SEEP_ENOMEM;
    f->processes[0] = m->main;
    seep_finding_verdict(f, SEEP_PATTERN_SHM_GROWTH, seep_resident_severity(m, &out->span),
                         SEEP_LIKELY);
    describe(m, &g, f);
    set_limit(m, &g, &out->resident, f);
    return 0;
}
