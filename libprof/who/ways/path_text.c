/* A path as a line of text, and as JSON. */
#include "libprof/who/ways/path.h"

#include "libprof/base/json_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_root(FILE *out, const struct seep_path *path)
{
    const char *slash = strrchr(path->root_file, '/');
    const char *file = slash ? slash + 1 : path->root_file;

    if (path->root.subinterpreter)
        fprintf(out, "subinterpreter %" PRIu32 ": ", path->root.subinterpreter);
    switch (path->root.kind) {
    case SEEP_ROOT_FRAME:
        if (path->root_name[0])
            fprintf(out, "local '%s' of %s()", path->root_name, path->root_function);
        else
            fprintf(out, "a temporary of %s()", path->root_function);
        break;
    case SEEP_ROOT_MODULE:
        fprintf(out, "module %s", path->root_name);
        break;
    case SEEP_ROOT_MODULES:
        fputs("sys.modules", out);
        break;
    case SEEP_ROOT_LOCALS:
        fputs("a thread's locals", out);
        break;
    case SEEP_ROOT_STATIC:
        if (strcmp(path->root_name, file) != 0)
            fprintf(out, "global '%s' of %s", path->root_name, file);
        else
            fprintf(out, "static data of %s", file);
        break;
    case SEEP_ROOT_STACK:
        fputs("a C stack", out);
        break;
    case SEEP_ROOT_THREAD:
        fputs("thread-local storage", out);
        break;
    case SEEP_ROOT_CYCLE:
        fputs("nobody but a cycle", out);
        break;
    case SEEP_ROOT_REFERENCE:
        fputs("a reference that was never given back", out);
        break;
    case SEEP_ROOT_NOBODY:
        fputs("nobody", out);
        break;
    }
}

static void put_hop(FILE *out, const struct seep_hop *hop)
{
    switch (hop->kind) {
    case SEEP_HOP_ATTRIBUTE:
        fprintf(out, ".%s", hop->name);
        break;
    case SEEP_HOP_KEY:
        if (hop->name[0])
            fprintf(out, "['%s']", hop->name);
        else
            fprintf(out, "[%" PRId64 " keys]", hop->length);
        break;
    case SEEP_HOP_INDEX:
        if (hop->index >= 0)
            fprintf(out, "[%" PRId64 "]", hop->index);
        else
            fprintf(out, "[%" PRId64 "]", hop->length);
        break;
    case SEEP_HOP_ELEMENT:
        fprintf(out, "{%" PRId64 "}", hop->length);
        break;
    case SEEP_HOP_LOCAL:
        if (hop->name[0])
            fprintf(out, " its local '%s'", hop->name);
        else
            fputs(" its temporary", out);
        break;
    case SEEP_HOP_PART:
        fprintf(out, " %s", hop->name);
        break;
    case SEEP_HOP_FIELD:
        fputs(" →", out);
        break;
    case SEEP_HOP_NATIVE:
        fprintf(out, " → C++ %s", hop->type[0] ? hop->type : "");
        if (hop->repeated > 1 || !hop->type[0])
            fprintf(out, "%s(%" PRIu32 " block%s)", hop->type[0] ? " " : "", hop->repeated,
                    hop->repeated == 1 ? "" : "s");
        return;
    case SEEP_HOP_SELF:
        break;
    }
    if (hop->repeated > 1)
        fputs("…", out); /* the length of a linked list up to there means nothing */
}

/* A container needs no type if the next hop names its inside. */
static bool shows_type(const struct seep_path *path, size_t i)
{
    const struct seep_hop *hop = &path->hops[i];
    bool more = i + 1 < path->n;
    enum seep_hop_kind next = more ? path->hops[i + 1].kind : SEEP_HOP_FIELD;

    if (hop->kind == SEEP_HOP_NATIVE || !hop->type[0] || strcmp(hop->type, "module") == 0)
        return false;
    if (hop->kind == SEEP_HOP_FIELD ||
        (hop->kind == SEEP_HOP_SELF && path->root.kind >= SEEP_ROOT_CYCLE))
        return true; /* nothing else is known of it */
    return !more || (next != SEEP_HOP_KEY && next != SEEP_HOP_INDEX && next != SEEP_HOP_ELEMENT);
}

char *seep_path_text(const struct seep_path *path)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return NULL;
    if (path->shared)
        fprintf(out, "what %s shares with other objects", path->root_name);
    else
        put_root(out, path);
    for (size_t i = 0; i < path->n; i++) {
        put_hop(out, &path->hops[i]);
        if (shows_type(path, i))
            fprintf(out, " (%s)", path->hops[i].type);
    }
    if (path->cut)
        fputs(" …", out);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

/* The classes of blocks on the way differ with the block that stands for all. */
uint64_t seep_path_key(const struct seep_path *path)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) + path->root.kind;

    hash = mix_text(hash, path->root_name);
    hash = mix_text(hash, path->root_function);
    hash = mix_text(hash, path->root_file);
    for (size_t i = 0; i < path->n; i++) {
        const struct seep_hop *hop = &path->hops[i];
        const char *word = seep_hop_kind_word(hop->kind);
        hash = mix_text(mix_text(hash, word), hop->kind == SEEP_HOP_KEY ? "" : hop->name);
        hash = mix_text(hash, hop->kind == SEEP_HOP_NATIVE ? "" : hop->type);
    }
    return hash;
}

void seep_path_holder_name(const struct seep_path *path, size_t i, char *to, size_t capacity)
{
    size_t at = i < path->n ? i : path->n;

    *to = '\0';
    if (path->shared)
        return; /* it is nobody's */

    /* The last name on the path up to there, and its owner. */
    while (at-- > 0) {
        const struct seep_hop *hop = &path->hops[at];
        if (hop->kind != SEEP_HOP_ATTRIBUTE)
            continue;
        const char *owner = at ? path->hops[at - 1].type : "";
        if (strncmp(owner, "class ", 6) == 0)
            owner += 6;
        if (strcmp(owner, "module") == 0)
            owner = path->root_name;
        snprintf(to, capacity, "%s.%s", *owner ? owner : path->root_name, hop->name);
        return;
    }
    if (path->root.kind == SEEP_ROOT_FRAME && path->root_name[0])
        snprintf(to, capacity, "%s.%s", path->root_function, path->root_name);
    else
        snprintf(to, capacity, "%s", path->root_name);
}

const char *seep_root_kind_word(enum seep_root_kind kind)
{
    static const char *const words[] = {
        [SEEP_ROOT_FRAME] = "local",         [SEEP_ROOT_MODULE] = "module",
        [SEEP_ROOT_MODULES] = "modules",     [SEEP_ROOT_LOCALS] = "thread",
        [SEEP_ROOT_STATIC] = "static",       [SEEP_ROOT_STACK] = "stack",
        [SEEP_ROOT_THREAD] = "thread-data",  [SEEP_ROOT_CYCLE] = "cycle",
        [SEEP_ROOT_REFERENCE] = "reference", [SEEP_ROOT_NOBODY] = "nobody",
    };

    return words[kind];
}

const char *seep_hop_kind_word(enum seep_hop_kind kind)
{
    static const char *const words[] = {
        [SEEP_HOP_ATTRIBUTE] = "attribute", [SEEP_HOP_KEY] = "key",
        [SEEP_HOP_INDEX] = "index",         [SEEP_HOP_ELEMENT] = "element",
        [SEEP_HOP_LOCAL] = "local",         [SEEP_HOP_PART] = "part",
        [SEEP_HOP_FIELD] = "field",         [SEEP_HOP_NATIVE] = "native",
        [SEEP_HOP_SELF] = "self",
    };

    return words[kind];
}

static json_t *hop_json(const struct seep_hop *hop)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "kind", seep_hop_kind_word(hop->kind), "name",
                     seep_json_text_or_null(hop->name), "type", seep_json_text_or_null(hop->type),
                     "length",
                     hop->length >= 0 ? seep_json_count((uint64_t)hop->length) : json_null());
}

json_t *seep_path_json(const struct seep_path *path)
{
    char *text = seep_path_text(path);
    json_t *hops = json_array();
    bool failed = !text;

    for (size_t i = 0; i < path->n; i++)
        seep_json_append(hops, hop_json(&path->hops[i]), &failed);
    json_t *json =
        json_pack("{s:o, s:{s:s, s:o, s:o, s:o}, s:o}", "text", seep_json_text(text ? text : ""),
                  "root", "kind", path->shared ? "shared" : seep_root_kind_word(path->root.kind),
                  "name", seep_json_text_or_null(path->shared ? "" : path->root_name), "function",
                  seep_json_text_or_null(path->shared ? "" : path->root_function), "file",
                  seep_json_text_or_null(path->shared ? "" : path->root_file), "hops", hops);
    free(text);
    return seep_json_whole(json, failed);
}
