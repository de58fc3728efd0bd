/* report.json: coverage, that is what was seen, and what could not be.
 *
 * The only work here is to leave nothing unseen without a word. Each sentence says what is missing,
 * and what to do where there is something to do. */
#include "libprof/report/report_parts.h"

#include "libprof/base/text.h"
#include "libprof/model/bare_processes.h"
#include "libprof/program/own_allocator.h"
#include "libprof/program/program_entry.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SAID = 16,        /* sentences of one kind; then how many more there are */
    MAX_FILES = 24,       /* that are looked into */
    OPTIMIZER_CALLS = 16, /* fewer say nothing … */
    CALLS_A_STEP = 8,     /* … nor do several optimizers that step in turn */
};

struct said {
    const struct seep_report_parts *parts;
    json_t *list;
};

/* ---- hooks --------------------------------------------------------------------------------- */

/* The order of coverage_seen[] is that of hooks.def, which is a part of the file format: it is only
 * appended to, so that its names are right for profiles of older builds too. */
static const char *const hook_names[] = {
#define SEEP_HOOK(name, ...) #name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
};

enum hook {
#define SEEP_HOOK(name, ...) HOOK_##name,
#include "libprof/format/hooks.def"
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
            seen = m->processes[p].recording.hooks_seen[i];
        snprintf(number, sizeof number, "hook %zu", i); /* of a newer build */
        if (seen)
            json_array_append_new(list, json_string(i < N_HOOKS ? hook_names[i] : number));
    }
    return list;
}

/* ---- resident memory ----------------------------------------------------------------------- */

static json_t *growth_json(const struct seep_rss_growth *growth)
{
    return growth->known ? seep_json_slope(&growth->slope) : json_null();
}

json_t *seep_json_rss(const struct seep_rss *rss)
{
    const struct seep_rss_sample *s = &rss->peak;
    json_t *json, *explained;
    bool failed = false;

    if (!rss->known)
        return json_null();
    explained = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "heap_live", seep_json_count(s->heap_live_bytes),
        "heap_free", seep_json_count(s->heap_free_bytes), "maps", seep_json_count(s->maps_bytes),
        "shm", seep_json_count(s->shm_bytes), "stacks", seep_json_count(s->stacks_bytes), "files",
        seep_json_count(s->files_bytes));
    json = json_object();
    seep_json_set(json, "peak_bytes", seep_json_count(s->rss_bytes), &failed);
    seep_json_set(json, "step", json_integer(rss->step > 0 ? rss->step : 0), &failed);
    seep_json_set(json, "explained", explained, &failed);
    seep_json_set(json, "seep_bytes", seep_json_count(s->seep_bytes), &failed);
    seep_json_set(json, "unexplained_bytes", seep_json_count(s->unexplained_bytes), &failed);
    seep_json_set(json, "unexplained_growth_bytes_per_step", growth_json(&rss->unexplained),
                  &failed);
    seep_json_set(json, "unexplained_grows", json_boolean(rss->unexplained.growing), &failed);
    seep_json_set(json, "heap_free_growth_bytes_per_step", growth_json(&rss->heap_free), &failed);
    seep_json_set(json, "heap_free_grows", json_boolean(rss->heap_free.growing), &failed);
    if (!failed)
        return json;
    json_decref(json);
    return NULL;
}

/* ---- sentences ----------------------------------------------------------------------------- */

static void say(struct said *said, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct said *said, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    if (vasprintf(&text, format, args) >= 0) {
        json_array_append_new(said->list, seep_json_text(text));
        free(text);
    }
    va_end(args);
}

static void say_more(struct said *said, size_t n, const char *what)
{
    if (n > MAX_SAID)
        say(said, "and %zu more %s", n - MAX_SAID, what);
}

/* "pid 12", "pid 12 and 3 more" */
static const char *pids_text(uint32_t first, size_t n, char text[64])
{
    if (n > 1)
        snprintf(text, 64, "pid %u and %zu more", first, n - 1);
    else
        snprintf(text, 64, "pid %u", first);
    return text;
}

/* ---- whose malloc -------------------------------------------------------------------------- */

/* libc itself calls malloc in any program that does something, unless another one is in its place.
 */
static bool never_called_malloc(const struct seep_model_process *p)
{
    static const enum hook heap[] = {
        HOOK_malloc,         HOOK_calloc,        HOOK_realloc,  HOOK_reallocarray,
        HOOK_posix_memalign, HOOK_aligned_alloc, HOOK_memalign,
    };
    static const enum hook maps[] = {HOOK_mmap,    HOOK_mmap64, HOOK_mprotect,
                                     HOOK_madvise, HOOK_sbrk,   HOOK_brk};
    const struct seep_process_recording *r = &p->recording;
    bool any_heap = false, any_map = false;

    for (size_t i = 0; i < sizeof heap / sizeof *heap; i++)
        any_heap |= r->hooks_seen[heap[i]];
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        any_map |= r->hooks_seen[maps[i]];
    return !r->inherits && any_map && !any_heap;
}

/* The file whose allocator the process used in place of what seep sees; NULL: it did not. */
static const char *own_malloc_of(const struct seep_model_process *p)
{
    if (p->id.allocator[0])
        return p->id.allocator;
    return never_called_malloc(p) && p->id.exe[0] ? p->id.exe : NULL;
}

/* Those that bring the same one: by the path of the file, or where only that is known, its name. */
struct own_malloc {
    const char *path;
    uint32_t pid;
    size_t n;
    bool never;
};

struct own_mallocs {
    struct own_malloc list[MAX_SAID];
    size_t n;
};

static void note_own_malloc(struct own_mallocs *all, const char *path, uint32_t pid, bool never)
{
    size_t k = 0;

    if (!path)
        return;
    while (k < all->n && strcmp(all->list[k].path, path) != 0)
        k++;
    if (k == MAX_SAID)
        return;
    if (k == all->n)
        all->list[all->n++] = (struct own_malloc){path, pid, 0, true};
    all->list[k].n++;
    all->list[k].never &= never;
}

static void say_own_malloc(struct said *said, const struct own_malloc *own)
{
    char name[SEEP_OWN_ALLOCATOR_TEXT] = "", pids[64];
    struct seep_own_allocator found;

    if (said->parts->may_look && own->path[0] == '/' && seep_own_allocator_find(own->path, &found))
        seep_own_allocator_text(&found, name);
    say(said,
        "%s: malloc was %s here: %s brings its own%s%s%s: what it hands out shows in RSS and "
        "in its maps only: use its own profiler, or build it without",
        pids_text(own->pid, own->n, pids), own->never ? "never called" : "mostly not called",
        seep_text_base(own->path), name[0] ? " (" : "", name, name[0] ? ")" : "");
}

static void say_own_mallocs(struct said *said)
{
    const struct seep_model *m = said->parts->m;
    struct own_mallocs all = {.n = 0};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        note_own_malloc(&all, own_malloc_of(p), p->id.pid, !p->recording.hooks_seen[HOOK_malloc]);
    }
    for (size_t i = 0; i < m->n_bares; i++) {
        const struct seep_process *e = m->bares[i].entry;
        if (e->flags & SEEP_PROCESS_OWN_MALLOC)
            note_own_malloc(&all, e->name, e->pid, true);
    }
    for (size_t i = 0; i < all.n; i++)
        say_own_malloc(said, &all.list[i]);
}

/* ---- allocators inside libraries ----------------------------------------------------------- */

/* The module that asked for a map: that of the innermost frame. 0: none. */
static uint32_t asking_module(const struct seep_model *m, const struct seep_model_site *site)
{
    enum seep_space_class class = m->spaces[site->space].name.class;
    const struct seep_dict_frame *f = &m->dict.frames[m->dict.stacks[site->stack].frame];

    if (!site->stack || f->kind != SEEP_FRAME_NATIVE || f->pseudo ||
        (class != SEEP_CLASS_MMAP && class != SEEP_CLASS_SHM))
        return 0;
    return f->source;
}

static bool is_own_malloc_of_any(const struct seep_model *m, const char *path)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        const char *its = own_malloc_of(&m->processes[i]);
        if (its && strcmp(its, path) == 0)
            return true;
    }
    return false;
}

/* CPython carries mimalloc from 3.13 on. What it maps are arenas of its objects, with that or with
 * its own allocator: they are known as such. */
static bool is_interpreter(const char *path)
{
    const char *name = seep_text_base(path);

    return strncmp(name, "libpython", 9) == 0 || strncmp(name, "python", 6) == 0;
}

static void add_library(const struct seep_model *m, uint32_t module, char *text, size_t capacity)
{
    const char *path = seep_dictionary_text(&m->dict, m->dict.modules[module].path);
    char name[SEEP_OWN_ALLOCATOR_TEXT];
    struct seep_own_allocator found;
    size_t n = strlen(text);

    if (!is_interpreter(path) && !is_own_malloc_of_any(m, path) &&
        seep_own_allocator_find(path, &found))
        snprintf(text + n, capacity - n, "%s%s (%s)", n ? ", " : "", seep_text_base(path),
                 seep_own_allocator_text(&found, name));
}

static void say_libraries(struct said *said)
{
    const struct seep_model *m = said->parts->m;
    bool *asked = said->parts->may_look ? calloc(m->dict.n_modules, sizeof *asked) : NULL;
    size_t n_looked = 0;
    char text[1024] = "";

    for (size_t i = 0; i < m->n_sites && asked && n_looked < MAX_FILES; i++) {
        uint32_t module = asking_module(m, &m->sites[i]);
        if (!module || asked[module])
            continue;
        asked[module] = true;
        n_looked++;
        add_library(m, module, text, sizeof text);
    }
    free(asked);
    if (text[0])
        say(said,
            "allocators of their own: %s: extents only: the maps that they take are recorded, "
            "not the blocks that they hand out of them",
            text);
}

/* ---- processes that could not record -------------------------------------------------------- */

static void say_trouble(struct said *said, const struct seep_process *e, uint32_t job_uid)
{
    char who[96];

    snprintf(who, sizeof who, "pid %u%s%s%s", e->pid, e->name[0] ? " (" : "", e->name,
             e->name[0] ? ")" : "");
    if (e->trouble == SEEP_TROUBLE_SANDBOX)
        say(said,
            "%s: a seccomp filter of its own forbids what seep needs: nothing more of it was "
            "recorded",
            who);
    else if (e->trouble == SEEP_TROUBLE_FOLDER)
        say(said, "%s: --max-folder was reached: it is only counted, without stacks", who);
    else if (e->uid != job_uid && (e->trouble_errno == EACCES || e->trouble_errno == EPERM))
        say(said,
            "%s became uid %u and could not write %s: let the job keep its user, or give that "
            "one the folder",
            who, e->uid, e->trouble == SEEP_TROUBLE_PROFILE ? "a profile" : "its profile");
    else
        say(said, "%s: its profile could not be %s: %s", who,
            e->trouble == SEEP_TROUBLE_PROFILE ? "made" : "grown",
            e->trouble_errno ? strerror(e->trouble_errno) : "for an unknown reason");
}

static void say_troubles(struct said *said)
{
    const struct seep_model *m = said->parts->m;
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_job *job = m->jobs[i];
        for (uint32_t k = 0; job && k < job->n_processes; k++) {
            const struct seep_process *e = &job->processes[k];
            if (e->pid && e->trouble && ++n <= MAX_SAID)
                say_trouble(said, e, job->processes[0].uid);
        }
    }
    say_more(said, n, "processes could not write their profiles");
}

/* ---- programs that could not be entered ------------------------------------------------------ */

static bool same_exec(const struct seep_process *a, const struct seep_process *b)
{
    return a->exec_entry == b->exec_entry && strcmp(a->exec_path, b->exec_path) == 0;
}

/* Each program once, with how many processes became it. */
static void say_entries_of(struct said *said, const struct seep_job *job, size_t *n_said)
{
    for (uint32_t i = 0; i < job->n_processes; i++) {
        const struct seep_process *e = &job->processes[i];
        size_t n = 0;
        bool first = e->pid && e->exec_path[0] && e->exec_entry;
        char pids[64];
        for (uint32_t k = 0; k < i && first; k++)
            first = !(job->processes[k].pid && same_exec(&job->processes[k], e));
        for (uint32_t k = i; k < job->n_processes && first; k++)
            n += job->processes[k].pid && same_exec(&job->processes[k], e);
        if (first && ++*n_said <= MAX_SAID)
            say(said, "%s became %s, which %s: nothing is recorded of that: %s",
                pids_text(e->pid, n, pids), e->exec_path,
                seep_entry_words((enum seep_entry)e->exec_entry),
                seep_entry_advice((enum seep_entry)e->exec_entry));
    }
}

/* A program that was replaced, and whatever came after it took no entry. */
static bool vanished(const struct seep_model_process *p)
{
    if (!p->execed || !p->entry || p->entry->exec_path[0])
        return false;
    uint32_t at = (uint32_t)(p->entry - p->job->processes);
    for (uint32_t i = at + 1; i < p->job->n_processes; i++) {
        if (p->job->processes[i].pid == p->entry->pid)
            return false;
    }
    return true;
}

static void say_execs(struct said *said)
{
    const struct seep_model *m = said->parts->m;
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        if (m->jobs[i])
            say_entries_of(said, m->jobs[i], &n);
    }
    say_more(said, n, "programs could not be entered");
    n = 0;
    for (size_t i = 0; i < m->n_processes; i++) {
        if (vanished(&m->processes[i]) && ++n <= MAX_SAID)
            say(said,
                "pid %u was replaced by another program, of which nothing was seen: seep doctor "
                "-- PROGRAM tells why",
                m->processes[i].id.pid);
    }
    say_more(said, n, "were replaced so");
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void say_optimizers(struct said *said)
{
    const struct seep_model *m = said->parts->m;
    size_t n = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const struct seep_process *e = p->entry;
        if (!e || e->step_source != SEEP_STEP_OPTIMIZER || e->optimizer_calls < OPTIMIZER_CALLS ||
            e->steps >= e->optimizer_calls / CALLS_A_STEP || ++n > MAX_SAID)
            continue;
        say(said,
            "pid %u: an optimizer's step() ended %u times, but only %u counted: each call was "
            "of another optimizer: call seep.step() where a step of the training ends",
            e->pid, e->optimizer_calls, e->steps);
    }
    say_more(said, n, "processes are the same");
    if (m->step_source == SEEP_STEP_TIME)
        say(said, "no training steps: growth is per time slice of %d ms", SEEP_TIME_SLICE_MS);
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void say_dropped(struct said *said, const struct seep_model_process *p)
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
        uint64_t n = p->recording.dropped[i];
        if (n && i != SEEP_DROP_FREE_UNKNOWN)
            say(said, "pid %u: %llu events dropped: %s", p->id.pid, (unsigned long long)n,
                why[i] ? why[i] : "for a reason that this seep does not know");
    }
}

static void say_process(struct said *said, const struct seep_model_process *p)
{
    const struct seep_process_recording *r = &p->recording;
    uint32_t v = p->id.python_version, pid = p->id.pid;
    char size[SEEP_SIZE_TEXT];

    if (!p->id.python_is_known)
        say(said, "pid %u: Python %u.%u is not known to this seep: native stacks only", pid,
            v >> 24, v >> 16 & 0xff);
    if (p->truncated)
        say(said, "%s: the file is cut: what lay beyond is missing", p->id.file);
    if (p->orphaned)
        say(said, "%s: the profile of its parent is missing: stacks known from there are not shown",
            p->id.file);
    if (r->sample_bytes)
        say(said, "pid %u: sampled every %llu bytes on average: counts and bytes are estimates",
            pid, (unsigned long long)r->sample_bytes);
    if (r->uncounted_stacks_bytes)
        say(said, "pid %u: its first %s were counted without stacks, before it had a profile", pid,
            seep_text_size((double)r->uncounted_stacks_bytes, size));
    say_dropped(said, p);
}

static void say_missing(struct said *said)
{
    const struct seep_model *m = said->parts->m;
    size_t n_missing = 0, n_counted = 0;

    for (size_t i = 0; i < m->n_bares; i++) {
        const struct seep_process *e = m->bares[i].entry;
        if (e->trouble || e->exec_entry)
            continue; /* said already */
        if (seep_bare_is_counted(e))
            n_counted++;
        else if (++n_missing <= MAX_SAID)
            say(said, "pid %u: no profile: it ended before it recorded, or the file is gone",
                e->pid);
    }
    say_more(said, n_missing, "have no profile");
    for (size_t i = 0; i < m->n_jobs; i++) {
        for (int k = 0; m->jobs[i] && k < SEEP_MAX_FOLDED; k++)
            n_counted = seep_sum(n_counted, m->jobs[i]->folded[k].n);
    }
    if (n_counted)
        say(said, "%zu process%s allocated too little for a profile: counted, without stacks",
            n_counted, n_counted == 1 ? "" : "es");
}

json_t *seep_json_coverage(const struct seep_report_parts *parts)
{
    const struct seep_model *m = parts->m;
    struct said said = {parts, json_array()};

    say_own_mallocs(&said);
    say_libraries(&said);
    say_troubles(&said);
    say_execs(&said);
    say_optimizers(&said);
    for (size_t i = 0; i < m->n_not_read; i++)
        say(&said, "%s: %s", m->not_read[i].name, m->not_read[i].reason);
    for (size_t i = 0; i < m->n_processes; i++)
        say_process(&said, &m->processes[i]);
    say_missing(&said);
    if (parts->n_left_out)
        say(&said, "%zu more site%s left out of this list, which has a bound: --all lists all",
            parts->n_left_out, parts->n_left_out == 1 ? " is" : "s are");
    return json_pack("{s:o, s:o, s:o}", "hooks", hooks_seen(m), "not_seen", said.list, "rss",
                     seep_json_rss(&parts->rss->job));
}
