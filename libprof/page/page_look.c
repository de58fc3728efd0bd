#include "libprof/page/page_look.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/error.h"
#include "libprof/base/json_build.h"

/* Untrusted JSON of a known shape: a checked copy, with the known fields only. */

enum seep_shape_kind {
    SEEP_SHAPE_COUNT,  /* a whole number ≥ 0 */
    SEEP_SHAPE_NUMBER, /* any number */
    SEEP_SHAPE_BOOLEAN,
    SEEP_SHAPE_TEXT, /* cleaned, and cut after `most` bytes */
    SEEP_SHAPE_WORD, /* one of `words` */
    SEEP_SHAPE_OBJECT,
    SEEP_SHAPE_LIST, /* of at most `most` items */
    SEEP_SHAPE_MAP,  /* of at most `most` items by name; names are cleaned, and cut */
};

/* What may be missing is left out, what may be null stays null. */
enum { SEEP_SHAPE_OR_NULL = 1, SEEP_SHAPE_OR_MISSING = 2 };

struct seep_shape {
    enum seep_shape_kind kind;
    unsigned others;
    size_t most;
    const char *const *words;        /* NULL ends them */
    const struct seep_shape *item;   /* of a list or map */
    const struct seep_field *fields; /* of an object; a NULL key ends them */
};

struct seep_field {
    const char *key;
    struct seep_shape shape;
};

enum { MAX_PLACE = 160, MAX_MEMBER_NAME = 64 };

struct taking {
    const char *name;
    char at[MAX_PLACE]; /* "looks[2].rss_bytes" */
    struct seep_error *err;
    int rc;
};

static json_t *take(struct taking *t, const struct seep_shape *shape, const json_t *from);

/* Refuses once: the first reason is the one that is told. */
static json_t *refuse(struct taking *t, const char *what)
{
    if (!t->rc)
        t->rc = seep_error_set(t->err, SEEP_EFORMAT, t->name, 0, "%s %s",
                               t->at[0] ? t->at : "the document", what);
    return NULL;
}

/* Without a split character at its end. */
static size_t cut_at(const char *text, size_t most)
{
    size_t n = strnlen(text, most + 1);

    if (n <= most)
        return n;
    n = most;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

static json_t *take_text(struct taking *t, const struct seep_shape *shape, const json_t *from)
{
    const char *text = json_string_value(from);

    return text ? seep_json_text_n(text, cut_at(text, shape->most)) : refuse(t, "is not a text");
}

static json_t *take_word(struct taking *t, const struct seep_shape *shape, const json_t *from)
{
    const char *text = json_string_value(from);

    for (const char *const *word = shape->words; text && *word; word++)
        if (strcmp(text, *word) == 0)
            return json_string(*word);
    return refuse(t, "is no word that is known here");
}

static json_t *take_object(struct taking *t, const struct seep_shape *shape, const json_t *from)
{
    const size_t n = strlen(t->at);
    json_t *copy = json_object();
    bool failed = !copy;

    if (!json_is_object(from)) {
        json_decref(copy);
        return refuse(t, "is not an object");
    }
    for (const struct seep_field *field = shape->fields; field->key && !failed; field++) {
        const json_t *value = json_object_get(from, field->key);
        if (!value && (field->shape.others & SEEP_SHAPE_OR_MISSING))
            continue;
        snprintf(t->at + n, sizeof t->at - n, "%s%s", n ? "." : "", field->key);
        seep_json_set(copy, field->key, take(t, &field->shape, value), &failed);
    }
    t->at[n] = '\0';
    return seep_json_whole(copy, failed);
}

static json_t *take_list(struct taking *t, const struct seep_shape *shape, const json_t *from)
{
    const size_t n = strlen(t->at);
    json_t *copy = json_array();
    bool failed = !copy;
    const json_t *value;
    size_t i;

    if (!json_is_array(from) || json_array_size(from) > shape->most) {
        json_decref(copy);
        return refuse(t, json_is_array(from) ? "is too long" : "is not a list");
    }
    json_array_foreach (from, i, value) {
        snprintf(t->at + n, sizeof t->at - n, "[%zu]", i);
        seep_json_append(copy, take(t, shape->item, value), &failed);
        if (failed)
            break;
    }
    t->at[n] = '\0';
    return seep_json_whole(copy, failed);
}

static void take_named(struct taking *t, const struct seep_shape *shape, json_t *copy,
                       const char *name, const json_t *value, bool *failed)
{
    const size_t n = strlen(t->at);
    json_t *clean = seep_json_text_n(name, cut_at(name, MAX_MEMBER_NAME));

    *failed |= !clean;
    if (*failed)
        return;
    snprintf(t->at + n, sizeof t->at - n, "[\"%s\"]", json_string_value(clean));
    seep_json_set(copy, json_string_value(clean), take(t, shape, value), failed);
    t->at[n] = '\0';
    json_decref(clean);
}

static json_t *take_map(struct taking *t, const struct seep_shape *shape, const json_t *from)
{
    json_t *copy = json_object();
    bool failed = !copy;
    const json_t *value;
    const char *name;

    if (!json_is_object(from) || json_object_size(from) > shape->most) {
        json_decref(copy);
        return refuse(t, json_is_object(from) ? "is too long" : "is not an object");
    }
    json_object_foreach ((json_t *)from, name, value)
        take_named(t, shape->item, copy, name, value, &failed);
    return seep_json_whole(copy, failed);
}

static json_t *take(struct taking *t, const struct seep_shape *shape, const json_t *from)
{
    if (!from)
        return refuse(t, "is missing");
    if (json_is_null(from) && (shape->others & SEEP_SHAPE_OR_NULL))
        return json_null();
    switch (shape->kind) {
    case SEEP_SHAPE_COUNT:
        if (!json_is_integer(from) || json_integer_value(from) < 0)
            return refuse(t, "is not a whole number of 0 or more");
        return json_integer(json_integer_value(from));
    case SEEP_SHAPE_NUMBER:
        return json_is_number(from) ? json_real(json_number_value(from))
                                    : refuse(t, "is not a number");
    case SEEP_SHAPE_BOOLEAN:
        return json_is_boolean(from) ? json_boolean(json_is_true(from))
                                     : refuse(t, "is neither true nor false");
    case SEEP_SHAPE_TEXT:
        return take_text(t, shape, from);
    case SEEP_SHAPE_WORD:
        return take_word(t, shape, from);
    case SEEP_SHAPE_OBJECT:
        return take_object(t, shape, from);
    case SEEP_SHAPE_LIST:
        return take_list(t, shape, from);
    case SEEP_SHAPE_MAP:
        return take_map(t, shape, from);
    }
    return NULL;
}

/* Returns 0 with *copy, a new reference; -SEEP_EFORMAT with *err: "looks[2].rss_bytes is not a
 * whole number"; -SEEP_ENOMEM. `name` is that of the file, for *err. */
static int shape_take(const struct seep_shape *shape, const json_t *from, const char *name,
                      json_t **copy, struct seep_error *err)
{
    struct taking t = {.name = name, .err = err};

    *copy = take(&t, shape, from);
    if (*copy)
        return 0;
    return t.rc ? t.rc : seep_error_set(err, SEEP_ENOMEM, name, 0, "out of memory");
}

enum {
    MAX_LOOKS = 64,
    MAX_PROCESSES = 64,
    MAX_HOLDERS = 256,
    MAX_HOPS = 64,
    MAX_DEVICES = 64,
    MAX_TYPES = 24,
    MAX_LINES = 8,   /* of code, of a holder */
    MAX_NAME = 512,  /* bytes of a name or type, */
    MAX_TEXT = 4096, /* of a command, a path in words, an error */
};

/* ---- the shape ------------------------------------------------------------------------------- */

#define COUNT                                                                                      \
    {                                                                                              \
        .kind = SEEP_SHAPE_COUNT                                                                   \
    }
#define COUNT_OR                                                                                   \
    {                                                                                              \
        .kind = SEEP_SHAPE_COUNT, .others = SEEP_SHAPE_OR_NULL                                     \
    }
#define NUMBER                                                                                     \
    {                                                                                              \
        .kind = SEEP_SHAPE_NUMBER                                                                  \
    }
#define TEXT_OR_NOT                                                                                \
    {                                                                                              \
        .kind = SEEP_SHAPE_TEXT, .most = MAX_TEXT,                                                 \
        .others = SEEP_SHAPE_OR_NULL | SEEP_SHAPE_OR_MISSING                                       \
    }
#define BOOLEAN                                                                                    \
    {                                                                                              \
        .kind = SEEP_SHAPE_BOOLEAN                                                                 \
    }
#define NAME_OR                                                                                    \
    {                                                                                              \
        .kind = SEEP_SHAPE_TEXT, .most = MAX_NAME, .others = SEEP_SHAPE_OR_NULL                    \
    }
#define TEXT                                                                                       \
    {                                                                                              \
        .kind = SEEP_SHAPE_TEXT, .most = MAX_TEXT                                                  \
    }
#define TEXT_OR                                                                                    \
    {                                                                                              \
        .kind = SEEP_SHAPE_TEXT, .most = MAX_TEXT, .others = SEEP_SHAPE_OR_NULL                    \
    }
#define WORD(list)                                                                                 \
    {                                                                                              \
        .kind = SEEP_SHAPE_WORD, .words = (list)                                                   \
    }
#define OBJECT(list)                                                                               \
    {                                                                                              \
        .kind = SEEP_SHAPE_OBJECT, .fields = (list)                                                \
    }
#define LIST(n, of)                                                                                \
    {                                                                                              \
        .kind = SEEP_SHAPE_LIST, .most = (n), .item = &(of)                                        \
    }
/* By device; a look of an older seep has none. */
#define DEVICES(of)                                                                                \
    {                                                                                              \
        .kind = SEEP_SHAPE_MAP, .most = MAX_DEVICES, .item = &(of),                                \
        .others = SEEP_SHAPE_OR_MISSING                                                            \
    }
#define END                                                                                        \
    {                                                                                              \
        .key = NULL                                                                                \
    }

static const char *const ways[] = {"copy", "stop", "live", "core", NULL};
static const char *const states[] = {"held", "cycle", "reference", "lost", NULL};
static const char *const frame_kinds[] = {"python", "native", NULL};
static const char *const growths[] = {"no", "grew", "steady", "endless", NULL};
static const char *const roots[] = {"local",     "module", "modules",     "thread",
                                    "static",    "stack",  "thread-data", "cycle",
                                    "reference", "nobody", NULL};
static const char *const hop_kinds[] = {"attribute", "key",   "index",  "element", "local",
                                        "part",      "field", "native", "self",    NULL};

static const struct seep_shape count_shape = COUNT, count_or_shape = COUNT_OR,
                               number_shape = NUMBER,
                               series_shape = LIST(MAX_LOOKS, count_or_shape);

static const struct seep_field limit_fields[] = {{"bytes", COUNT}, {"kind", TEXT}, END};

static const struct seep_field core_fields[] = {{"file", TEXT}, {"bytes", COUNT}, END};

static const struct seep_field other_fields[] = {
    {"type", NAME_OR}, {"bytes", COUNT}, {"objects", COUNT}, END};
static const struct seep_shape other_shape = OBJECT(other_fields);

static const struct seep_field look_fields[] = {
    {"t_s", NUMBER},
    {"round", COUNT},
    {"way", WORD(ways)},
    {"why", TEXT_OR},
    {"incomplete", TEXT_OR},
    {"stop_ns", COUNT},
    {"rss_bytes", COUNT_OR}, /* null: of a core file */
    {"file_bytes", COUNT_OR},
    {"pss_bytes", COUNT_OR},
    {"objects", COUNT},
    {"allocator",
     {.kind = SEEP_SHAPE_TEXT,
      .most = MAX_NAME,
      .others = SEEP_SHAPE_OR_NULL | SEEP_SHAPE_OR_MISSING}},
    {"free_bytes", {.kind = SEEP_SHAPE_COUNT, .others = SEEP_SHAPE_OR_MISSING}},
    {"private_bytes",
     {.kind = SEEP_SHAPE_COUNT, .others = SEEP_SHAPE_OR_NULL | SEEP_SHAPE_OR_MISSING}},
    {"live_bytes", COUNT},
    {"device_bytes", DEVICES(count_shape)},
    {"held_bytes", COUNT},
    {"others",
     {.kind = SEEP_SHAPE_LIST,
      .most = MAX_TYPES,
      .item = &other_shape,
      .others = SEEP_SHAPE_OR_MISSING}},
    {"cycle_bytes", COUNT},
    {"lost_bytes", COUNT},
    {"reference_bytes", COUNT},
    END,
};
static const struct seep_shape look_shape = OBJECT(look_fields);

static const struct seep_field root_fields[] = {
    {"kind", WORD(roots)}, {"name", NAME_OR}, {"function", NAME_OR}, {"file", TEXT_OR}, END};

static const struct seep_field hop_fields[] = {
    {"kind", WORD(hop_kinds)}, {"name", NAME_OR}, {"type", NAME_OR}, {"length", COUNT_OR}, END};
static const struct seep_shape hop_shape = OBJECT(hop_fields);

static const struct seep_field path_fields[] = {
    {"text", TEXT}, {"root", OBJECT(root_fields)}, {"hops", LIST(MAX_HOPS, hop_shape)}, END};

/* As in report.json. */
static const struct seep_field frame_fields[] = {
    {"kind", WORD(frame_kinds)},
    {"function", TEXT_OR},
    {"file", TEXT_OR},
    {"line", COUNT_OR},
    {"module", TEXT_OR_NOT},
    {"offset", {.kind = SEEP_SHAPE_COUNT, .others = SEEP_SHAPE_OR_MISSING}},
    END,
};
static const struct seep_field line_fields[] = {
    {"frame", OBJECT(frame_fields)}, {"bytes", COUNT}, END};
static const struct seep_shape line_shape = OBJECT(line_fields);

static const struct seep_field holder_fields[] = {
    {"key", {.kind = SEEP_SHAPE_TEXT, .most = 16}},
    {"state", WORD(states)},
    {"type", NAME_OR},
    {"length", COUNT_OR},
    {"bound", COUNT_OR},
    {"within", COUNT_OR},
    {"retained_bytes", COUNT},
    {"device_bytes", DEVICES(count_shape)},
    {"objects", COUNT},
    {"path", OBJECT(path_fields)},
    {"made_at",
     {.kind = SEEP_SHAPE_LIST,
      .most = MAX_LINES,
      .item = &line_shape,
      .others = SEEP_SHAPE_OR_NULL | SEEP_SHAPE_OR_MISSING}},
    {"growth", WORD(growths)},
    {"growth_bytes_per_minute", NUMBER},
    {"device_growth_bytes_per_minute", DEVICES(number_shape)},
    {"by_another", BOOLEAN},
    {"retained_by_look", LIST(MAX_LOOKS, count_or_shape)},
    {"device_bytes_by_look", DEVICES(series_shape)},
    {"length_by_look", LIST(MAX_LOOKS, count_or_shape)},
    {"pids",
     {.kind = SEEP_SHAPE_LIST,
      .most = MAX_PROCESSES,
      .item = &count_shape,
      .others = SEEP_SHAPE_OR_MISSING}},
    END,
};
static const struct seep_shape holder_shape = OBJECT(holder_fields);

#define PROCESS                                                                                    \
    {"pid", COUNT}, {"parent", COUNT}, {"command", TEXT}, {"error", TEXT_OR},                      \
        {"looks", LIST(MAX_LOOKS, look_shape)},                                                    \
    {                                                                                              \
        "holders", LIST(MAX_HOLDERS, holder_shape)                                                 \
    }

static const struct seep_field process_fields[] = {PROCESS, END};
static const struct seep_shape process_shape = OBJECT(process_fields);

static const struct seep_field tree_fields[] = {
    {"processes", LIST(MAX_PROCESSES, process_shape)},
    {"holders", LIST(MAX_HOLDERS *MAX_PROCESSES, holder_shape)},
    {"complete", BOOLEAN},
    END,
};

static const struct seep_field document_fields[] = {
    PROCESS,
    {"seep", TEXT},
    {"core",
     {.kind = SEEP_SHAPE_OBJECT,
      .fields = core_fields,
      .others = SEEP_SHAPE_OR_NULL | SEEP_SHAPE_OR_MISSING}},
    {"looked_unix_s", {.kind = SEEP_SHAPE_NUMBER, .others = SEEP_SHAPE_OR_MISSING}},
    {"limit", {.kind = SEEP_SHAPE_OBJECT, .fields = limit_fields, .others = SEEP_SHAPE_OR_NULL}},
    {"tree", {.kind = SEEP_SHAPE_OBJECT, .fields = tree_fields, .others = SEEP_SHAPE_OR_MISSING}},
    END,
};
static const struct seep_shape document_shape = OBJECT(document_fields);

/* ---- what its parts have to do with each other ----------------------------------------------- */

static int wrong(struct seep_error *err, const char *name, const char *what)
{
    return seep_error_set(err, SEEP_EFORMAT, name, 0, "%s", what);
}

static int check_times(const json_t *looks, const char *name, struct seep_error *err)
{
    const json_t *look;
    double before = 0;
    size_t i;

    json_array_foreach (looks, i, look) {
        const double at = json_number_value(json_object_get(look, "t_s"));
        if (at < before)
            return wrong(err, name, "a look is earlier than the one before it");
        before = at;
    }
    return 0;
}

/* Forgets one `within` of each circle. `seen`: of each holder the walk that came to it, from 1 on.
 */
static void open_circles(json_t *holders, uint32_t *seen)
{
    const size_t n = json_array_size(holders);

    for (size_t i = 0; i < n; i++) {
        for (size_t at = i; !seen[at];) {
            json_t *holder = json_array_get(holders, at);
            const json_t *within = json_object_get(holder, "within");
            seen[at] = (uint32_t)i + 1;
            if (json_is_null(within))
                break;
            at = (size_t)json_integer_value(within);
            if (seen[at] == i + 1)
                json_object_set_new(holder, "within", json_null());
        }
    }
}

/* The series of a holder, those of devices as well. */
static bool are_as_long(const json_t *holder, size_t n_looks)
{
    const json_t *lengths = json_object_get(holder, "length_by_look"), *series;
    const size_t n = json_array_size(json_object_get(holder, "retained_by_look"));
    const char *device;

    json_object_foreach (json_object_get(holder, "device_bytes_by_look"), device, series)
        if (json_array_size(series) != n)
            return false;
    return json_array_size(lengths) == n && (!n_looks || n == n_looks);
}

static int check_holders(json_t *holders, size_t n_looks, const char *name, struct seep_error *err)
{
    const size_t n = json_array_size(holders);
    const json_t *holder;
    size_t i;

    json_array_foreach (holders, i, holder) {
        const json_t *within = json_object_get(holder, "within");
        if (json_is_integer(within) && (uint64_t)json_integer_value(within) >= n)
            return wrong(err, name, "a holder is within one that does not exist");
        if (!are_as_long(holder, n_looks))
            return wrong(err, name, "the series of a holder are not as long as the looks");
    }
    uint32_t *seen = calloc(n + 1, sizeof *seen);
    if (!seen)
        return seep_error_set(err, SEEP_ENOMEM, name, 0, "out of memory");
    open_circles(holders, seen);
    free(seen);
    return 0;
}

static int check_process(const json_t *process, const char *name, struct seep_error *err)
{
    const json_t *looks = json_object_get(process, "looks");
    json_t *holders = json_object_get(process, "holders");
    int rc = check_times(looks, name, err);

    if (!rc && !json_array_size(looks) && json_array_size(holders))
        rc = wrong(err, name, "a process has holders, but no looks");
    return rc ? rc : check_holders(holders, json_array_size(looks), name, err);
}

static int check(const json_t *look, const char *name, struct seep_error *err)
{
    const json_t *tree = json_object_get(look, "tree"), *process;
    int rc = json_array_size(json_object_get(look, "looks"))
                 ? check_process(look, name, err)
                 : wrong(err, name, "there is no look in it");
    size_t i;

    json_array_foreach (json_object_get(tree, "processes"), i, process)
        rc = rc ? rc : check_process(process, name, err);
    if (!rc && tree)
        rc = check_holders(json_object_get(tree, "holders"), 0, name, err);
    return rc;
}

/* ---- the page -------------------------------------------------------------------------------- */

static int check_kind(const json_t *document, const char *name, struct seep_error *err)
{
    const char *format = json_string_value(json_object_get(document, "format"));
    const json_t *version = json_object_get(document, "version");

    if (!format || strcmp(format, "seep-look") != 0)
        return wrong(err, name, "not a document of `seep look --format json`");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return seep_error_set(err, SEEP_EVERSION, name, 0,
                              "written by a newer seep: this one knows version 1");
    return 0;
}

int seep_page_look(const json_t *document, const char *name, json_t **page, struct seep_error *err)
{
    json_t *look = NULL;
    int rc = check_kind(document, name, err);

    if (!rc)
        rc = shape_take(&document_shape, document, name, &look, err);
    if (!rc)
        rc = check(look, name, err);
    if (rc) {
        json_decref(look);
        return rc;
    }
    *page = json_pack("{s:o}", "look", look);
    return *page ? 0 : seep_error_set(err, SEEP_ENOMEM, name, 0, "out of memory");
}
