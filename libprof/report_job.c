/* report.json: processes, timeline, coverage. */
#include "libprof/program_entry.h"
#include "libprof/report_parts.h"

#include "libprof/processes.h"
#include "libprof/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_POINTS = 256 };
_Static_assert((int)GRID_POINTS <= (int)SEEP_TIMELINE_ROWS, "one array holds either grid");

/* ---- processes --------------------------------------------------------------------------- */

static json_t *python_of(const struct seep_header *h)
{
    char text[64];
    uint32_t v = h->python_version;

    if (!v)
        return json_null();
    snprintf(text, sizeof text, "%u.%u.%u", v >> 24, v >> 16 & 0xff, v >> 8 & 0xff);
    return json_string(text);
}

static json_t *exit_of(const struct seep_model_process *p)
{
    static const char *const kinds[] = {"exit", "signal", "running", "unknown"};
    bool valued = p->exit_kind == SEEP_ENDED_EXIT || p->exit_kind == SEEP_ENDED_SIGNAL;

    return json_pack("{s:s, s:o}", "kind", kinds[p->exit_kind], "value",
                     valued ? json_integer(p->exit_value) : json_null());
}

static json_t *spaces_of(const struct seep_report_parts *parts, const struct seep_model_process *p,
                         bool *failed)
{
    const struct seep_model *m = parts->m;
    const struct seep_lane_growth *growths =
        parts->growths->of_process + (size_t)(p - m->processes) * m->n_spaces;
    json_t *spaces = json_object();

    for (int i = 0; i < SEEP_MAX_SPACES; i++) {
        if (p->space_of[i])
            seep_json_set(spaces, m->spaces[p->space_of[i] - 1].name,
                          seep_json_space(&p->spaces[i], &growths[p->space_of[i] - 1]), failed);
    }
    return spaces;
}

static json_t *process_json(const struct seep_report_parts *parts,
                            const struct seep_model_process *p, bool *failed)
{
    const struct seep_header *h = p->profile->header;
    json_t *json = json_object();

    seep_json_set(json, "pid", seep_json_count(h->pid), failed);
    seep_json_set(json, "ppid", seep_json_count(h->ppid), failed);
    seep_json_set(json, "role", json_string(seep_process_role_name(p->role)), failed);
    seep_json_set(json, "rank", h->rank >= 0 ? json_integer(h->rank) : json_null(), failed);
    seep_json_set(json, "argv", seep_json_argv(h->argv, h->argv_bytes), failed);
    seep_json_set(json, "python", python_of(h), failed);
    seep_json_set(json, "exit", exit_of(p), failed);
    seep_json_set(json, "steps", seep_json_count(p->steps), failed);
    seep_json_set(json, "spaces", spaces_of(parts, p, failed), failed);
    seep_json_set(json, "rss_peak_bytes", seep_json_count(p->rss_peak_bytes), failed);
    seep_json_set(json, "pss_peak_bytes",
                  p->pss_peak_bytes ? seep_json_count(p->pss_peak_bytes) : json_null(), failed);
    seep_json_set(json, "exe", seep_json_text(h->exe), failed);
    seep_json_set(json, "host", seep_json_text(h->host), failed);
    seep_json_set(json, "started_unix_s", seep_json_real((double)h->start_unix_ns / 1e9), failed);
    seep_json_set(json, "duration_s", seep_json_real((double)(p->end_ns - p->start_ns) / 1e9),
                  failed);
    if (p->execed)
        seep_json_set(json, "exec", json_true(), failed);
    return json;
}

static bool has_profile(const struct seep_model *m, const struct seep_process *entry)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].entry == entry)
            return true;
    }
    return false;
}

struct place { /* in the tables of all jobs; begins as zero */
    size_t job;
    uint32_t entry;
};

/* The next process of a job's table that ended before it could record anything, or whose file is
 * gone; NULL after the last. */
static const struct seep_process *next_bare(const struct seep_model *m, struct place *place)
{
    for (; place->job < m->n_jobs; place->job++, place->entry = 0) {
        const struct seep_job *job = m->jobs[place->job];
        while (job && place->entry < job->n_processes) {
            const struct seep_process *e = &job->processes[place->entry++];
            if (e->pid && !has_profile(m, e))
                return e;
        }
    }
    return NULL;
}

static json_t *bare_process_json(const struct seep_process *e)
{
    struct seep_model_process p = {.exit_kind = SEEP_ENDED_UNKNOWN};

    if (e->has_status)
        seep_process_set_exit(&p, e->wait_status);
    return json_pack("{s:o, s:o, s:s, s:n, s:[], s:n, s:o, s:o, s:{}, s:o, s:o}", "pid",
                     seep_json_count(e->pid), "ppid", seep_json_count(e->ppid), "role", "helper",
                     "rank", "argv", "python", "exit", exit_of(&p), "steps",
                     seep_json_count(e->steps), "spaces", "rss_peak_bytes",
                     seep_json_count(e->rss_peak_bytes), "pss_peak_bytes",
                     e->pss_peak_bytes ? seep_json_count(e->pss_peak_bytes) : json_null());
}

static void add_bare_processes(const struct seep_model *m, json_t *list, bool *failed)
{
    struct place place = {0};

    for (const struct seep_process *e; (e = next_bare(m, &place));) {
        if (json_array_append_new(list, bare_process_json(e)))
            *failed = true;
    }
}

json_t *seep_json_processes(const struct seep_report_parts *parts)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < parts->m->n_processes && !failed; i++) {
        json_t *one = process_json(parts, &parts->m->processes[i], &failed);
        if (json_array_append_new(list, one))
            failed = true;
    }
    add_bare_processes(parts->m, list, &failed);
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

/* ---- timeline ---------------------------------------------------------------------------- */

/* The times of the grid: a single process's own rows, else points spread over the job. */
static size_t make_grid(const struct seep_model *m, uint64_t *t)
{
    const struct seep_model_process *p = &m->processes[0];

    if (m->n_processes == 1) {
        if (p->n_rows)
            memcpy(t, p->row_t_ns, p->n_rows * sizeof *t);
        return p->n_rows;
    }
    uint64_t span = m->end_ns - m->start_ns;
    for (size_t i = 0; i < GRID_POINTS; i++)
        t[i] = m->start_ns + (uint64_t)((double)span * (double)i / (GRID_POINTS - 1));
    return GRID_POINTS;
}

static json_t *live_row(const struct seep_model *m, uint16_t space, const uint64_t *t, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (size_t p = 0; p < m->n_processes; p++)
            sum += space == UINT16_MAX ? seep_process_rss_at(&m->processes[p], t[i])
                                       : seep_process_live_at(&m->processes[p], space, t[i]);
        json_array_append_new(list, seep_json_count(sum));
    }
    return list;
}

json_t *seep_json_timeline(const struct seep_report_parts *parts)
{
    const struct seep_model *m = parts->m;
    uint64_t t[SEEP_TIMELINE_ROWS];
    size_t n = make_grid(m, t);
    json_t *json = json_object(), *times = json_array(), *steps = json_array();
    json_t *spaces = json_object();
    bool failed = false;

    for (size_t i = 0; i < n; i++) {
        uint64_t since = t[i] > m->start_ns ? t[i] - m->start_ns : 0;
        int32_t step = seep_model_step_at(m, t[i]);
        json_array_append_new(times, seep_json_real((double)since / 1e9));
        json_array_append_new(steps, json_integer(step > 0 ? step : 0));
    }
    for (uint16_t s = 0; s < m->n_spaces; s++)
        seep_json_set(spaces, m->spaces[s].name,
                      json_pack("{s:o}", "live_bytes", live_row(m, s, t, n)), &failed);
    seep_json_set(json, "t_s", times, &failed);
    seep_json_set(json, "step", steps, &failed);
    seep_json_set(json, "spaces", spaces, &failed);
    seep_json_set(json, "rss_bytes", live_row(m, UINT16_MAX, t, n), &failed);
    if (!failed)
        return json;
    json_decref(json);
    return NULL;
}

/* ---- coverage ---------------------------------------------------------------------------- */

/* The order of coverage_seen[] is that of hooks.def, which is a part of the file format: it is only
 * appended to, so that its names are right for profiles of older builds too. */
static const char *const hook_names[] = {
#define SEEP_HOOK(name, ...) #name,
#include "preload/hooks.def"
#undef SEEP_HOOK
};

enum { N_HOOKS = sizeof hook_names / sizeof *hook_names };
_Static_assert((int)N_HOOKS <= (int)SEEP_MAX_COVERAGE, "each hook has its place");

static json_t *hooks_seen(const struct seep_model *m)
{
    json_t *list = json_array();

    for (size_t i = 0; i < SEEP_MAX_COVERAGE; i++) {
        bool seen = false;
        char number[24];
        for (size_t p = 0; p < m->n_processes && !seen; p++)
            seen = m->processes[p].profile->header->coverage_seen[i] != 0;
        snprintf(number, sizeof number, "hook %zu", i); /* of a newer build */
        if (seen)
            json_array_append_new(list, json_string(i < N_HOOKS ? hook_names[i] : number));
    }
    return list;
}

static void say(json_t *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(json_t *list, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_array_append_new(list, seep_json_text(text));
}

static void say_dropped(json_t *list, const struct seep_header *h)
{
    static const char *const why[SEEP_N_DROPS] = {
        [SEEP_DROP_DISK_FULL] = "the disk was full",
        [SEEP_DROP_BOUND] = "--max-profile was reached: they are counted without their stacks",
        [SEEP_DROP_MEMORY] = "there was no memory for seep's own tables",
        [SEEP_DROP_NO_SLOT] = "more threads ran at once than have counters of their own",
        [SEEP_DROP_FILE] = "the profile could not be opened or grown for a while",
        [SEEP_DROP_STALLED] = "another thread of the job held up the profile for seconds",
        [SEEP_DROP_NO_SPACE] = "blocks were announced in more spaces than a profile has",
        [SEEP_DROP_STACK] = "a signal handler's or fibre's stack had no room to record on",
        [SEEP_DROP_FOLDER] = "--max-folder was reached: they are counted without their stacks",
        [SEEP_DROP_SANDBOX] = "a seccomp filter forbids what recording them would need",
    };

    for (int i = 0; i < SEEP_N_DROPS; i++) {
        if (h->dropped[i] && i != SEEP_DROP_FREE_UNKNOWN)
            say(list, "pid %u: %llu events dropped: %s", h->pid, (unsigned long long)h->dropped[i],
                why[i] ? why[i] : "for a reason that this seep does not know");
    }
}

static void say_process(json_t *list, const struct seep_model_process *p)
{
    const struct seep_header *h = p->profile->header;
    uint32_t v = h->python_version;

    if (h->python_support == 2)
        say(list, "pid %u: Python %u.%u is not known to this seep: native stacks only", h->pid,
            v >> 24, v >> 16 & 0xff);
    if (p->truncated)
        say(list, "%s: the file is cut: what lay beyond is missing", p->profile->name);
    if (p->orphaned)
        say(list, "%s: the profile of its parent is missing: stacks known from there are not shown",
            p->profile->name);
    if (h->sample_bytes)
        say(list, "pid %u: sampled every %llu bytes on average: counts and bytes are estimates",
            h->pid, (unsigned long long)h->sample_bytes);
    say_dropped(list, h);
}

/* Without a profile by choice: nothing is missing. */
static bool was_counted(const struct seep_process *e)
{
    return (e->flags & SEEP_PROCESS_COUNTED) && !e->trouble;
}

/* Entries of the job table that no profile belongs to. */
static void say_missing(json_t *list, const struct seep_model *m)
{
    struct place place = {0};

    for (const struct seep_process *e; (e = next_bare(m, &place));) {
        if (e->exec_entry)
            say(list, "pid %u became %.*s, which %s: nothing is recorded of that", e->pid,
                (int)sizeof e->exec_path, e->exec_path,
                seep_entry_words((enum seep_entry)e->exec_entry));
        else if (!was_counted(e))
            say(list, "pid %u: no profile: it ended before it recorded, or the file is gone",
                e->pid);
    }
}

json_t *seep_json_coverage(const struct seep_report_parts *parts)
{
    const struct seep_model *m = parts->m;
    json_t *not_seen = json_array();

    for (size_t i = 0; i < m->n_not_read; i++)
        say(not_seen, "%s: %s", m->not_read[i].name, m->not_read[i].reason);
    for (size_t i = 0; i < m->n_processes; i++)
        say_process(not_seen, &m->processes[i]);
    say_missing(not_seen, m);
    if (parts->n_left_out)
        say(not_seen, "%zu more site%s left out of this list, which has a bound: --all lists all",
            parts->n_left_out, parts->n_left_out == 1 ? " is" : "s are");
    if (m->step_source == SEEP_STEP_TIME)
        say(not_seen, "no training steps: growth is per time slice of %d ms", SEEP_TIME_SLICE_MS);
    return json_pack("{s:o, s:o}", "hooks", hooks_seen(m), "not_seen", not_seen);
}

/* Where nobody can tell how a process ended, the launcher's word that the job has ended must do. */
static bool has_ended(const struct seep_model_process *p)
{
    if (p->exit_kind == SEEP_ENDED_UNKNOWN)
        return p->job && p->job->ended_ns;
    return p->exit_kind != SEEP_ENDED_RUNNING;
}

bool seep_report_is_complete(const struct seep_model *m)
{
    if (m->n_not_read)
        return false;
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->truncated || p->orphaned || !has_ended(p))
            return false;
    }
    struct place place = {0};
    for (const struct seep_process *e; (e = next_bare(m, &place));) {
        if (!e->exec_entry && !was_counted(e))
            return false;
    }
    return true;
}

uint64_t seep_report_dropped(const struct seep_model *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        for (int k = 0; k < SEEP_N_DROPS; k++)
            sum += k == SEEP_DROP_FREE_UNKNOWN ? 0 : m->processes[i].profile->header->dropped[k];
    }
    return sum;
}
