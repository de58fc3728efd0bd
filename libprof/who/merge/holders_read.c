#include "libprof/who/merge/holders_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/json_build.h"
#include "libprof/base/text.h"
#include "libprof/report_read/report_fields.h"

uint64_t seep_take_count(struct seep_holders_check *c, const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);

    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (uint64_t)json_integer_value(value);
    c->wrong = true;
    return 0;
}

static bool is_missing(const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);

    return !value || json_is_null(value);
}

uint64_t seep_take_count_or(struct seep_holders_check *c, const json_t *from, const char *key,
                            uint64_t missing)
{
    return is_missing(from, key) ? missing : seep_take_count(c, from, key);
}

bool seep_take_bool(struct seep_holders_check *c, const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);

    if (!json_is_boolean(value))
        c->wrong = true;
    return json_is_true(value);
}

json_t *seep_take_text(struct seep_holders_check *c, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));

    if (!text) {
        c->wrong = true;
        return json_null();
    }
    size_t n = strlen(text);
    if (n > SEEP_HOLDERS_TEXT_BYTES) {
        n = SEEP_HOLDERS_TEXT_BYTES;
        while (n && ((unsigned char)text[n] & 0xc0) == 0x80) /* not within a character */
            n--;
    }
    char *clean = seep_text_clean(text, n);
    json_t *json = clean ? json_string(clean) : NULL;
    free(clean);
    c->failed = c->failed || !json;
    return json;
}

json_t *seep_take_text_or_null(struct seep_holders_check *c, const json_t *from, const char *key)
{
    return is_missing(from, key) ? json_null() : seep_take_text(c, from, key);
}

json_t *seep_take_word(struct seep_holders_check *c, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));
    size_t n = text ? strspn(text, "abcdefghijklmnopqrstuvwxyz-") : 0;

    if (!n || n > SEEP_HOLDERS_WORD_BYTES || text[n]) {
        c->wrong = true;
        return json_null();
    }
    json_t *json = json_string(text);
    c->failed = c->failed || !json;
    return json;
}

static const char *said(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* −1: it is missing. */
static int64_t count_if_there(struct seep_holders_check *c, const json_t *from, const char *key)
{
    return is_missing(from, key) ? -1 : (int64_t)seep_take_count(c, from, key);
}

static json_t *root_of(struct seep_holders_check *c, const json_t *from)
{
    const uint64_t line = seep_take_count_or(c, from, "line", 0);

    return seep_json_made(SEEP_REPORT_JSON(holder_root, .kind = seep_take_word(c, from, "kind"),
                                           .name = seep_take_text_or_null(c, from, "name"),
                                           .function = seep_take_text_or_null(c, from, "function"),
                                           .file = seep_take_text_or_null(c, from, "file"),
                                           .line = seep_count_if(line, line)),
                          &c->failed);
}

static json_t *hop_of(struct seep_holders_check *c, const json_t *from)
{
    return SEEP_REPORT_JSON(hop, .kind = seep_take_word(c, from, "kind"),
                            .name = seep_take_text_or_null(c, from, "name"),
                            .type = seep_take_text_or_null(c, from, "type"));
}

static json_t *hops_of(struct seep_holders_check *c, const json_t *from)
{
    json_t *hops = json_array(), *one;
    size_t i;

    if (!json_is_array(from) || json_array_size(from) > SEEP_HOLDERS_MAX_HOPS) {
        c->wrong = true;
        return hops;
    }
    json_array_foreach (from, i, one)
        seep_json_append(hops, hop_of(c, one), &c->failed);
    return hops;
}

/* The names from the root to hop `n`, each on a line of its own. */
static char *way_of(const json_t *root, const json_t *hops, size_t n)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return NULL;
    fprintf(out, "%s %s\n%s", said(root, "kind"), said(root, "name"), said(root, "function"));
    for (size_t i = 0; i < n && i < json_array_size(hops); i++) {
        const json_t *hop = json_array_get(hops, i);
        fprintf(out, "\n%s %s\n%s", said(hop, "kind"), said(hop, "name"), said(hop, "type"));
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void take_holder(struct seep_holders_check *c, const json_t *from,
                        struct seep_holders_path *path)
{
    const uint64_t hop = seep_take_count(c, from, "hop");
    const int64_t length = count_if_there(c, from, "length");

    if (hop > json_array_size(path->hops))
        c->wrong = true;
    path->holder = seep_json_made(
        SEEP_REPORT_JSON(container, .hop = hop, .type = seep_take_text_or_null(c, from, "type"),
                         .name = seep_take_text_or_null(c, from, "name"), .length = length,
                         .bound = count_if_there(c, from, "bound"),
                         .bound_by = is_missing(from, "bound_by")
                                         ? json_null()
                                         : seep_take_word(c, from, "bound_by")),
        &c->failed);
    path->has_length = length >= 0;
    path->length = length >= 0 ? (uint64_t)length : 0;
    path->has_name = *said(path->holder, "name");
    path->container = path->has_name ? seep_text_format("%s\n%s", said(path->holder, "name"),
                                                        said(path->holder, "type"))
                                     : way_of(path->root, path->hops, hop);
    c->failed = c->failed || !path->container;
}

void seep_holders_path_take(struct seep_holders_check *c, const json_t *from,
                            struct seep_holders_path *path)
{
    const json_t *holder = json_object_get(from, "holder");

    *path = (struct seep_holders_path){
        .text = seep_take_text(c, from, "text"),
        .root = root_of(c, json_object_get(from, "root")),
        .hops = hops_of(c, json_object_get(from, "hops")),
        .blocks = seep_take_count(c, from, "blocks"),
        .bytes = seep_take_count(c, from, "bytes"),
        .sole_bytes = seep_take_count_or(c, from, "sole_bytes", UINT64_MAX),
    };
    path->sole_known = path->sole_bytes != UINT64_MAX;
    path->sole_bytes = path->sole_known ? path->sole_bytes : 0;
    path->way = way_of(path->root, path->hops, SEEP_HOLDERS_MAX_HOPS);
    if (!path->text || !path->root || !path->hops || !path->way)
        c->failed = true;
    if (!json_string_length(path->text))
        c->wrong = true;
    if (holder && !json_is_null(holder))
        take_holder(c, holder, path);
}

void seep_holders_path_fini(struct seep_holders_path *path)
{
    json_decref(path->text);
    json_decref(path->root);
    json_decref(path->hops);
    json_decref(path->holder);
    free(path->way);
    free(path->container);
    *path = (struct seep_holders_path){0};
}

const char *const seep_holders_states[SEEP_HOLDERS_N_STATES] = {
#define SEEP_HOLDER_STATE(id, name) name,
#include "libprof/words/holder_states.def"
#undef SEEP_HOLDER_STATE
};

/* ---- frames ------------------------------------------------------------------------------ */

char *seep_holders_place_key(const char *place, uint64_t where)
{
    if (!*place)
        return strdup("");
    char *raw = seep_text_format("%s:%llu", place, (unsigned long long)where);
    char *key = raw ? seep_text_clean(raw, strlen(raw)) : NULL;

    free(raw);
    return key;
}

char *seep_holders_frame_key(const json_t *frame)
{
    const char *kind = json_string_value(json_object_get(frame, "kind"));
    const char *file = json_string_value(json_object_get(frame, "file"));
    const char *module = json_string_value(json_object_get(frame, "module"));
    json_int_t line = json_integer_value(json_object_get(frame, "line"));
    const json_t *offset = json_object_get(frame, "offset");

    if (kind && strcmp(kind, "python") == 0)
        return seep_holders_place_key(file && line > 0 ? file : "", (uint64_t)line);
    return seep_holders_place_key(module && json_is_integer(offset) ? module : "",
                                  (uint64_t)json_integer_value(offset));
}

/* ---- lines ------------------------------------------------------------------------------- */

static enum seep_holders_state state_of(struct seep_holders_check *c, const json_t *from)
{
    const char *text = json_string_value(json_object_get(from, "state"));

    for (int i = 0; text && i < SEEP_HOLDERS_N_STATES; i++) {
        if (strcmp(text, seep_holders_states[i]) == 0)
            return (enum seep_holders_state)i;
    }
    c->wrong = true;
    return SEEP_HOLDERS_UNKNOWN;
}

static void take_paths(struct seep_holders_check *c, const json_t *list,
                       struct seep_holders_line *line)
{
    if (!json_is_array(list))
        c->wrong = true;
    for (size_t i = 0; i < json_array_size(list) && i < SEEP_HOLDERS_MAX_PATHS; i++) {
        struct seep_holders_path *path = &line->paths[line->n_paths++];
        seep_holders_path_take(c, json_array_get(list, i), path);
        if (path->bytes > line->bytes || path->sole_bytes > line->bytes)
            c->wrong = true;
    }
}

static void line_fini(struct seep_holders_line *line)
{
    for (size_t i = 0; i < line->n_paths; i++)
        seep_holders_path_fini(&line->paths[i]);
    free(line->frame);
    *line = (struct seep_holders_line){0};
}

/* False if it is wrong. */
static bool take_line(const json_t *from, struct seep_holders_line *line, bool *failed)
{
    struct seep_holders_check c = {0};

    *line = (struct seep_holders_line){
        .frame = seep_holders_frame_key(json_object_get(from, "frame")),
        .state = state_of(&c, from),
        .blocks = seep_take_count(&c, from, "blocks"),
        .bytes = seep_take_count(&c, from, "bytes"),
        .explained_bytes = seep_take_count(&c, from, "explained_bytes"),
        .lost_bytes = seep_take_count_or(&c, from, "lost_bytes", 0),
        .cycle_bytes = seep_take_count_or(&c, from, "cycle_bytes", 0),
        .reference_bytes = seep_take_count_or(&c, from, "reference_bytes", 0),
        .graph_bytes = seep_take_count_or(&c, from, "graph_bytes", 0),
    };
    take_paths(&c, json_object_get(from, "paths"), line);
    bool by_paths = line->state == SEEP_HOLDERS_HELD || line->state == SEEP_HOLDERS_SHARED;
    *failed = *failed || c.failed || !line->frame;
    return !c.wrong && !(by_paths && !line->n_paths) && line->explained_bytes <= line->bytes &&
           line->lost_bytes <= line->bytes && line->cycle_bytes <= line->bytes &&
           line->reference_bytes <= line->bytes && line->graph_bytes <= line->bytes;
}

static int take_lines(const json_t *list, struct seep_holders_snapshot *s)
{
    size_t n = json_array_size(list);
    bool failed = false;

    if (n > SEEP_HOLDERS_MAX_LINES) {
        s->n_left_out = n - SEEP_HOLDERS_MAX_LINES;
        n = SEEP_HOLDERS_MAX_LINES;
    }
    s->lines = calloc(n + 1, sizeof *s->lines);
    for (size_t i = 0; s->lines && i < n && !failed; i++) {
        struct seep_holders_line *line = &s->lines[s->n_lines++];
        if (!take_line(json_array_get(list, i), line, &failed)) {
            line_fini(line);
            s->n_lines--;
            s->n_wrong++;
        } else if (!s->complete &&
                   (line->state == SEEP_HOLDERS_LOST || line->state == SEEP_HOLDERS_REFERENCE)) {
            line->state = SEEP_HOLDERS_UNKNOWN; /* the holder may be among what was not seen */
        }
    }
    return s->lines && !failed ? 0 : -SEEP_ENOMEM;
}

/* ---- small objects ----------------------------------------------------------------------- */

static void small_fini(struct seep_holders_small *small)
{
    seep_holders_path_fini(&small->path);
    free(small->table);
}

/* False if it is wrong. */
static bool take_small_holder(const json_t *from, uint64_t bytes, struct seep_holders_small *small,
                              bool *failed)
{
    struct seep_holders_check c = {0};

    *small = (struct seep_holders_small){
        .table = seep_holders_frame_key(json_object_get(from, "table"))};
    seep_holders_path_take(&c, from, &small->path);
    *failed = *failed || c.failed || !small->table;
    return !c.wrong && small->path.bytes <= bytes;
}

static int take_small(const json_t *from, struct seep_holders_snapshot *s)
{
    const json_t *list = json_object_get(from, "holders");
    size_t n = json_array_size(list);
    struct seep_holders_check c = {0};
    bool failed = false;

    if (!from || json_is_null(from))
        return 0;
    s->small_bytes = seep_take_count(&c, from, "bytes");
    s->n_wrong += c.wrong;
    n = n < SEEP_HOLDERS_MAX_SMALL ? n : SEEP_HOLDERS_MAX_SMALL;
    s->small = calloc(n + 1, sizeof *s->small);
    for (size_t i = 0; s->small && i < n && !failed; i++) {
        struct seep_holders_small *small = &s->small[s->n_small++];
        if (!take_small_holder(json_array_get(list, i), s->small_bytes, small, &failed)) {
            small_fini(small);
            s->n_small--;
            s->n_wrong++;
        }
    }
    return s->small && !failed ? 0 : -SEEP_ENOMEM;
}

/* ---- the file ---------------------------------------------------------------------------- */

static int take_head(const json_t *from, struct seep_holders_snapshot *s, struct seep_error *why)
{
    struct seep_holders_check c = {0};
    const char *format = json_string_value(json_object_get(from, "format"));

    if (!format || strcmp(format, "seep-holders") != 0)
        return seep_error_set(why, SEEP_EFORMAT, s->file, 0, "not a snapshot of holders");
    uint64_t version = seep_take_count(&c, from, "version");
    if (!c.wrong && version != SEEP_HOLDERS_VERSION)
        return seep_error_set(why, SEEP_EVERSION, s->file, 0,
                              "version %llu, and this seep reads %d", (unsigned long long)version,
                              SEEP_HOLDERS_VERSION);
    uint64_t pid = seep_take_count(&c, from, "pid");
    uint64_t process = seep_take_count_or(&c, from, "process", 0);
    uint64_t step = seep_take_count(&c, from, "step");
    json_t *why_not = seep_take_text_or_null(&c, from, "why_not");
    s->complete = seep_take_bool(&c, from, "complete");
    s->stop_ns = seep_take_count_or(&c, from, "stop_ns", 0);
    s->cpu_ns = seep_take_count_or(&c, from, "cpu_ns", 0);
    s->why_not = strdup(json_string_value(why_not) ? json_string_value(why_not) : "");
    json_decref(why_not);
    if (c.failed || !s->why_not)
        return -SEEP_ENOMEM;
    if (c.wrong || !json_is_array(json_object_get(from, "lines")) || !pid || pid > INT32_MAX ||
        process > INT32_MAX || step > INT32_MAX)
        return seep_error_set(why, SEEP_EFORMAT, s->file, 0, "its head is damaged");
    s->pid = (uint32_t)pid;
    s->process = (uint32_t)process;
    s->step = (uint32_t)step;
    return 0;
}

int seep_holders_read(const char *file, const char *bytes, size_t n,
                      struct seep_holders_snapshot *snapshot, struct seep_error *why)
{
    json_error_t where;

    *snapshot = (struct seep_holders_snapshot){.file = strdup(file)};
    if (!snapshot->file)
        return -SEEP_ENOMEM;
    if (n > SEEP_HOLDERS_MAX_FILE_BYTES)
        return seep_error_set(why, SEEP_EFORMAT, file, 0, "larger than 16 MiB");
    json_t *document = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &where);
    if (!document && (!where.text[0] || json_error_code(&where) == json_error_out_of_memory))
        return -SEEP_ENOMEM; /* jansson reports no error if it lacks memory at its start */
    if (!document)
        return seep_error_set(why, SEEP_EFORMAT, file, 0, "damaged at line %d: %s", where.line,
                              where.text);
    int rc = take_head(document, snapshot, why);
    if (!rc)
        rc = take_lines(json_object_get(document, "lines"), snapshot);
    if (!rc)
        rc = take_small(json_object_get(document, "small_objects"), snapshot);
    json_decref(document);
    return rc;
}

void seep_holders_snapshot_fini(struct seep_holders_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_lines; i++)
        line_fini(&snapshot->lines[i]);
    for (size_t i = 0; i < snapshot->n_small; i++)
        small_fini(&snapshot->small[i]);
    free(snapshot->small);
    free(snapshot->lines);
    free(snapshot->file);
    free(snapshot->why_not);
    *snapshot = (struct seep_holders_snapshot){0};
}
