/* The words of findings: a title that says what happens, and what to do. */
#include "libprof/verdict/finding_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"
#include "libprof/code/name_patterns.h"
#include "libprof/code/packages/blame.h"
#include "libprof/code/packages/library_allocators.h"
#include "libprof/measure/oom.h"
#include "libprof/who/merge/hops.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/findings/holder_advice.h"
#include "libprof/words/python_file.h"
#include "libprof/words/step_words.h"

/* What findings say of memory that a library's own allocator asked for. */

static bool is_of_library(const struct seep_finding *f)
{
    return f->pattern == SEEP_PATTERN_LIBRARY_ALLOCATOR;
}

/* Patterns whose usual advice knows nothing of who holds the memory. */
static bool is_advised(const struct seep_finding *f)
{
    return is_of_library(f) || f->pattern == SEEP_PATTERN_RESERVATION ||
           f->pattern == SEEP_PATTERN_DOUBLING;
}

static void note(const struct seep_library_allocator *its, const char *name, struct seep_finding *f)
{
    if (is_of_library(f))
        seep_finding_note(f,
                          "This line is where %s needed one more map: other lines that call %s may "
                          "use what is in it",
                          its->library, its->library);
    else if (*its->live)
        seep_finding_note(f,
                          "The own allocator (%s) of %s asked for this memory, and hands out "
                          "pieces of it. What is in use: %s",
                          its->allocator, name, its->live);
    else
        seep_finding_note(
            f, "The own allocator (%s) of %s asked for this memory, and hands out pieces of it",
            its->allocator, name);
}

static char *advice(const struct seep_library_allocator *its)
{
    return *its->live ? seep_text_format(
                            "Watch what is in use: %s. If that grows, too, something keeps objects "
                            "of %s; if it is flat, the allocator keeps free memory. %s",
                            its->live, its->library, its->setting)
                      : seep_text_format(
                            "Look for objects of %s that are kept: it does not tell what it has in "
                            "use. If there are none, the allocator keeps free memory. %s",
                            its->library, its->setting);
}

/* Whether the interpreter itself asked, for mimalloc, which CPython contains from 3.13 on. */
static bool is_of_python(const struct seep_model *m, const struct seep_finding *f)
{
    const struct seep_dict_frame *asker =
        &m->dict.frames[m->dict.stacks[f->n_sites ? m->sites[f->sites[0]].stack : 0].frame];
    const struct seep_process_identity *id = &m->processes[f->n_processes ? *f->processes : 0].id;

    return is_of_library(f) && f->n_processes && asker->kind == SEEP_FRAME_NATIVE &&
           asker->source && !asker->pseudo &&
           seep_name_fits(
               "libpython*|python*",
               seep_text_base(seep_dictionary_text(&m->dict, m->dict.modules[asker->source].path)),
               false) &&
           (id->python_support == SEEP_PYTHON_NO_GIL || id->python_unseen & SEEP_PYTHON_MIMALLOC);
}

static void name_python(const struct seep_model *m, struct seep_finding *f)
{
    const bool no_gil = m->processes[*f->processes].id.python_support == SEEP_PYTHON_NO_GIL;
    char size[SEEP_SIZE_TEXT];

    if (!f->title)
        f->title = seep_text_format(
            "Python's objects, which lie in mimalloc's maps, have %s more resident each %s",
            seep_text_size(f->growth.value, size),
            seep_step_unit(m->step_source == SEEP_STEP_TIME));
    if (!f->advice)
        f->advice = seep_text_format(
            "%s", no_gil ? "Run the job with a Python that has a GIL: of one without, seep reads "
                           "neither the line nor who holds its objects."
                         : "Run the job with PYTHONMALLOC=malloc: then each object shows at its "
                           "own line. Or ask seep look PID who holds them.");
    seep_finding_note(f,
                      "seep sees what mimalloc maps, but not the objects that Python gets from it");
}

/* Part of that, and first: names the library whose own allocator asked for most of the memory, if
 * it is known (library_allocators.def), with its own count and settings. Looks up symbols. Returns
 * 0 or -SEEP_ENOMEM. */
static int finding_name_library(const struct seep_code *code, struct seep_finding *f)
{
    const struct seep_model *m = code->model;
    const struct seep_library_allocator *its = NULL;
    const uint32_t stack = f->n_sites ? m->sites[f->sites[0]].stack : 0;
    char size[SEEP_SIZE_TEXT];

    if (is_of_python(m, f)) {
        name_python(m, f);
        return 0;
    }
    const struct seep_space_name *space = &m->spaces[f->space].name;
    if ((space->host_like || space->class == SEEP_CLASS_SHM) && stack &&
        seep_library_allocator_of_stack(code, stack, &its))
        return -SEEP_ENOMEM;
    if (!its)
        return 0;
    char *name = seep_library_allocator_name(code, stack, its);
    if (!name)
        return -SEEP_ENOMEM;
    note(its, name, f);
    if (is_of_library(f) && !f->title)
        f->title = seep_text_format("%s: its own allocator (%s) has %s more resident each %s", name,
                                    its->allocator, seep_text_size(f->growth.value, size),
                                    seep_step_unit(m->step_source == SEEP_STEP_TIME));
    if (is_advised(f) && !f->advice)
        f->advice = advice(its);
    free(name);
    return 0;
}

static const char *function_name(const struct seep_code *code, uint32_t frame)
{
    const struct seep_dictionary *d = &code->model->dict;
    const struct seep_dict_frame *f = &d->frames[frame];
    const struct seep_symbol *symbol =
        seep_function_kinds_symbol(code->lines->kinds, code->symbols, frame);

    if (f->kind == SEEP_FRAME_PYTHON) {
        const char *name = seep_dictionary_text(d, f->function);
        return *name ? name : "this line";
    }
    return symbol && symbol->function ? symbol->function : "this code";
}

/* "multiprocessing/connection.py": two parts of a path tell a library's files apart. */
static const char *short_path(const char *path)
{
    const char *base = seep_text_base(path);

    for (const char *at = base - (base > path); at > path; at--)
        if (at[-1] == '/')
            return at;
    return path;
}

/* The library that a file belongs to: a package, or the file itself if it is Python's own or in
 * none. */
static void name_library(const struct seep_model *m, const char *path, char name[SEEP_BLAME_NAME])
{
    char package[SEEP_BLAME_NAME];

    if (seep_python_file_package(path, package, sizeof package) && strcmp(package, "Python") != 0)
        seep_package_name(m, path, name);
    else
        snprintf(name, SEEP_BLAME_NAME, "%s", short_path(path));
}

/* The file of a line that no frame of the user's leads to; NULL for any other line. */
static const char *library_of(const struct seep_code *code, const struct seep_finding *f)
{
    const struct seep_model *m = code->model;
    const struct seep_dict_frame *frame = &m->dict.frames[f->frame];
    const char *path = "";

    if (!f->n_sites || frame->pseudo || code->lines->is_own[m->sites[f->sites[0]].stack])
        return NULL;
    if (frame->kind == SEEP_FRAME_PYTHON)
        path = seep_dictionary_text(&m->dict, frame->source);
    else if (frame->source)
        path = seep_dictionary_text(&m->dict, m->dict.modules[frame->source].path);
    return *path ? path : NULL;
}

/* Names the owner: the container that was seen to keep what the line allocates, or its function. */
static char *whose(const struct seep_code *code, const struct seep_finding *f)
{
    if (f->keeper && (f->sender || library_of(code, f)))
        return strdup(f->keeper);
    return strdup(function_name(code, seep_finding_shown(f)));
}

/* Names the function if it is not the one the user expects: another process's, or a library's. */
static char *made_in(const struct seep_code *code, const struct seep_finding *f)
{
    const char *function = function_name(code, seep_finding_shown(f));
    const char *library = library_of(code, f);
    char name[SEEP_BLAME_NAME];

    if (f->sender && code->model->spaces[f->space].name.class == SEEP_CLASS_PINNED)
        return strdup("");
    if (f->sender)
        return f->keeper ? seep_text_format(" (allocated in another process's %s)", function)
                         : strdup(" (in another process)");
    if (!library)
        return strdup("");
    name_library(code->model, library, name);
    return f->keeper ? seep_text_format(" (allocated in %s's %s)", name, function)
                     : seep_text_format(" (in %s)", name);
}

static bool any_runs(const struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].ended.kind == SEEP_ENDED_RUNNING)
            return true;
    }
    return false;
}

/* What the words in braces of a title stand for. */
struct filling {
    const char *word;
    char *text;
};

/* The template with its words filled in; NULL without memory. */
static char *fill(const char *template, const struct filling *words, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    for (const char *at = template; *at;) {
        const size_t plain = strcspn(at, "{");
        fwrite(at, 1, plain, out);
        at += plain;
        if (!*at)
            break;
        const size_t length = strcspn(++at, "}");
        for (size_t i = 0; i < n; i++) {
            if (strlen(words[i].word) == length && memcmp(words[i].word, at, length) == 0)
                fputs(words[i].text ? words[i].text : "", out);
        }
        at += length + 1;
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static char *blocks_of(const struct seep_finding *f)
{
    return seep_text_format("%llu block%s", (unsigned long long)f->count, f->count == 1 ? "" : "s");
}

/* For a graph: the end of an epoch is known, the end of a sum of losses is not. */
static const char *until_when(const struct seep_finding *f)
{
    return !f->returns                    ? ""
           : f->severity == SEEP_PRESSURE ? ", until it is released"
                                          : ", until the epoch ends";
}

static char *since_plateau(const struct seep_finding *f)
{
    return f->plateau_step ? seep_text_format("from step %d on", (int)f->plateau_step)
                           : strdup(SEEP_LINE_SO_FAR_TEXT);
}

static char *size_of(double bytes)
{
    char text[SEEP_SIZE_TEXT];

    return strdup(seep_text_size(bytes, text));
}

static const struct {
    const char *title, *advice;
} on_gpus[SEEP_N_PATTERNS] = {
#define SEEP_GPU_WORDS(id, title, advice) [SEEP_PATTERN_##id] = {title, advice},
#include "libprof/words/findings/gpu_words.def"
#undef SEEP_GPU_WORDS
};

static bool is_on_gpu(const struct seep_model *m, const struct seep_finding *f)
{
    const enum seep_space_class class = m->spaces[f->space].name.class;

    return class == SEEP_CLASS_DEVICE || class == SEEP_CLASS_TENSOR;
}

/* host and mmap are judged as one memory. */
static char *memory_of(const struct seep_model *m, const struct seep_finding *f)
{
    char words[SEEP_SPACE_WORDS];

    return strdup(seep_memory_words(m->spaces[f->space].name.text, words));
}

static char *lines_of(const struct seep_finding *f)
{
    char text[SEEP_SIZE_TEXT];

    return strdup(seep_text_count(f->n_lines, text));
}

static char *below_of(const struct seep_code *code, const struct seep_finding *f)
{
    return f->below_bytes > 0 ? seep_text_format(", most below %s", function_name(code, f->frame))
                              : strdup("");
}

/* The GPU that the memory lies on, also for tensors. */
static char *gpu_of(const struct seep_model *m, const struct seep_finding *f)
{
    return seep_text_format("GPU %d", m->spaces[f->space].name.device);
}

/* What was free when a request failed but could not serve it. */
static char *free_of(const struct seep_oom *s)
{
    char all[SEEP_SIZE_TEXT], largest[SEEP_SIZE_TEXT];
    if (s && s->cause == SEEP_OOM_FRAGMENTED && s->largest_piece_bytes >= s->request->asked_bytes)
        return seep_text_format("; %s free, but kept for other requests",
                                seep_text_size((double)s->unallocated_bytes, all));
    if (s && s->cause == SEEP_OOM_FRAGMENTED)
        return seep_text_format("; %s free, but in pieces of at most %s",
                                seep_text_size((double)s->unallocated_bytes, all),
                                seep_text_size((double)s->largest_piece_bytes, largest));
    if (s && s->free_bytes && s->free_bytes < s->request->asked_bytes)
        return seep_text_format("; %s free", seep_text_size((double)s->free_bytes, all));
    return strdup("");
}

static const char *title_of(const struct seep_model *m, const struct seep_finding *f)
{
    if (f->n_lines)
        return "Live memory grows by {each} a {unit} ({memory}), spread over {lines} lines{below}";
    if (f->oom && seep_oom_is_pinned(f->oom))
        return "Out of pinned memory: {asked} requested";
    if (f->oom && seep_oom_is_announced(f->oom))
        return f->oom->request->device < SEEP_MAX_DEVICES
                   ? "Out of memory on {gpu}: {asked} requested{free}"
                   : "Out of memory in {memory}: {asked} requested{free}";
    if (f->oom && seep_oom_is_of_host(f->oom))
        return "Out of host memory: {asked} requested{free}";
    return is_on_gpu(m, f) && on_gpus[f->pattern].title ? on_gpus[f->pattern].title
                                                        : seep_pattern_row(f->pattern)->title;
}

static const char *advice_of(const struct seep_model *m, const struct seep_finding *f)
{
    if (f->n_lines && f->severity == SEEP_LEAK)
        return "Find what keeps the results of all these lines: a cache or a registry that gets "
               "ever new keys, or generated code that is never dropped.";
    return is_on_gpu(m, f) && on_gpus[f->pattern].advice ? on_gpus[f->pattern].advice
                                                         : seep_pattern_row(f->pattern)->advice;
}

int seep_finding_set_words(const struct seep_code *code, struct seep_finding *f)
{
    const struct seep_model *m = code->model;
    const bool timed = m->step_source == SEEP_STEP_TIME;
    struct filling words[] = {
        {"who", whose(code, f)},
        {"where", made_in(code, f)},
        {"size", size_of((double)f->live_bytes)},
        {"asked", size_of((double)f->asked_bytes)},
        {"memory", memory_of(m, f)},
        {"gpu", gpu_of(m, f)},
        {"free", free_of(f->oom)},
        {"lines", lines_of(f)},
        {"below", below_of(code, f)},
        {"each", size_of(f->growth.value)},
        {"saving", size_of((double)f->saving_bytes)},
        {"unit", strdup(seep_step_unit(timed))},
        {"blocks", blocks_of(f)},
        {"lasting", strdup(any_runs(m) ? SEEP_LINE_SO_FAR_TEXT : "to the end")},
        {"since", since_plateau(f)},
        {"until", strdup(until_when(f))},
    };
    const size_t n = sizeof words / sizeof *words;
    const int rc = finding_name_library(code, f);

    if (!f->title)
        f->title = fill(title_of(m, f), words, n);
    if (!f->advice)
        f->advice = strdup(advice_of(m, f));
    for (size_t i = 0; i < n; i++)
        free(words[i].text);
    return !rc && f->title && f->advice ? 0 : -SEEP_ENOMEM;
}

/* ---- what to do, by who holds it ---------------------------------------------------------------
 */

/* Memory that was allocated and never freed. */
static char *advise_to_free(const struct seep_blame *blame)
{
    if (!*blame->package)
        return strdup("Free what this line allocates when you are done with it: nothing points to "
                      "it any more, so no other code can.");
    if (blame->is_own)
        return seep_text_format("%s allocates it and nobody frees it. Free it there, or call the "
                                "function that frees it when you are done with it.",
                                blame->package);
    return seep_text_format(
        "%s leaks this memory. Upgrade %s, or report it to its developers with these calls%s%s. "
        "Until then make the call in a process that you restart now and then.",
        blame->package, blame->package, *blame->calls ? ": " : "", blame->calls);
}

/* An object whose reference count is too high: the code that allocated it need not be the code that
 * took the reference. */
static char *advise_to_give_back(const struct seep_blame *blame)
{
    const bool library = *blame->package && !blame->is_own;

    return seep_text_format(
        "An extension took a reference to what this line allocates and never gave it back "
        "(Py_INCREF without Py_DECREF). Find out which extension gets it%s%s. Upgrade that "
        "extension, or report the leak to its developers.",
        library ? ", starting with " : "", library ? blame->package : "");
}

static bool is_about_growth(enum seep_pattern pattern)
{
    return pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || pattern == SEEP_PATTERN_SHM_GROWTH ||
           pattern == SEEP_PATTERN_UNDETERMINED;
}

static int advise_on_lost(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    struct seep_blame blame;

    if (!f->n_sites || !is_about_growth(f->pattern))
        return 0;
    if (seep_blame_find(c->code, c->m->sites[f->sites[0]].stack, &blame))
        return -SEEP_ENOMEM;
    if (f->pattern == SEEP_PATTERN_UNDETERMINED)
        seep_finding_note(f, "%s", seep_kept_by_nobody_text(k));
    const bool through = strcmp(blame.made_in, blame.package) != 0;
    if (*blame.calls)
        seep_finding_note(f, "Allocated in %s%s%s: %s", blame.made_in, through ? " for " : "",
                          through ? blame.package : "", blame.calls);
    f->advice =
        k->state == SEEP_HOLDERS_LOST ? advise_to_free(&blame) : advise_to_give_back(&blame);
    return f->advice ? 0 : -SEEP_ENOMEM;
}

/* The installed package in whose own data it is; "": in none's. Who shares it with a variable is
 * not told by the path: the package that the line calls, then. */
static int name_owner(const struct seep_case *c, const struct seep_finding *f,
                      char owner[SEEP_BLAME_NAME])
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    struct seep_blame blame = {0};

    owner[0] = '\0';
    if (!f->n_sites || (!*k->library && !k->is_shared))
        return 0;
    if (seep_blame_find(c->code, c->m->sites[f->sites[0]].stack, &blame))
        return -SEEP_ENOMEM;
    if (*k->library && seep_blame_is_library(k->library))
        seep_package_name(c->m, k->library, owner);
    else if (!*k->library && !blame.is_own)
        memcpy(owner, blame.package, SEEP_BLAME_NAME);
    return 0;
}

int seep_holder_advise(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    const bool cured_there =
        f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || f->pattern == SEEP_PATTERN_UNDETERMINED ||
        f->pattern == SEEP_PATTERN_FIRST_TOUCH_CACHE || f->pattern == SEEP_PATTERN_GRAPH_RETENTION;
    const char *usual = cured_there && k->way
                            ? seep_holder_advice(k->way, seep_hops_have_type, seep_hops_have_name)
                            : NULL;
    char owner[SEEP_BLAME_NAME];

    f->holder_is_of_others = c->signs->holder_is_of_others;
    if (seep_kept_by_nobody(k))
        return advise_on_lost(c, f);
    if (f->keeper || (!k->known && !k->is_shared))
        return 0;
    if (name_owner(c, f, owner))
        return -SEEP_ENOMEM;
    const char *name = *owner ? owner : k->name;
    if (*name && !(f->keeper = strdup(name)))
        return -SEEP_ENOMEM;
    if (usual)
        f->advice = strdup(usual);
    else if (f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH && *owner)
        f->advice = seep_text_format(
            "%s keeps it in data of its own, not in a variable of yours. Close or delete what this "
            "line opens or makes, or empty the library's cache. If there is nothing to close, "
            "upgrade %s, or report the growth to its developers.",
            owner, owner);
    else if (f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH && *name)
        f->advice =
            seep_text_format("Bound %s, which holds it, or remove what you no longer need.", name);
    else if (f->pattern == SEEP_PATTERN_UNDETERMINED && *name && !*owner && !f->advice)
        f->advice =
            seep_text_format("Bound %s, which holds it, if nothing ever empties it. In doubt run "
                             "longer, past one full epoch: a cache levels off, a leak does not.",
                             name);
    else
        return 0;
    return f->advice ? 0 : -SEEP_ENOMEM;
}
