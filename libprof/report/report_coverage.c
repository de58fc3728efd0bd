/* Coverage, in report.json, says what was seen and what could not be: each gap has its sentence. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/code/packages/library_allocators.h"
#include "libprof/format/profile_format.h"
#include "libprof/model/unprofiled_processes.h"
#include "libprof/program/own_allocator.h"
#include "libprof/program/program_entry_words.h"
#include "libprof/report/report_pieces.h"
#include "libprof/report/report_said.h"
#include "libprof/runtime/program/program_entry.h"
#include "libprof/thresholds/thresholds.h"

/* Memory of devices, tier by tier: what was taken from the driver, how much of it PyTorch's
 * allocator reports as its own, how much of that its tensors fill, and what none of them
 * explains. */

struct tiers {
    uint64_t driver_bytes, reserved_bytes, tensor_bytes, unexplained_bytes;
};

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The tiers of a process at its end. */
static struct tiers tiers_of(const struct seep_model *m, const struct seep_model_process *p,
                             size_t device)
{
    const struct seep_tensor_books *books = &p->recording.tensors[device];
    struct tiers t = {.reserved_bytes = books->reserved_bytes};

    for (size_t i = 0; i < SEEP_MAX_SPACES; i++) {
        const struct seep_space_name *name =
            p->space_of[i] ? &m->spaces[p->space_of[i] - 1].name : NULL;
        if (!name || name->device != (int)device)
            continue;
        if (name->class == SEEP_CLASS_DEVICE)
            t.driver_bytes = seep_totals_live(&p->spaces[i]);
        else if (name->class == SEEP_CLASS_TENSOR)
            t.tensor_bytes = seep_totals_live(&p->spaces[i]);
    }
    t.unexplained_bytes = above(t.driver_bytes, t.reserved_bytes > t.tensor_bytes ? t.reserved_bytes
                                                                                  : t.tensor_bytes);
    return t;
}

/* The sums over all processes. */
static struct tiers tiers_of_job(const struct seep_model *m, size_t device)
{
    struct tiers sum = {0};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct tiers its = tiers_of(m, &m->processes[i], device);
        sum.driver_bytes = seep_sum(sum.driver_bytes, its.driver_bytes);
        sum.reserved_bytes = seep_sum(sum.reserved_bytes, its.reserved_bytes);
        sum.tensor_bytes = seep_sum(sum.tensor_bytes, its.tensor_bytes);
        sum.unexplained_bytes = seep_sum(sum.unexplained_bytes, its.unexplained_bytes);
    }
    return sum;
}

static bool has_space(const struct seep_model *m, size_t device)
{
    for (size_t i = 0; i < m->n_spaces; i++)
        if (m->spaces[i].name.class == SEEP_CLASS_DEVICE && m->spaces[i].recorded &&
            m->spaces[i].name.device == (int)device)
            return true;
    return false;
}

static json_t *devices_json(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct tiers t = tiers_of_job(m, i);
        if (has_space(m, i))
            seep_json_append(
                list,
                SEEP_REPORT_JSON(runtime_device, .device = i, .driver_bytes = t.driver_bytes,
                                 .reserved_bytes = t.reserved_bytes, .tensor_bytes = t.tensor_bytes,
                                 .unexplained_bytes = t.unexplained_bytes),
                &failed);
    }
    return seep_json_whole(list, failed);
}

/* NULL: CUPTI was not requested, or CUDA was not used. */
static const char *cupti_state(const struct seep_process_recording *r)
{
    static const char *const states[] = {
        [SEEP_CUPTI_LISTENS] = "listens",
        [SEEP_CUPTI_ABSENT] = "absent",
        [SEEP_CUPTI_REFUSED] = "refused",
    };

    return r->cupti < sizeof states / sizeof *states ? states[r->cupti] : NULL;
}

static json_t *cupti_json(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_process_recording *r = &m->processes[i].recording;
        if (cupti_state(r))
            seep_json_append(
                list,
                SEEP_REPORT_JSON(cupti, .pid = m->processes[i].id.pid, .state = cupti_state(r),
                                 .error =
                                     seep_count_if(r->cupti == SEEP_CUPTI_REFUSED, r->cupti_error)),
                &failed);
    }
    return seep_json_whole(list, failed);
}

/* What the drivers of devices gave below that, in `coverage`. */
static json_t *json_runtime(const struct seep_model *m)
{
    struct seep_device_aliases sum = {0};
    uint64_t ipc_blocks = 0, refused = 0;
    bool failed = false;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_process_recording *r = &m->processes[i].recording;
        sum.registered_bytes = seep_sum(sum.registered_bytes, r->aliases.registered_bytes);
        sum.registered_peak_bytes =
            seep_sum(sum.registered_peak_bytes, r->aliases.registered_peak_bytes);
        ipc_blocks += above(r->aliases.ipc_opened, r->aliases.ipc_closed);
        refused += r->n_refused;
    }
    json_t *json = SEEP_REPORT_JSON(
        runtime, .devices = devices_json(m), .registered_bytes = sum.registered_bytes,
        .registered_peak_bytes = sum.registered_peak_bytes, .ipc_blocks = ipc_blocks,
        .refused = refused, .cupti = seep_json_made(cupti_json(m), &failed));
    return seep_json_whole(json, failed);
}

/* Says why CUPTI reports nothing although it was requested. */
static void say_cupti(struct seep_said *said, const struct seep_model_process *p)
{
    const struct seep_process_recording *r = &p->recording;

    if (r->cupti == SEEP_CUPTI_ABSENT)
        seep_said_add(said,
                      "pid %u: --gpu=cupti: no usable libcupti.so was found: add the folder "
                      "of CUDA's libcupti.so to LD_LIBRARY_PATH",
                      p->id.pid);
    else if (r->cupti == SEEP_CUPTI_REFUSED && r->cupti_error == SEEP_CUPTI_TAKEN)
        seep_said_add(said,
                      "pid %u: --gpu=cupti: another tool uses CUPTI, which serves only one "
                      "(error %u): run the job without that tool (nsys, ncu, a profiler of its "
                      "own)",
                      p->id.pid, r->cupti_error);
    else if (r->cupti == SEEP_CUPTI_REFUSED)
        seep_said_add(said, "pid %u: --gpu=cupti: CUPTI refused seep (error %u)", p->id.pid,
                      r->cupti_error);
}

/* Whether some allocator of the job has settings with which it reports no blocks. */
static bool is_silent(const struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].recording.allocator_settings &
            (SEEP_ALLOCATOR_ASYNC | SEEP_ALLOCATOR_NO_CACHE))
            return true;
    }
    return false;
}

/* Memory of devices that no allocator accounts for. */
static void said_runtime(struct seep_said *said)
{
    for (size_t i = 0; i < said->pieces->code->model->n_processes; i++)
        say_cupti(said, &said->pieces->code->model->processes[i]);
    for (size_t i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct tiers t = tiers_of_job(said->pieces->code->model, i);
        char bytes[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];
        if (t.unexplained_bytes)
            seep_said_add(
                said,
                "GPU %zu: %s of %s taken from the driver %s; it counts at the lines that "
                "took it",
                i, seep_text_size((double)t.unexplained_bytes, bytes),
                seep_text_size((double)t.driver_bytes, all),
                is_silent(said->pieces->code->model)
                    ? "is not reported by PyTorch's allocator, which is set to keep no cache"
                    : "does not belong to PyTorch's allocator");
    }
}

/* This part of report.json's coverage names processes that could not record, and programs that seep
 * could not enter. */

/* ---- processes that could not record ----------------------------------------------------- */

static void say_trouble(struct seep_said *said, const struct seep_process *e, uint32_t job_uid)
{
    char who[96];

    snprintf(who, sizeof who, "pid %u%s%s%s", e->pid, e->name[0] ? " (" : "", e->name,
             e->name[0] ? ")" : "");
    if (e->trouble == SEEP_TROUBLE_SANDBOX)
        seep_said_add(said,
                      "%s: its own seccomp filter forbids what seep needs: nothing more of it "
                      "was recorded",
                      who);
    else if (e->trouble == SEEP_TROUBLE_FOLDER)
        seep_said_add(said, "%s: --max-folder was reached: it is only counted, without stacks",
                      who);
    else if (e->uid != job_uid && (e->trouble_errno == EACCES || e->trouble_errno == EPERM))
        seep_said_add(said,
                      "%s became uid %u and could not write %s: let the job keep its user, or "
                      "give that user the folder",
                      who, e->uid,
                      e->trouble == SEEP_TROUBLE_PROFILE ? "a profile" : "its profile");
    else
        seep_said_add(said, "%s: its profile could not be %s: %s", who,
                      e->trouble == SEEP_TROUBLE_PROFILE ? "created" : "extended",
                      e->trouble_errno ? strerror(e->trouble_errno) : "for an unknown reason");
}

static void say_unwritten(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_job *job = m->jobs[i];
        for (uint32_t k = 0; job && k < job->n_processes; k++) {
            const struct seep_process *e = &job->processes[k];
            if (e->pid && e->trouble && ++n <= SEEP_SAID_MOST)
                say_trouble(said, e, job->processes[0].uid);
        }
    }
    seep_said_more(said, n, "processes could not write their profiles");
}

/* ---- programs that could not be entered -------------------------------------------------- */

static bool same_exec(const struct seep_process *a, const struct seep_process *b)
{
    return a->exec_entry == b->exec_entry && strcmp(a->exec_path, b->exec_path) == 0;
}

/* A static program that ended before the first look of `seep run` at it, and was small: ldconfig, or
 * another short-lived tool. The job's own program is always told, and so are other reasons: the
 * user can do something about those. */
static bool was_brief_tool(const struct seep_job *job, uint32_t i)
{
    const struct seep_process *e = &job->processes[i];

    return i && e->exec_entry == SEEP_ENTRY_STATIC && job->pss_peak_bytes && e->has_status &&
           !e->pss_peak_bytes && e->rss_peak_bytes < SEEP_T_LARGE_BYTES;
}

static bool is_told(const struct seep_job *job, uint32_t i)
{
    const struct seep_process *e = &job->processes[i];

    return e->pid && e->exec_path[0] && e->exec_entry && !was_brief_tool(job, i);
}

/* Each program once, with the number of processes that became it. */
static void say_entries_of(struct seep_said *said, const struct seep_job *job, size_t *n_said)
{
    for (uint32_t i = 0; i < job->n_processes; i++) {
        const struct seep_process *e = &job->processes[i];
        size_t n = 0;
        bool first = is_told(job, i);
        char pids[64];
        for (uint32_t k = 0; k < i && first; k++)
            first = !(is_told(job, k) && same_exec(&job->processes[k], e));
        for (uint32_t k = i; k < job->n_processes && first; k++)
            n += is_told(job, k) && same_exec(&job->processes[k], e);
        if (first && ++*n_said <= SEEP_SAID_MOST)
            seep_said_add(said, "%s became %s, which %s, so nothing of it is recorded: %s",
                          seep_said_pids(e->pid, n, pids), e->exec_path,
                          seep_entry_words((enum seep_entry)e->exec_entry),
                          seep_entry_advice((enum seep_entry)e->exec_entry));
    }
}

/* Whether the process became another program, and nothing after it has an entry. */
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

static void say_execs(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        if (m->jobs[i])
            say_entries_of(said, m->jobs[i], &n);
    }
    seep_said_more(said, n, "programs could not be entered");
    n = 0;
    for (size_t i = 0; i < m->n_processes; i++) {
        if (vanished(&m->processes[i]) && ++n <= SEEP_SAID_MOST)
            seep_said_add(said,
                          "pid %u was replaced by another program, which recorded nothing: seep "
                          "doctor -- PROGRAM tells why",
                          m->processes[i].id.pid);
    }
    seep_said_more(said, n, "were replaced by other programs");
}

/* ---- machines that met in one folder ----------------------------------------------------- */

/* Whether a table is of another machine than one that recorded beside it without any. */
static bool is_foreign(const struct seep_model *m, const struct seep_model_process *p)
{
    const struct seep_job *job = p->folder < m->n_jobs ? m->jobs[p->folder] : NULL;

    return job && !p->entry && job->host[0] && p->id.host[0] && strcmp(job->host, p->id.host) != 0;
}

static void say_machines(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        if (m->jobs[i] && m->jobs[i]->is_part == 1 && ++n <= SEEP_SAID_MOST)
            seep_said_add(
                said,
                "host %s: SEEP_OUT named a folder with the table of another machine or boot: its "
                "processes recorded in a folder in there, and follow no steps of others",
                m->jobs[i]->host);
    }
    seep_said_more(said, n, "found another machine's table");
    n = 0;
    for (size_t i = 0; i < m->n_processes; i++) {
        if (is_foreign(m, &m->processes[i]) && ++n <= SEEP_SAID_MOST)
            seep_said_add(
                said,
                "pid %u on host %s: the folder has the table of another machine (%s), and no "
                "folder could be made in there: who started it, and how it ended, is "
                "known only from itself",
                m->processes[i].id.pid, m->processes[i].id.host,
                m->jobs[m->processes[i].folder]->host);
    }
    seep_said_more(said, n, "recorded beside another machine's table");
}

/* Processes that could not record, and programs that a preload cannot enter
 *. */
static void said_troubles(struct seep_said *said)
{
    say_machines(said);
    say_unwritten(said);
    say_execs(said);
}

/* This part of report.json's coverage names allocators that are not libc's: those that replace a
 * process's malloc, and those inside libraries. */

enum { MAX_FILES = 24 }; /* that are examined */

/* Indices of coverage_seen[]. */
enum hook {
#define SEEP_HOOK(name, ...) HOOK_##name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
    HOOK_NVTX = HOOK_InitializeInjectionNvtx2,
};

/* ---- whose malloc ------------------------------------------------------------------------ */

/* libc itself calls malloc in any program that does something, unless another malloc replaces
 * it. */
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

/* The file whose allocator the process used instead of the one that seep sees; NULL: none. */
static const char *own_malloc_of(const struct seep_model_process *p)
{
    if (p->id.allocator[0])
        return p->id.allocator;
    return never_called_malloc(p) && p->id.exe[0] ? p->id.exe : NULL;
}

/* Processes with the same one: by the file's path or, if only that is known, its name. */
struct own_malloc {
    const char *path;
    uint32_t pid;
    size_t n;
    bool never;
};

struct own_mallocs {
    struct own_malloc list[SEEP_SAID_MOST];
    size_t n;
};

static void note_own_malloc(struct own_mallocs *all, const char *path, uint32_t pid, bool never)
{
    size_t k = 0;

    if (!path)
        return;
    while (k < all->n && strcmp(all->list[k].path, path) != 0)
        k++;
    if (k == SEEP_SAID_MOST)
        return;
    if (k == all->n)
        all->list[all->n++] = (struct own_malloc){path, pid, 0, true};
    all->list[k].n++;
    all->list[k].never &= never;
}

static void say_own_malloc(struct seep_said *said, const struct own_malloc *own)
{
    char name[SEEP_OWN_ALLOCATOR_TEXT] = "", pids[64];
    struct seep_own_allocator found;

    if (said->pieces->may_open && own->path[0] == '/' && seep_own_allocator_find(own->path, &found))
        seep_own_allocator_text(&found, name);
    seep_said_add(said,
                  "%s: malloc was %s here: %s brings its own%s%s%s, whose blocks show only "
                  "in RSS and in its mappings. Use its own profiler, or build it without",
                  seep_said_pids(own->pid, own->n, pids),
                  own->never ? "never called" : "mostly not called", seep_text_base(own->path),
                  name[0] ? " (" : "", name, name[0] ? ")" : "");
}

static void say_own_mallocs(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    struct own_mallocs all = {.n = 0};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        note_own_malloc(&all, own_malloc_of(p), p->id.pid, !p->recording.hooks_seen[HOOK_malloc]);
    }
    for (size_t i = 0; i < m->n_unprofiled; i++) {
        const struct seep_process *e = m->unprofiled[i].entry;
        if (e->flags & SEEP_PROCESS_OWN_MALLOC)
            note_own_malloc(&all, e->name, e->pid, true);
    }
    for (size_t i = 0; i < all.n; i++)
        say_own_malloc(said, &all.list[i]);
}

/* ---- allocators inside libraries --------------------------------------------------------- */

/* The module that asked for a map: the innermost frame's. 0: none. */
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

/* CPython includes mimalloc from 3.13 on. With it or with its own allocator, what it maps are
 * arenas of its objects, which seep knows. */
static bool is_interpreter(const char *path)
{
    const char *name = seep_text_base(path);

    return strncmp(name, "libpython", 9) == 0 || strncmp(name, "python", 6) == 0;
}

/* A file may contain several; who asked for the map is the one that is used. */
static int find_allocator(const struct seep_code *code, uint32_t stack, const char *path,
                          char name[SEEP_OWN_ALLOCATOR_TEXT])
{
    const struct seep_library_allocator *its;
    struct seep_own_allocator found;

    *name = '\0';
    if (seep_library_allocator_of_stack(code, stack, &its))
        return -SEEP_ENOMEM;
    if (seep_own_allocator_find(path, &found))
        seep_own_allocator_text(&found, name);
    if (its && strncmp(name, its->allocator, strlen(its->allocator)) != 0)
        snprintf(name, SEEP_OWN_ALLOCATOR_TEXT, "%s", its->allocator);
    return 0;
}

static int add_library(const struct seep_code *code, uint32_t stack, const char *path, char *text,
                       size_t capacity)
{
    char name[SEEP_OWN_ALLOCATOR_TEXT];
    const size_t n = strlen(text);

    if (is_interpreter(path) || is_own_malloc_of_any(code->model, path))
        return 0;
    const int rc = find_allocator(code, stack, path, name);
    if (!rc && *name)
        snprintf(text + n, capacity - n, "%s%s (%s)", n ? ", " : "", seep_text_base(path), name);
    return rc;
}

static void say_libraries(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    bool *asked = said->pieces->may_open ? calloc(m->dict.n_modules + 1, sizeof *asked) : NULL;
    size_t n_looked = 0;
    char text[1024] = "";

    for (size_t i = 0; i < m->n_sites && asked && n_looked < MAX_FILES; i++) {
        uint32_t module = asking_module(m, &m->sites[i]);
        if (!module || asked[module])
            continue;
        asked[module] = true;
        n_looked++;
        said->failed |= add_library(said->pieces->code, m->sites[i].stack,
                                    seep_dictionary_text(&m->dict, m->dict.modules[module].path),
                                    text, sizeof text) != 0;
    }
    said->failed |= said->pieces->may_open && !asked;
    free(asked);
    if (text[0])
        seep_said_add(said,
                      "libraries with their own allocator: %s: seep records the memory that they "
                      "map, but not the blocks that they hand out",
                      text);
}

/* Programs and libraries whose allocator is not libc's. */
static void said_allocators(struct seep_said *said)
{
    say_own_mallocs(said);
    say_libraries(said);
}

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
    if (m->step_source == SEEP_STEP_TIME && m->processes[m->main].recording.of_torch)
        seep_said_add(said,
                      "no training steps are in the snapshot: call "
                      "torch.cuda.memory._record_memory_history() before the training, with a "
                      "max_entries that several steps fit into");
    else if (m->step_source == SEEP_STEP_TIME)
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
    if (r->uncounted_stacks_bytes && !r->of_torch)
        seep_said_add(said,
                      "pid %u: its first %s were counted without stacks, before it had a profile",
                      pid, seep_text_size((double)r->uncounted_stacks_bytes, size));
    say_dropped(said, p);
}

/* Processes are in the order of their files. */
static void say_torch(struct seep_said *said)
{
    static const char knows[] = "GPUs and pinned memory, but not the host's memory, other "
                                "processes, or how the program ended";
    const struct seep_model *m = said->pieces->code->model;
    const struct seep_model_process *first = NULL;
    char size[SEEP_SIZE_TEXT];
    uint64_t before = 0;
    uint32_t steps = 0;
    size_t n = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (!p->recording.of_torch)
            continue;
        first = first ? first : p;
        before = seep_sum(before, p->recording.uncounted_stacks_bytes);
        steps = p->recording.steps_before > steps ? p->recording.steps_before : steps;
        n++;
    }
    if (n == 1)
        seep_said_add(said, "%s: PyTorch's memory snapshot knows %s", first->id.file, knows);
    else if (n)
        seep_said_add(said,
                      "processes are %zu memory snapshots of PyTorch's, numbered in the order of "
                      "their names: these know %s",
                      n, knows);
    if (before)
        seep_said_add(said,
                      "the history begins later than the training: %s that was live then has no "
                      "line: set max_entries of _record_memory_history() higher",
                      seep_text_size((double)before, size));
    if (steps)
        seep_said_add(
            said,
            "the history has the last %u steps: older blocks are taken to have come at the "
            "pace of these, in %u steps before",
            m->n_steps > steps ? m->n_steps - steps : 0, steps);
}

static void say_pprof(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;

    for (size_t i = 0; i < m->n_processes; i++)
        if (m->processes[i].recording.of_pprof)
            seep_said_add(said,
                          "%s: a heap profile knows what was live when it was written; what grew, "
                          "two of them tell (seep diff)",
                          m->processes[i].id.file);
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

    for (size_t i = 0; i < m->n_unprofiled; i++) {
        const struct seep_process *e = m->unprofiled[i].entry;
        if (e->trouble || e->exec_entry)
            continue; /* has its sentence already */
        if (seep_unprofiled_is_counted(e))
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
    return seep_json_whole(SEEP_REPORT_JSON(looks, .taken = taken, .refused = refused), failed);
}

json_t *seep_json_coverage(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    struct seep_said said = {.pieces = pieces, .list = json_array()};
    bool failed = false;

    said_allocators(&said);
    said_troubles(&said);
    say_readers(&said);
    say_short(&said);
    say_nvtx(&said);
    say_optimizers(&said);
    for (size_t i = 0; i < m->n_not_read; i++)
        seep_said_add(&said, "%s: %s", m->not_read[i].name, m->not_read[i].reason);
    for (size_t i = 0; i < m->n_processes; i++)
        say_process(&said, &m->processes[i]);
    say_torch(&said);
    say_missing(&said);
    say_pprof(&said);
    say_small_sites(&said);
    say_holders(&said);
    seep_said_tensors(&said);
    said_runtime(&said);
    if (pieces->n_left_out)
        seep_said_add(&said, "%zu more site%s left out of this list: --all lists all",
                      pieces->n_left_out, pieces->n_left_out == 1 ? " is" : "s are");
    json_t *json = SEEP_REPORT_JSON(
        coverage, .hooks = hooks_seen(m), .holders = seep_json_made(copies_seen(m), &failed),
        .tensors = seep_json_made(seep_json_tensors(m), &failed),
        .runtime = seep_json_made(json_runtime(m), &failed), .not_seen = said.list,
        .rss = seep_json_made(seep_json_rss(&pieces->rss->job), &failed));
    return seep_json_whole(json, failed || said.failed);
}
