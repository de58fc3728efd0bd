#include "libprof/who/kept/kept_at.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/base/json_build.h"
#include "libprof/report_read/report_fields.h"
#include "libprof/source/python_passes.h"
#include "libprof/who/merge/hops.h"

/* A tuple, an array or an instance of the job's own class is not filled: it is made whole. */
static bool is_filled(const char *type)
{
    static const char *const types[] = {"list",        "dict",        "set",    "deque",
                                        "defaultdict", "OrderedDict", "Counter"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], type) == 0)
            return true;
    return false;
}

static bool is_sequence(const char *type)
{
    return strcmp(type, "list") == 0 || strcmp(type, "deque") == 0;
}

/* How many hops lead to the holder. Hops inside the holder do not count, except an attribute of its
 * own (a threading.local has one per thread); nor do hops from the first of C on. */
static size_t hops_to_holder(const json_t *path)
{
    const json_t *hops = json_object_get(path, "hops"), *holder = json_object_get(path, "holder");
    size_t n = json_array_size(hops);
    const json_int_t at = json_integer_value(json_object_get(holder, "hop"));

    if (json_is_integer(json_object_get(holder, "hop")) && at >= 0 && (size_t)at < n)
        n = (size_t)at + seep_hop_is(json_array_get(hops, (size_t)at), "attribute");
    for (size_t i = 0; i < n; i++)
        if (seep_hop_is(json_array_get(hops, i), "native"))
            return i;
    return n;
}

/* "class Gcf" has the attributes of Gcf's instances. */
static const char *class_of(const char *type)
{
    return strncmp(type, "class ", 6) == 0 ? type + 6 : type;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Attribute `i` of the hops. */
static struct seep_kept_name attribute(const json_t *path, size_t i)
{
    const json_t *hops = json_object_get(path, "hops"), *hop = json_array_get(hops, i);
    const json_t *before = i ? json_array_get(hops, i - 1) : NULL;
    const char *module = before && seep_hop_is(before, "attribute")
                             ? seep_hops_said(before, "name")
                             : seep_hops_said(json_object_get(path, "root"), "name");
    struct seep_kept_name name = {.in = SEEP_KEPT_IN_ATTRIBUTE,
                                  .name = seep_hops_said(hop, "name"),
                                  .owner = class_of(seep_hops_said(before, "type")),
                                  .module = "",
                                  .file = "",
                                  .fills = is_filled(seep_hops_said(hop, "type")),
                                  .by_index = is_sequence(seep_hops_said(hop, "type"))};

    if (strcmp(seep_hops_said(before, "type"), "module") == 0) {
        const char *dot = strrchr(module, '.');
        name.in = SEEP_KEPT_IN_GLOBAL;
        name.module = module;
        name.owner = dot ? dot + 1 : module;
    }
    if (strcmp(seep_hops_said(hop, "type"), "_lru_cache_wrapper") == 0)
        name.in = SEEP_KEPT_IN_CACHE;
    else if (ends_with(name.name, "_hooks"))
        name.in = SEEP_KEPT_IN_HOOKS;
    return name;
}

/* Hooks on a tensor's gradient: a field without a name of the tensor's C++ object. */
static bool is_gradient_hooks(const json_t *before, const json_t *hop)
{
    const char *type = seep_hops_said(before, "type");

    return seep_hop_is(hop, "field") && strcmp(seep_hops_said(hop, "type"), "OrderedDict") == 0 &&
           (strcmp(type, "Tensor") == 0 || strcmp(type, "Parameter") == 0);
}

/* The variable at which the path begins; a module's variables are attributes of it. */
static struct seep_kept_name root_of(const json_t *path)
{
    const json_t *root = json_object_get(path, "root");
    const json_t *first = json_array_get(json_object_get(path, "hops"), 0);

    return (struct seep_kept_name){.in = SEEP_KEPT_IN_LOCAL,
                                   .name = seep_hops_said(root, "name"),
                                   .owner = seep_hops_said(root, "function"),
                                   .module = "",
                                   .file = seep_hops_said(root, "file"),
                                   .fills = is_filled(seep_hops_said(first, "type")),
                                   .by_index = is_sequence(seep_hops_said(first, "type"))};
}

size_t seep_kept_names(const json_t *path, struct seep_kept_name names[SEEP_KEPT_MAX_NAMES])
{
    const json_t *hops = json_object_get(path, "hops");
    size_t n = 0;

    for (size_t i = hops_to_holder(path); i-- > 0 && n < SEEP_KEPT_MAX_NAMES;) {
        const json_t *hop = json_array_get(hops, i);
        if (i && is_gradient_hooks(json_array_get(hops, i - 1), hop))
            names[n++] = (struct seep_kept_name){
                .in = SEEP_KEPT_IN_HOOKS, .name = "", .owner = "", .module = "", .file = ""};
        else if (seep_hop_is(hop, "attribute") && *seep_hops_said(hop, "name"))
            names[n++] = attribute(path, i);
        else if (seep_hop_is(hop, "local") && *seep_hops_said(hop, "name"))
            names[n++] =
                (struct seep_kept_name){.in = SEEP_KEPT_IN_LOCAL,
                                        .name = seep_hops_said(hop, "name"),
                                        .owner = "",
                                        .module = "",
                                        .file = "",
                                        .fills = is_filled(seep_hops_said(hop, "type")),
                                        .by_index = is_sequence(seep_hops_said(hop, "type"))};
    }
    if (n < SEEP_KEPT_MAX_NAMES &&
        strcmp(seep_hops_said(json_object_get(path, "root"), "kind"), "local") == 0)
        names[n++] = root_of(path);
    return n;
}

enum {
    MAX_STACKS = 64,     /* of a finding, whose frames are compared with statements */
    MAX_FRAMES = 4096,   /* in these stacks */
    MAX_CANDIDATES = 64, /* more are not clear anyway */
    MAX_TEXT = 100,      /* bytes of a statement that are shown */
    MAX_NAME = 256,      /* of its function's name */
    MIN_PART = 4,        /* a path that holds less than a quarter says little of the line */
};

struct candidate {
    const struct seep_source_file *file;
    struct seep_store store;
    enum {
        ELSEWHERE,
        IN_FUNCTION,
        ON_STACK
    } near; /* how near to where the blocks were
             * allocated */
};

struct frame_line {
    uint32_t source; /* string of the dictionary */
    uint64_t line;
};

struct search {
    const struct seep_job_sources *job;
    struct frame_line *frames; /* in the finding's stacks */
    size_t n_frames;
    struct candidate list[MAX_CANDIDATES];
    size_t n;
    bool owner_is_users; /* the owner's class is in a file of the job */
};

/* ---- where a name's statements are looked for -------------------------------------------- */

/* Whether `path` is the file of a module: …/pkg/util.py or …/pkg/util/__init__.py for pkg.util. */
static bool is_module(const char *path, const char *module)
{
    static const char package[] = "/__init__";
    size_t n = strlen(path) - 3, k = strlen(module);

    if (n > strlen(package) && strncmp(path + n - strlen(package), package, strlen(package)) == 0)
        n -= strlen(package);
    while (n && k) {
        const char c = module[--k] == '.' ? '/' : module[k];
        if (path[--n] != c)
            return false;
    }
    return !k && (!n || path[n - 1] == '/');
}

/* What to look for in a file for a name; false: nothing. */
static bool ask(const struct seep_job_sources *job, const struct seep_kept_name *name,
                const struct seep_source_file *file, struct seep_stores_asked *asked)
{
    const char *path = seep_dictionary_text(&job->code->model->dict, file->name);

    *asked = (struct seep_stores_asked){name->in, name->name, name->owner};
    if (name->in == SEEP_KEPT_IN_LOCAL)
        return !*name->file || strcmp(name->file, path) == 0;
    if (name->in != SEEP_KEPT_IN_GLOBAL)
        return true;
    if (strcmp(name->module, "__main__") == 0 || strcmp(name->module, "__mp_main__") == 0)
        return job->is_main[file->name];
    if (!is_module(path, name->module))
        asked->in = SEEP_KEPT_IN_IMPORTED;
    return true;
}

/* ---- candidates -------------------------------------------------------------------------- */

static uint32_t function_of(const struct seep_python_source *s, uint32_t scope)
{
    while (scope && s->scopes[scope].kind != SEEP_SCOPE_FUNCTION)
        scope = s->scopes[scope].parent;
    return scope;
}

static void place(const struct search *q, struct candidate *c)
{
    const struct seep_statement *st = &c->file->source.list[c->store.statement];
    const uint32_t function = function_of(&c->file->source, st->scope);

    for (size_t i = 0; i < q->n_frames && c->near != ON_STACK; i++) {
        if (q->frames[i].source != c->file->name)
            continue;
        if (st->line <= q->frames[i].line && q->frames[i].line <= st->last)
            c->near = ON_STACK;
        else if (seep_python_function_at(&c->file->source, q->frames[i].line) == function)
            c->near = IN_FUNCTION;
    }
}

/* Adds the statements of one file for a name. If the blocks were allocated in the statement itself,
 * assigning the whole object is evidence enough. Otherwise it is not, for containers and for
 * objects of libraries: they are assigned long before they hold anything. */
static int look_into(struct search *q, const struct seep_source_file *file,
                     const struct seep_kept_name *name, bool by_library)
{
    struct seep_stores_asked asked;
    struct seep_stores stores = {0};
    int rc = 0;

    if (ask(q->job, name, file, &asked))
        rc = seep_python_stores_find(&file->source, &asked, &stores);
    for (size_t i = 0; i < stores.n && q->n < MAX_CANDIDATES; i++) {
        struct candidate c = {.file = file, .store = stores.list[i]};
        place(q, &c);
        if (c.store.how > SEEP_STORES_WHOLE || c.near == ON_STACK || !(name->fills || by_library))
            q->list[q->n++] = c;
    }
    seep_stores_fini(&stores);
    return rc;
}

/* Looks for the statements of a name in all files. */
static int look_for(struct search *q, const struct seep_kept_name *name, bool by_library)
{
    const struct seep_source_files *files = &q->job->files;
    int rc = 0;

    q->n = 0;
    q->owner_is_users = name->in != SEEP_KEPT_IN_ATTRIBUTE;
    for (size_t i = 0; i < files->n && !rc; i++) {
        rc = look_into(q, &files->list[i], name, by_library);
        q->owner_is_users |= seep_python_has_class(&files->list[i].source, name->owner);
    }
    return rc;
}

static void keep_only(struct search *q, bool (*is_it)(const struct candidate *c))
{
    size_t n = 0;

    for (size_t i = 0; i < q->n; i++)
        n += is_it(&q->list[i]);
    if (!n)
        return;
    n = 0;
    for (size_t i = 0; i < q->n; i++)
        if (is_it(&q->list[i]))
            q->list[n++] = q->list[i];
    q->n = n;
}

static bool adds(const struct candidate *c)
{
    return c->store.how > SEEP_STORES_WHOLE;
}

static bool makes_longer(const struct candidate *c)
{
    return c->store.how == SEEP_STORES_MORE;
}

static bool keeps_what_it_is_given(const struct candidate *c)
{
    return !c->store.copies || c->near == ON_STACK;
}

static bool is_on_stack(const struct candidate *c)
{
    return c->near == ON_STACK;
}

static bool is_in_function(const struct candidate *c)
{
    return c->near != ELSEWHERE;
}

/* Chooses the nearest: a statement that allocated the blocks while storing them, then one that adds
 * to the holder in a function in which they were allocated. */
static void choose(struct search *q, bool by_index)
{
    keep_only(q, is_on_stack);
    keep_only(q, adds);
    if (by_index)
        keep_only(q, makes_longer);
    keep_only(q, keeps_what_it_is_given);
    keep_only(q, is_in_function);
    if (q->n > SEEP_KEPT_MAX_LINES)
        q->n = 0;
}

/* A list passed to a function has a name there, too, most often the same one. */
static int look_in_called(struct search *q, const struct seep_kept_name *name)
{
    struct seep_kept_name there = *name;

    there.owner = there.file = "";
    const int rc = look_for(q, &there, false);
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++)
        if (q->list[i].near != ELSEWHERE)
            q->list[n++] = q->list[i];
    q->n = n;
    return rc;
}

/* From the innermost name outwards, as long as the name belongs to a library's class. */
static int look_along(struct search *q, const json_t *path)
{
    struct seep_kept_name names[SEEP_KEPT_MAX_NAMES];
    const size_t n = seep_kept_names(path, names);
    bool by_library = false;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        rc = look_for(q, &names[i], by_library);
        if (!rc && !q->n && names[i].in == SEEP_KEPT_IN_LOCAL && names[i].fills)
            rc = look_in_called(q, &names[i]);
        choose(q, names[i].by_index);
        if (rc || q->n || q->owner_is_users)
            return rc;
        by_library = true;
    }
    q->n = 0;
    return rc;
}

/* ---- the answer -------------------------------------------------------------------------- */

static void take_frames(struct search *q, const uint32_t *sites, size_t n_sites)
{
    const struct seep_model *m = q->job->code->model;

    for (size_t i = 0; i < n_sites && i < MAX_STACKS; i++) {
        uint32_t stack = m->sites[sites[i]].stack;
        for (; stack && q->n_frames < MAX_FRAMES; stack = m->dict.stacks[stack].parent) {
            const struct seep_dict_frame *f = &m->dict.frames[m->dict.stacks[stack].frame];
            if (f->kind == SEEP_FRAME_PYTHON && seep_source_files_find(&q->job->files, f->source))
                q->frames[q->n_frames++] = (struct frame_line){f->source, f->where};
        }
    }
}

json_t *seep_kept_line_json(const struct seep_job_sources *job, const struct seep_source_file *in,
                            uint32_t statement)
{
    const struct seep_python_source *s = &in->source;
    const struct seep_statement *st = &s->list[statement];
    const char *file = seep_dictionary_text(&job->code->model->dict, in->name);
    char name[MAX_NAME], *text = seep_python_statement_text(s, statement, MAX_TEXT);
    const char *dot;

    (void)seep_python_scope_name(s, st->made ? st->made : function_of(s, st->scope), name,
                                 sizeof name);
    dot = strrchr(name, '.');
    json_t *json =
        text ? SEEP_REPORT_JSON(kept_line, .kind = "python", .function = dot ? dot + 1 : name,
                                .file = file, .line = st->line, .text = text,
                                .qualname = dot ? name : NULL)
             : NULL;
    free(text);
    return json;
}

/* The first path, if a good part of the memory is reached by it or goes with its holder. A cycle
 * was stored nowhere. */
static const json_t *path_of(const json_t *answer)
{
    const json_t *path = json_array_get(json_object_get(answer, "paths"), 0);
    const char *root = json_string_value(json_object_get(json_object_get(path, "root"), "kind"));
    const double all = json_number_value(json_object_get(answer, "bytes")),
                 its = json_number_value(json_object_get(path, "bytes")),
                 sole = json_number_value(json_object_get(path, "sole_bytes"));

    if (!root || strcmp(root, "cycle") == 0)
        return NULL;
    return (its > sole ? its : sole) * MIN_PART >= all ? path : NULL;
}

json_t *seep_kept_at_json(struct seep_job_sources *job, const json_t *answer, const uint32_t *sites,
                          size_t n_sites)
{
    const json_t *path = path_of(answer);
    struct search q = {.job = job};
    bool failed = false;

    if (!path || !job->may_open)
        return json_null();
    if (seep_job_sources_open(job))
        return NULL;
    q.frames = calloc(MAX_FRAMES, sizeof *q.frames);
    if (!q.frames)
        return NULL;
    take_frames(&q, sites, n_sites);
    failed = look_along(&q, path) != 0;
    json_t *list = q.n ? json_array() : json_null();
    for (size_t i = 0; i < q.n; i++)
        seep_json_append(list, seep_kept_line_json(job, q.list[i].file, q.list[i].store.statement),
                         &failed);
    free(q.frames);
    return seep_json_whole(list, failed);
}

/* From the innermost line of the user's outwards, as long as it is returned. */
static const struct seep_source_file *find_passes(const struct seep_job_sources *job,
                                                  uint32_t stack, struct seep_passes *passes)
{
    const struct seep_dictionary *d = &job->code->model->dict;

    *passes = (struct seep_passes){0};
    for (; stack; stack = d->stacks[stack].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[stack].frame];
        const struct seep_source_file *file =
            f->kind == SEEP_FRAME_PYTHON ? seep_source_files_find(&job->files, f->source) : NULL;
        if (!file)
            continue;
        seep_python_passes_find(&file->source, f->where, passes);
        if (!passes->returned)
            return file;
    }
    return NULL;
}

json_t *seep_passed_at_json(struct seep_job_sources *job, const json_t *answer, uint32_t stack)
{
    const struct seep_source_file *file;
    struct seep_passes passes;
    bool failed = false;

    if (strcmp(seep_hops_said(answer, "state"), "reference") != 0 || !job->may_open)
        return json_null();
    if (seep_job_sources_open(job))
        return NULL;
    file = find_passes(job, stack, &passes);
    if (!file || !passes.n)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < passes.n; i++)
        seep_json_append(list, seep_kept_line_json(job, file, passes.list[i]), &failed);
    return seep_json_whole(list, failed);
}
