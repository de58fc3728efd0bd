#include "libprof/judge/finding_list.h"

#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"
#include "libprof/who/merge/hops.h"
#include "libprof/words/findings/holder_advice.h"
#include "libprof/words/findings/line_words.h"
#include "libprof/words/findings/lost_words.h"
#include "libprof/words/python_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 6, NAME = 64, CHAIN = 512 };

/* Who allocated it: the innermost code that belongs to no allocator, and its callers in the same
 * package. */
struct maker {
    char package[NAME]; /* "": the user's own line asked for it */
    bool is_own;        /* the user's library, not an installed one */
    char calls[CHAIN];  /* "": none has a name */
    size_t n_calls;
};

static const char *path_of(const struct seep_dictionary *d, const struct seep_dict_frame *frame)
{
    if (frame->kind == SEEP_FRAME_PYTHON)
        return seep_dictionary_text(d, frame->source);
    return frame->source ? seep_dictionary_text(d, d->modules[frame->source].path) : "";
}

/* Matches "python3.11", but no module of that name. */
static bool is_interpreter(const char *base)
{
    return strncmp(base, "python", 6) == 0 && strspn(base + 6, "0123456789.t") == strlen(base + 6);
}

/* Allocators, the C and C++ libraries, the interpreter and what calls C for it: being called does
 * not make the leak theirs. */
static bool is_between(const struct seep_dict_frame *frame, const char *path)
{
    static const char *const files[] = {"libc.so",     "libc-",       "libstdc++",    "libgcc_s",
                                        "libpython",   "ld-linux",    "libseep",      "libjemalloc",
                                        "libtcmalloc", "libmimalloc", "libffi",       "_ctypes",
                                        "libpthread",  "libdl",       "_cffi_backend"};
    const char *base = seep_text_base(path);

    if (frame->kind == SEEP_FRAME_PYTHON)
        return seep_python_file_calls_c(path);
    if (frame->pseudo || !*path || is_interpreter(base))
        return true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strncmp(base, files[i], strlen(files[i])) == 0)
            return true;
    }
    return false;
}

/* "numpy"; the library's file if it is in no package. */
static void package_of(const char *path, char package[NAME])
{
    if (!seep_python_file_package(path, package, NAME))
        snprintf(package, NAME, "%s", seep_text_base(path));
}

static bool is_library(const struct seep_dict_frame *frame, const char *path)
{
    static const char *const system[] = {"/lib", "/usr/lib", "/opt/", "/usr/local/lib"};

    if (frame->kind == SEEP_FRAME_PYTHON || seep_python_file_is_library(path))
        return seep_python_file_is_library(path);
    for (size_t i = 0; i < sizeof system / sizeof *system; i++) {
        if (strncmp(path, system[i], strlen(system[i])) == 0)
            return true;
    }
    return false;
}

static void name_call(const struct seep_case *c, uint32_t frame, char name[NAME])
{
    const struct seep_dict_frame *f = &c->m->dict.frames[frame];
    struct seep_native_name native;

    if (f->kind == SEEP_FRAME_PYTHON) {
        snprintf(name, NAME, "%s", seep_dictionary_text(&c->m->dict, f->function));
        return;
    }
    const struct seep_symbol *symbol =
        seep_function_kinds_symbol(c->code->lines->kinds, c->code->symbols, frame);
    name[0] = '\0';
    if (symbol && symbol->function) {
        seep_native_name_set(&native, symbol);
        snprintf(name, NAME, "%.*s", NAME - 1,
                 native.qualname[0] ? native.qualname : symbol->function);
    }
}

static void add_call(struct maker *maker, const char *name)
{
    const size_t used = strlen(maker->calls);

    if (!*name || maker->n_calls == MOST_CALLS)
        return;
    snprintf(maker->calls + used, CHAIN - used, "%s%s", used ? " ← " : "", name);
    maker->n_calls++;
}

static int find_maker(const struct seep_case *c, uint32_t stack, struct maker *maker)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (; stack; stack = d->stacks[stack].parent) {
        const uint32_t frame = d->stacks[stack].frame;
        const struct seep_dict_frame *f = &d->frames[frame];
        const char *path = path_of(d, f);
        char package[NAME], name[NAME];
        if (is_between(f, path))
            continue;
        const bool library = is_library(f, path);
        if (f->kind == SEEP_FRAME_PYTHON && !library)
            break; /* the user's own line */
        package_of(path, package);
        if (!maker->package[0]) {
            memcpy(maker->package, package, NAME);
            maker->is_own = !library;
        } else if (strcmp(maker->package, package) != 0) {
            break;
        }
        if (seep_symbols_resolve(c->code->symbols, &frame, 1))
            return -SEEP_ENOMEM;
        name_call(c, frame, name);
        add_call(maker, name);
    }
    return 0;
}

/* Memory that was allocated and never freed. */
static char *advise_to_free(const struct maker *maker)
{
    if (!maker->package[0])
        return strdup(SEEP_LOST_FREE_HERE_TEXT);
    if (maker->is_own)
        return seep_text_format(SEEP_LOST_FREE_THERE_TEXT, maker->package);
    return seep_text_format(SEEP_LOST_LIBRARY_TEXT, maker->package, maker->package,
                            *maker->calls ? ": " : "", maker->calls);
}

/* An object whose reference count is too high: the code that allocated it need not be the code that
 * took the reference. */
static char *advise_to_give_back(const struct maker *maker)
{
    const bool library = maker->package[0] && !maker->is_own;

    return seep_text_format(SEEP_LOST_REFERENCE_TEXT, library ? SEEP_LOST_FIRST_OF_ALL_TEXT : "",
                            library ? maker->package : "");
}

static bool is_about_growth(enum seep_pattern pattern)
{
    return pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || pattern == SEEP_PATTERN_SHM_GROWTH ||
           pattern == SEEP_PATTERN_UNDETERMINED;
}

static int advise_on_lost(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    struct maker maker = {0};

    if (!f->n_sites || !is_about_growth(f->pattern))
        return 0;
    if (find_maker(c, c->m->sites[f->sites[0]].stack, &maker))
        return -SEEP_ENOMEM;
    if (f->pattern == SEEP_PATTERN_UNDETERMINED)
        seep_finding_note(f, "%s", seep_kept_by_nobody_text(k));
    if (*maker.calls && *maker.package)
        seep_finding_note(f, SEEP_LOST_MADE_IN_TEXT, maker.package, maker.calls);
    f->advice =
        k->state == SEEP_HOLDERS_LOST ? advise_to_free(&maker) : advise_to_give_back(&maker);
    return f->advice ? 0 : -SEEP_ENOMEM;
}

/* ---- what somebody holds ------------------------------------------------------------------------
 */

int seep_holder_advise(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    const bool cured_there =
        f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || f->pattern == SEEP_PATTERN_UNDETERMINED ||
        f->pattern == SEEP_PATTERN_FIRST_TOUCH_CACHE || f->pattern == SEEP_PATTERN_GRAPH_RETENTION;
    const char *usual = cured_there && k->way
                            ? seep_holder_advice(k->way, seep_hops_have_type, seep_hops_have_name)
                            : NULL;

    if (seep_kept_by_nobody(k))
        return advise_on_lost(c, f);
    if (f->keeper || !k->known)
        return 0;
    if (*k->name && !(f->keeper = strdup(k->name)))
        return -SEEP_ENOMEM;
    if (usual)
        f->advice = strdup(usual);
    else if (f->keeper && f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH)
        f->advice = seep_text_format(SEEP_LINE_BOUND_HOLDER_TEXT, k->name);
    else
        return 0;
    return f->advice ? 0 : -SEEP_ENOMEM;
}
