/* Coverage, in report.json, says what was seen and what could not be: each gap has its sentence. */
#include "libprof/report/report_pieces.h"

#include "libprof/base/text.h"
#include "libprof/format/profile_format.h"
#include "libprof/model/bare_processes.h"
#include "libprof/report/report_said.h"

#include <stdio.h>

enum {
    OPTIMIZER_CALLS = 16, /* fewer prove nothing … */
    CALLS_A_STEP = 8,     /* … nor do several optimizers that step in turn, … */
    ROUNDS = 8,           /* … nor do many that keep stepping */
};

/* ---- hooks --------------------------------------------------------------------------------- */

/* The order of coverage_seen[] is that of hooks.def, which is a part of the file format: rows are
 * only ever appended, so the names are right for profiles of older builds too. */
static const char *const hook_names[] = {
#define SEEP_HOOK(name, ...) #name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
};

enum {
#define SEEP_HOOK(name, ...) HOOK_##name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
    HOOK_NVTX = HOOK_InitializeInjectionNvtx2,
};

enum { N_HOOKS = sizeof hook_names / sizeof *hook_names };
_Static_assert((int)N_HOOKS <= (int)SEEP_MAX_COVERAGE, "each hook has its place");

static json_t *hooks_seen(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < SEEP_MAX_COVERAGE; i++) {
        bool seen = false;
        char number[24];
        for (size_t p = 0; p < m->n_processes && !seen; p++)
            seen = m->processes[p].recording.hooks_seen[i];
        snprintf(number, sizeof number, "hook %zu", i); /* recorded by a newer build */
        if (seen)
            seep_json_append(list, json_string(i < N_HOOKS ? hook_names[i] : number), &failed);
    }
    return seep_json_whole(list, failed);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A program with NVTX marks has loaded seep as its NVTX tool, which --step-nvtx alone makes it
 * do. */
static void say_nvtx(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    bool asked = false, counted = false;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        asked |= p->recording.hooks_seen[HOOK_NVTX];
        counted |= p->entry && (p->entry->step_source == SEEP_STEP_NVTX ||
                                p->entry->step_source == SEEP_STEP_API);
    }
    if (asked && !counted)
        seep_said_add(said, "--step-nvtx: the job uses NVTX marks or ranges, but none of their "
                            "messages matches: give a REGEX that does");
}

static void say_optimizers(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    size_t n = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const struct seep_process *e = p->entry;
        if (!e || e->step_source != SEEP_STEP_OPTIMIZER || e->optimizer_calls < OPTIMIZER_CALLS ||
            e->steps >= e->optimizer_calls / CALLS_A_STEP || e->steps >= ROUNDS ||
            ++n > SEEP_SAID_MOST)
            continue;
        seep_said_add(said,
                      "pid %u: an optimizer's step() ended %u times, but only %u "
                      "counted, because each call was of a new optimizer: call seep.step() where a "
                      "training step ends",
                      e->pid, e->optimizer_calls, e->steps);
    }
    seep_said_more(said, n, "processes do the same");
    if (m->step_source == SEEP_STEP_TIME)
        seep_said_add(said,
                      "no training steps: growth is per time slice of %d ms; call seep.step() "
                      "(seep_step() in C) at the end of each iteration",
                      SEEP_TIME_SLICE_MS);
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void say_dropped(struct seep_said *said, const struct seep_model_process *p)
{
    static const char *const why[SEEP_N_DROPS] = {
        [SEEP_DROP_DISK_FULL] = "the disk was full",
        [SEEP_DROP_BOUND] = "--max-profile was reached: they are counted without their stacks",
        [SEEP_DROP_MEMORY] = "seep's own tables ran out of memory",
        [SEEP_DROP_NO_SLOT] = "more threads ran at once than seep has counters for",
        [SEEP_DROP_FILE] = "the profile could not be opened or extended for a while",
        [SEEP_DROP_STALLED] = "another thread of the job held up the profile for seconds",
        [SEEP_DROP_NO_SPACE] = "blocks were announced in more spaces than a profile has",
        [SEEP_DROP_STACK] = "the stack of a signal handler or fibre was too small to record on",
        [SEEP_DROP_FOLDER] = "--max-folder was reached: they are counted without their stacks",
        [SEEP_DROP_SANDBOX] = "a seccomp filter forbids what recording them needs",
    };

    for (int i = 0; i < SEEP_N_DROPS; i++) {
        const uint64_t n = p->recording.dropped[i];
        if (n && i != SEEP_DROP_FREE_UNKNOWN)
            seep_said_add(said, "pid %u: %llu events dropped: %s", p->id.pid, (unsigned long long)n,
                          why[i] ? why[i] : "for a reason that this version of seep does not know");
    }
}

static void say_process(struct seep_said *said, const struct seep_model_process *p)
{
    const struct seep_process_recording *r = &p->recording;
    uint32_t v = p->id.python_version, pid = p->id.pid;
    char size[SEEP_SIZE_TEXT];

    if (p->id.python_support == SEEP_PYTHON_NO_GIL)
        seep_said_add(said,
                      "pid %u: its Python %u.%u has no GIL (free-threaded), and seep does not read "
                      "its frames: native stacks only, and of its objects what their allocator, "
                      "mimalloc, maps",
                      pid, v >> 24, v >> 16 & 0xff);
    if (p->id.python_unseen & SEEP_PYTHON_MIMALLOC)
        seep_said_add(said,
                      "pid %u: Python takes its objects from mimalloc (PYTHONMALLOC): seep records "
                      "what it maps, but not the objects that lie there: unset that variable, or "
                      "set it to malloc",
                      pid);
    if (p->id.python_unseen & SEEP_PYTHON_SUBINTERPRETERS)
        seep_said_add(said,
                      "pid %u: before Python 3.12 the frames of subinterpreters are not followed: "
                      "what their code allocates is told at the line that ran it",
                      pid);
    if (p->id.python_support == SEEP_PYTHON_UNKNOWN_VERSION)
        seep_said_add(said,
                      "pid %u: this version of seep does not know Python %u.%u: native stacks "
                      "only",
                      pid, v >> 24, v >> 16 & 0xff);
    if (p->truncated)
        seep_said_add(said, "%s: the file is truncated: the rest is missing", p->id.file);
    if (p->orphaned)
        seep_said_add(said,
                      "%s: its parent's profile is missing: stacks known only from there are "
                      "not shown",
                      p->id.file);
    if (r->sample_bytes)
        seep_said_add(said,
                      "pid %u: small blocks were sampled, as few as one per %s on average: "
                      "their counts and bytes are estimates",
                      pid, seep_text_size((double)r->sample_bytes, size));
    if (r->waited_ns)
        seep_said_add(said,
                      "pid %u: it was woken %.1f s after it began: what it had allocated before is "
                      "not in the report; it freed %llu blocks of that since",
                      pid, (double)r->waited_ns / 1e9,
                      (unsigned long long)r->dropped[SEEP_DROP_FREE_UNKNOWN]);
    if (r->uncounted_stacks_bytes)
        seep_said_add(said,
                      "pid %u: its first %s were counted without stacks, before it had a profile",
                      pid, seep_text_size((double)r->uncounted_stacks_bytes, size));
    say_dropped(said, p);
}

static void say_small_sites(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    char size[SEEP_SIZE_TEXT];

    if (m->n_small_sites)
        seep_said_add(said,
                      "%llu sites that never held %s are counted together: there are more than a "
                      "report has room for",
                      (unsigned long long)m->n_small_sites,
                      seep_text_size((double)m->small_sites_below, size));
}

static void say_missing(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    size_t n_missing = 0, n_counted = 0;

    for (size_t i = 0; i < m->n_bares; i++) {
        const struct seep_process *e = m->bares[i].entry;
        if (e->trouble || e->exec_entry)
            continue; /* has its sentence already */
        if (seep_bare_is_counted(e))
            n_counted++;
        else if (++n_missing <= SEEP_SAID_MOST)
            seep_said_add(said,
                          "pid %u: no profile: it ended before it recorded anything, or the file "
                          "is gone",
                          e->pid);
    }
    seep_said_more(said, n_missing, "have no profile");
    for (size_t i = 0; i < m->n_jobs; i++) {
        for (int k = 0; m->jobs[i] && k < SEEP_MAX_FOLDED; k++)
            n_counted = seep_sum(n_counted, m->jobs[i]->folded[k].n);
    }
    if (n_counted)
        seep_said_add(said,
                      "%zu process%s allocated too little for a profile: counted, without stacks",
                      n_counted, n_counted == 1 ? "" : "es");
}

static void say_holders(struct seep_said *said)
{
    const struct seep_holders *holders = said->pieces->holders;

    for (size_t i = 0; i < holders->n_said && i < SEEP_SAID_MOST; i++)
        seep_said_add(said, "%s", holders->said[i]);
    seep_said_more(said, holders->n_said, "snapshots were not read completely");
}

/* Snapshots that were not read to the end are missing from every answer on who holds memory. */
static void say_readers(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    uint64_t taken = 0, failed = 0, barred = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_snapshot_reads *n = m->jobs[i] ? &m->jobs[i]->snapshots : NULL;
        taken = seep_sum(taken, n ? (uint64_t)n->n_read + n->n_failed + n->n_barred : 0);
        failed = seep_sum(failed, n ? n->n_failed : 0);
        barred = seep_sum(barred, n ? n->n_barred : 0);
    }
    if (failed)
        seep_said_add(said,
                      "who holds memory: %llu of %llu snapshots could not be read: the copy of "
                      "the process or its reader was killed, or reading took more than two "
                      "minutes",
                      (unsigned long long)failed, (unsigned long long)taken);
    if (barred)
        seep_said_add(said,
                      "who holds memory: %llu of %llu snapshots could not be read: the system "
                      "does not allow it (ptrace)",
                      (unsigned long long)barred, (unsigned long long)taken);
}

/* Looks that were not taken, or given up, because they would have taken too much memory; of the one
 * that needed the most, what it needed and what was left. */
struct short_looks {
    uint64_t n, need_mib, left_mib;
};

static void add_short(struct short_looks *s, uint32_t n, uint32_t need_mib, uint32_t left_mib)
{
    s->n = seep_sum(s->n, n);
    if (need_mib <= s->need_mib)
        return;
    s->need_mib = need_mib;
    s->left_mib = left_mib;
}

/* *over: by the bound on seep's own memory. */
static void find_short(const struct seep_model *m, struct short_looks *s, struct short_looks *over)
{
    for (size_t i = 0; i < m->n_processes; i++)
        add_short(s, m->processes[i].recording.snapshots_refused[SEEP_REFUSED_MEMORY], 0, 0);
    for (size_t i = 0; i < m->n_jobs; i++)
        for (uint32_t k = 0; m->jobs[i] && k < m->jobs[i]->n_processes && k < SEEP_MAX_PROCESSES;
             k++) {
            const struct seep_process *p = &m->jobs[i]->processes[k];
            add_short(s, p->n_looks_short, p->look_need_mib, p->look_left_mib);
            add_short(over, p->n_looks_over, p->over_need_mib, p->over_left_mib);
        }
}

static void say_looks(struct seep_said *said, const struct short_looks *s, const char *why,
                      const char *to_do)
{
    char figures[96] = "";

    if (s->need_mib)
        snprintf(figures, sizeof figures, " (%llu MiB needed, %llu MiB left)",
                 (unsigned long long)s->need_mib, (unsigned long long)s->left_mib);
    if (s->n)
        seep_said_add(said, "who holds memory: %llu snapshot%s not read, because %s%s: %s",
                      (unsigned long long)s->n, s->n == 1 ? " was" : "s were", why, figures, to_do);
}

static void say_short(struct seep_said *said)
{
    struct short_looks s = {0}, over = {0};

    find_short(said->pieces->code->model, &s, &over);
    say_looks(said, &s, "memory was short", "use --holders off or a larger limit");
    say_looks(said, &over, "--overhead bounds seep's memory",
              "allow it more, or use --holders off");
}

/* ---- copies -------------------------------------------------------------------------------- */

static void add_refused(json_t *refused, const char *why, uint64_t n, bool *failed)
{
    const json_t *before = json_object_get(refused, why);
    uint64_t sum = seep_sum(before ? (uint64_t)json_integer_value(before) : 0, n);

    if (n)
        seep_json_set(refused, why, seep_json_count(sum), failed);
}

/* How many frozen copies were read to see who holds what, and why others were not. */
static json_t *copies_seen(const struct seep_model *m)
{
    static const char *const why[SEEP_N_SNAPSHOT_REFUSALS] = {
#define SEEP_COPY_REFUSAL(id, name) [SEEP_REFUSED_##id] = name,
#include "libprof/format/copy_refusals.def"
#undef SEEP_COPY_REFUSAL
    };
    json_t *refused = json_object();
    uint64_t taken = 0;
    bool failed = false;

    for (size_t i = 0; i < m->n_processes; i++) {
        const uint32_t *n = m->processes[i].recording.snapshots_refused;
        for (int k = 0; k < SEEP_N_SNAPSHOT_REFUSALS; k++)
            add_refused(refused, why[k] ? why[k] : "other", n[k], &failed);
    }
    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_job *job = m->jobs[i];
        taken = seep_sum(taken, job ? job->snapshots.n_read : 0);
        add_refused(refused, "reader-died", job ? job->snapshots.n_failed : 0, &failed);
        for (uint32_t k = 0; job && k < job->n_processes && k < SEEP_MAX_PROCESSES; k++) {
            add_refused(refused, "memory", job->processes[k].n_looks_short, &failed);
            add_refused(refused, "overhead", job->processes[k].n_looks_over, &failed);
        }
        add_refused(refused, "not-permitted", job ? job->snapshots.n_barred : 0, &failed);
    }
    return json_pack("{s:o, s:o}", "taken", seep_json_count(taken), "refused",
                     seep_json_whole(refused, failed));
}

json_t *seep_json_coverage(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    struct seep_said said = {.pieces = pieces, .list = json_array()};

    seep_said_allocators(&said);
    seep_said_troubles(&said);
    say_readers(&said);
    say_short(&said);
    say_nvtx(&said);
    say_optimizers(&said);
    for (size_t i = 0; i < m->n_not_read; i++)
        seep_said_add(&said, "%s: %s", m->not_read[i].name, m->not_read[i].reason);
    for (size_t i = 0; i < m->n_processes; i++)
        say_process(&said, &m->processes[i]);
    say_missing(&said);
    say_small_sites(&said);
    say_holders(&said);
    seep_said_tensors(&said);
    seep_said_runtime(&said);
    if (pieces->n_left_out)
        seep_said_add(&said, "%zu more site%s left out of this list: --all lists all",
                      pieces->n_left_out, pieces->n_left_out == 1 ? " is" : "s are");
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "hooks", hooks_seen(m), "holders",
                     copies_seen(m), "tensors", seep_json_tensors(m), "runtime",
                     seep_json_runtime(m), "not_seen", seep_json_whole(said.list, said.failed),
                     "rss", seep_json_rss(&pieces->rss->job));
}
