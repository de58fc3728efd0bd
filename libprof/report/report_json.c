#include "libprof/report/report_json.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/measure/oom.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/report/report_pieces.h"
#include "libprof/who/kept/job_sources.h"

/* Which sites and spaces a report lists. */

/* Whatever the profile holds, viewers must be able to load the report: so it lists a limited number
 * of sites and about that many bytes of their stacks. --all lifts both limits. */
enum { MAX_SITES = 2000, MAX_STACK_BYTES = 64 << 20, FRAME_BYTES = 160 };

enum rank { RANK_LARGE, RANK_OF_FINDING, RANK_FIRST_OF_FINDING };

struct choice {
    uint32_t site;
    uint8_t rank;
    uint64_t bytes;
};

static int by_bytes(const void *a, const void *b)
{
    const struct choice *p = a, *q = b;

    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return (p->site > q->site) - (p->site < q->site);
}

static int by_rank(const void *a, const void *b)
{
    const struct choice *p = a, *q = b;

    return p->rank != q->rank ? (int)q->rank - (int)p->rank : by_bytes(a, b);
}

static void rank_findings(const struct seep_findings *f, uint8_t *rank)
{
    for (size_t i = 0; i < f->n; i++) {
        for (size_t k = 0; k < f->list[i].n_sites; k++) {
            uint8_t its = k ? RANK_OF_FINDING : RANK_FIRST_OF_FINDING;
            uint32_t site = f->list[i].sites[k];
            rank[site] = rank[site] > its ? rank[site] : its;
        }
    }
}

/* At least 0.1 % of its space's peak. No site is large in a space without a peak. */
static bool is_large(const struct seep_model *m, uint32_t site)
{
    uint64_t peak = m->sites[site].totals.peak_bytes;

    return peak && (double)peak * 1000 >= (double)m->spaces[m->sites[site].space].totals.peak_bytes;
}

static size_t text_bytes(const struct seep_dictionary *d, uint32_t string)
{
    return strlen(seep_dictionary_text(d, string));
}

/* The approximate length of the stack as JSON; names of native code are not known yet. */
static size_t stack_bytes(const struct seep_dictionary *d, uint32_t stack)
{
    size_t sum = 0;

    for (; stack; stack = d->stacks[stack].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[stack].frame];
        sum += FRAME_BYTES + text_bytes(d, f->function) + text_bytes(d, f->qualname);
        if (f->source)
            sum += text_bytes(d, f->kind == SEEP_FRAME_PYTHON ? f->source
                                                              : d->modules[f->source].path);
    }
    return sum;
}

/* How many of the choices, best first, fit. */
static size_t cut(const struct seep_report_pieces *pieces, const struct choice *choices, size_t n)
{
    size_t kept = 0, bytes = 0;

    for (; kept < n && kept < MAX_SITES; kept++) {
        bytes += stack_bytes(&pieces->code->model->dict,
                             pieces->code->model->sites[choices[kept].site].stack);
        if (bytes > MAX_STACK_BYTES && choices[kept].rank != RANK_FIRST_OF_FINDING)
            break;
    }
    return kept;
}

/* Fills chosen[n_sites] with the sites to list, largest peak first, and sets `shown` and
 * n_left_out. Always includes the largest site of every finding. Returns 0 or -SEEP_ENOMEM. */
static int report_choose(struct seep_report_pieces *pieces, uint32_t *chosen, size_t *n_chosen)
{
    const struct seep_model *m = pieces->code->model;
    uint8_t *rank = calloc(m->n_sites + 1, sizeof *rank);
    struct choice *choices = calloc(m->n_sites + 1, sizeof *choices);
    int rc = rank && choices ? 0 : -SEEP_ENOMEM;
    size_t n = 0, kept = 0;

    if (!rc)
        rank_findings(pieces->findings, rank);
    for (uint32_t i = 0; !rc && i < m->n_sites; i++) {
        if (pieces->all_sites || rank[i] != RANK_LARGE || (!pieces->brief && is_large(m, i)))
            choices[n++] = (struct choice){i, rank[i], m->sites[i].totals.peak_bytes};
    }
    if (n) {
        qsort(choices, n, sizeof *choices, by_rank);
        kept = pieces->all_sites ? n : cut(pieces, choices, n);
        qsort(choices, kept, sizeof *choices, by_bytes);
    }
    for (size_t i = 0; i < kept; i++) {
        chosen[i] = choices[i].site;
        pieces->shown[chosen[i]] = true;
    }
    *n_chosen = kept;
    pieces->n_left_out = n - kept;
    free(rank);
    free(choices);
    return rc;
}

bool seep_report_lists_space(const struct seep_report_pieces *pieces, uint16_t space)
{
    const struct seep_findings *f = pieces->findings;
    bool listed = pieces->code->model->spaces[space].recorded;

    for (size_t i = 0; i < f->n && !listed; i++)
        listed = f->list[i].space == space;
    return listed;
}

#ifndef SEEP_VERSION
#define SEEP_VERSION "0"
#endif

static const struct seep_job *first_job(const struct seep_model *m)
{
    for (size_t i = 0; i < m->n_jobs; i++) {
        if (m->jobs[i])
            return m->jobs[i];
    }
    return NULL;
}

static double started(const struct seep_model *m, const struct seep_job *job)
{
    uint64_t ns = m->processes[m->root].id.start_unix_ns;

    if (job && job->started_unix_ns && job->started_unix_ns < ns)
        ns = job->started_unix_ns;
    return (double)ns / 1e9;
}

static double duration(const struct seep_model *m, const struct seep_job *job)
{
    if (m->n_jobs == 1 && job && job->ended_ns > job->started_ns)
        return (double)(job->ended_ns - job->started_ns) / 1e9;
    return (double)(m->end_ns - m->start_ns) / 1e9;
}

/* From the end of the warm-up to the end of the job. */
static uint64_t judged_steps(const struct seep_span *span)
{
    return span->last > span->judge ? (uint64_t)(span->last - span->judge) : 0;
}

static uint64_t torch_snapshots(const struct seep_model *m)
{
    uint64_t n = 0;

    for (size_t i = 0; i < m->n_processes; i++)
        n += m->processes[i].recording.of_torch;
    return n;
}

static json_t *job_json(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_job *job = first_job(m);
    const struct seep_process_identity *first = &m->processes[m->root].id;
    bool launched = job && job->argv_bytes;
    const char *kind;
    uint64_t limit = seep_memory_limit_of(m, &kind);
    bool failed = false;
    json_t *json = SEEP_REPORT_JSON(
        job,
        .command = launched ? seep_json_argv(job->argv, job->argv_bytes)
                            : seep_json_argv(first->argv, first->argv_bytes),
        .cwd = launched ? job->cwd : first->cwd,
        .host = job && job->host[0] ? job->host : first->host, .started_unix_s = started(m, job),
        .duration_s = duration(m, job), .exit = seep_json_made(seep_json_job_exit(m), &failed),
        .oom_kills = seep_report_oom_kills(m), .complete = seep_report_is_complete(m),
        .torch_snapshots = torch_snapshots(m), .dropped_events = seep_report_dropped(m),
        .step_source = seep_report_step_source(m), .step_why = seep_report_step_why(m),
        .step_line = seep_json_made(seep_json_step_line(pieces), &failed), .steps = m->n_steps,
        .judged_steps = judged_steps(&pieces->findings->span),
        .judged_steps_needed = (uint64_t)seep_span_steps_needed(m),
        .epochs = seep_count_if(m->epochs, m->epochs),
        .epoch_source = seep_json_made(seep_json_epoch_source(m), &failed),
        .epoch_line = seep_json_made(seep_json_epoch_line(pieces), &failed),
        .limit_bytes = seep_count_if(limit, limit), .limit_kind = limit ? kind : NULL,
        .pss_peak_bytes = seep_count_if(job && job->pss_peak_bytes, job ? job->pss_peak_bytes : 0),
        .memory_files = seep_json_made(seep_json_memory_files(m->processes[m->main].job), &failed));
    return seep_json_whole(json, failed);
}

static json_t *spaces_json(const struct seep_report_pieces *pieces, bool *failed)
{
    const struct seep_model *m = pieces->code->model;
    json_t *spaces = json_object();

    for (uint16_t i = 0; i < m->n_spaces; i++) {
        const struct seep_model_space *its = &m->spaces[i];
        if (!seep_report_lists_space(pieces, i))
            continue;
        seep_json_set(
            spaces, its->name.text,
            seep_json_space(&its->totals, &pieces->growths->of_space[i], its->capacity_bytes),
            failed);
    }
    return spaces;
}

/* Adds the lines that out-of-memory findings list. */
static size_t add_lines(const struct seep_findings *f, bool *seen, uint32_t *frames, size_t k)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct seep_oom *s = f->list[i].oom;
        for (size_t line = 0; s && line < s->n_lines; line++) {
            const uint32_t frame = s->lines[line].frame;
            if (!seen[frame])
                frames[k++] = frame;
            seen[frame] = true;
        }
    }
    return k;
}

/* Every frame that will be printed is looked up at once, so that each module is read only once. */
static int resolve_symbols(const struct seep_report_pieces *pieces, const uint32_t *chosen,
                           size_t n)
{
    const struct seep_dictionary *d = &pieces->code->model->dict;
    bool *seen = calloc(d->n_frames, sizeof *seen);
    uint32_t *frames = calloc(d->n_frames, sizeof *frames);
    size_t k = 0;
    int rc = -SEEP_ENOMEM;

    if (seen && frames) {
        for (size_t i = 0; i < n; i++) {
            uint32_t stack = pieces->code->model->sites[chosen[i]].stack;
            for (; stack; stack = d->stacks[stack].parent) {
                uint32_t frame = d->stacks[stack].frame;
                if (!seen[frame])
                    frames[k++] = frame;
                seen[frame] = true;
            }
        }
        k = add_lines(pieces->findings, seen, frames, k);
        rc = seep_symbols_resolve(pieces->code->symbols, frames, k);
    }
    free(seen);
    free(frames);
    return rc;
}

static void free_scratch(struct seep_report_pieces *pieces)
{
    for (size_t i = 0; pieces->frame_json && i < pieces->code->model->dict.n_frames; i++)
        json_decref(pieces->frame_json[i]);
    free(pieces->frame_json);
    json_decref(pieces->frame_texts);
    free(pieces->shown);
    pieces->frame_json = NULL;
    pieces->frame_texts = NULL;
    pieces->shown = NULL;
}

/* Everything but the sites. NULL without memory. */
static json_t *without_sites(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    json_t *holders = pieces->holders->of_job;
    bool failed = false;
    json_t *json = SEEP_REPORT_JSON(
        report, .format = "seep-report", .version = 2, .seep = SEEP_VERSION,
        .job = job_json(pieces), .processes = seep_json_processes(pieces),
        .helpers = seep_json_made(seep_json_folded(pieces), &failed),
        .spaces = spaces_json(pieces, &failed),
        .devices = seep_json_made(seep_json_devices(m), &failed),
        .layouts = seep_json_made(seep_json_layouts(pieces), &failed),
        .out_of_memory = seep_json_made(seep_json_ooms(pieces), &failed),
        .what_if = seep_json_made(seep_json_what_ifs(pieces), &failed),
        .findings = seep_json_findings(pieces), .findings_left_out = seep_json_left_out(pieces),
        .holders = holders ? json_incref(holders) : json_null(),
        .cost = seep_json_made(seep_json_cost(pieces), &failed), .sites = json_array(),
        .timeline = seep_json_timeline(pieces), .coverage = seep_json_coverage(pieces));
    return seep_json_whole(json, failed);
}

static int make(const struct seep_report_pieces *pieces, const uint32_t *chosen, size_t n,
                seep_json_stream_user *use, void *context)
{
    struct seep_report_sites sites;
    json_t *report = without_sites(pieces);

    seep_report_sites_init(&sites, pieces, chosen, n);
    int rc = report ? use(context, report, &sites.stream) : -SEEP_ENOMEM;
    seep_report_sites_fini(&sites);
    json_decref(report);
    return rc;
}

int seep_report_json(struct seep_report_pieces *pieces, seep_json_stream_user *use, void *context)
{
    const struct seep_model *m = pieces->code->model;
    uint32_t *chosen = calloc(m->n_sites + 1, sizeof *chosen);
    struct seep_space_growths growths;
    struct seep_job_sources sources;
    size_t n = 0;

    seep_job_sources_init(&sources, pieces->code, pieces->may_open);
    pieces->sources = &sources;
    pieces->shown = calloc(m->n_sites + 1, sizeof *pieces->shown);
    pieces->frame_json = calloc(m->dict.n_frames, sizeof(json_t *));
    pieces->frame_texts = json_object();
    const bool failed = seep_space_growths_measure(m, &pieces->findings->span, &growths) ||
                        !chosen || !pieces->shown || !pieces->frame_json || !pieces->frame_texts ||
                        report_choose(pieces, chosen, &n) || resolve_symbols(pieces, chosen, n);
    pieces->growths = &growths;
    int rc = failed ? -SEEP_ENOMEM : make(pieces, chosen, n, use, context);
    seep_space_growths_fini(&growths);
    seep_job_sources_fini(&sources);
    pieces->growths = NULL;
    pieces->sources = NULL;
    free(chosen);
    free_scratch(pieces);
    return rc;
}
