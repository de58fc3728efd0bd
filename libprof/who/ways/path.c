#include "libprof/who/ways/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/json_build.h"
#include "libprof/who/graph/py_fields.h"
#include "libprof/who/survey/survey.h"

/* ---- what its nodes are ---------------------------------------------------------------------- */

int64_t seep_way_bound(const struct seep_reach *reach, uint32_t node)
{
    struct seep_heap *heap = reach->heap;
    const uint32_t owner = reach->parent[node];
    const int64_t bound = seep_node_bound(heap, node);

    if (bound >= 0 || owner & SEEP_REACH_ROOT)
        return bound;
    const struct seep_pytype *type = seep_node_type(heap, owner);
    return type && type->kind == SEEP_PYTYPE_LRU ? seep_node_bound(heap, owner) : -1;
}

bool seep_way_has_name(enum seep_label_kind kind)
{
    return kind == SEEP_LABEL_ATTRIBUTE || kind == SEEP_LABEL_MEMBER || kind == SEEP_LABEL_KNOWN ||
           kind == SEEP_LABEL_LOCAL || kind == SEEP_LABEL_MODULE || kind == SEEP_LABEL_WORD;
}

bool seep_way_repeats(const struct seep_reach *reach, uint32_t node)
{
    const uint32_t from = reach->parent[node];
    const struct seep_pytype *type = seep_node_type(reach->heap, node);
    const enum seep_label_kind kind = seep_label_kind(seep_reach_label(reach, node));

    return !(from & SEEP_REACH_ROOT) && type &&
           (kind == SEEP_LABEL_ATTRIBUTE || kind == SEEP_LABEL_MEMBER) &&
           seep_reach_label(reach, from) == seep_reach_label(reach, node) &&
           seep_node_type(reach->heap, from) == type;
}

uint32_t seep_path_root(const struct seep_reach *reach, uint32_t node, size_t *n)
{
    for (*n = 0; !(node & SEEP_REACH_ROOT); node = reach->parent[node])
        ++*n;
    return node & ~SEEP_REACH_ROOT;
}

size_t seep_path_begin(const struct seep_reach *reach, uint32_t node, uint32_t *nodes,
                       size_t capacity)
{
    size_t n;

    (void)seep_path_root(reach, node, &n);
    for (size_t i = n; i-- > 0; node = reach->parent[node])
        if (i < capacity)
            nodes[i] = node;
    return n;
}

/* Cut after a whole character. */
static void copy_name(char *to, size_t capacity, const char *name)
{
    size_t n = strnlen(name, capacity);

    if (n == capacity)
        for (n--; n && ((uint8_t)name[n] & 0xc0) == 0x80;)
            n--;
    memcpy(to, name, n);
    to[n] = '\0';
}

static void name_hop(struct seep_reach *reach, struct seep_hop *hop, seep_label label, bool keys)
{
    const struct seep_heap *heap = reach->heap;
    const uint64_t value = seep_label_value(label);

    switch (seep_label_kind(label)) {
    case SEEP_LABEL_ATTRIBUTE:
    case SEEP_LABEL_MEMBER:
        hop->kind = SEEP_HOP_ATTRIBUTE;
        copy_name(hop->name, sizeof hop->name, seep_label_name(heap, label));
        break;
    case SEEP_LABEL_KNOWN:
        hop->kind = SEEP_HOP_ATTRIBUTE;
        snprintf(hop->name, sizeof hop->name, "%s", seep_pyfield_name((size_t)value));
        break;
    case SEEP_LABEL_WORD:
        hop->kind = value == SEEP_WORD_ELEMENT ? SEEP_HOP_ELEMENT : SEEP_HOP_PART;
        snprintf(hop->name, sizeof hop->name, "%s",
                 seep_label_word_text((enum seep_label_word)value));
        break;
    case SEEP_LABEL_KEY:
        hop->kind = SEEP_HOP_KEY;
        if (keys && hop->length <= SEEP_WAY_MANY_KEYS)
            copy_name(hop->name, sizeof hop->name, seep_label_name(heap, label));
        break;
    case SEEP_LABEL_INDEX:
        hop->kind = SEEP_HOP_INDEX;
        hop->index = hop->length <= SEEP_WAY_MANY_KEYS ? (int64_t)value : -1;
        break;
    case SEEP_LABEL_LOCAL:
        hop->kind = SEEP_HOP_LOCAL;
        copy_name(hop->name, sizeof hop->name, seep_label_name(heap, label));
        break;
    case SEEP_LABEL_TEMPORARY:
        hop->kind = SEEP_HOP_LOCAL;
        break;
    default:
        hop->kind = SEEP_HOP_FIELD;
        break;
    }
}

static void add_type(struct seep_hop *hop, const char *name)
{
    size_t used = strlen(hop->type);

    if (!*name || strstr(hop->type, name))
        return;
    snprintf(hop->type + used, sizeof hop->type - used, "%s%s", used ? ", " : "", name);
}

/* Consecutive blocks of C and C++ are one hop. If the path ends with such a block, that block is
 * what is held, and not a hop. Returns the index of the hop's last node. */
static size_t native_hop(struct seep_reach *reach, const uint32_t *nodes, size_t n, size_t i,
                         struct seep_path *path)
{
    struct seep_heap *heap = reach->heap;
    struct seep_hop *hop = &path->hops[path->n];
    size_t last = i;

    while (last > 0 && !seep_node_type(heap, nodes[last - 1]))
        last--;
    *hop = (struct seep_hop){.kind = SEEP_HOP_NATIVE, .at = n - 1 - i, .length = -1, .index = -1};
    for (size_t k = i + 1; k-- > (last ? last : 1);) {
        if (heap->nodes[nodes[k]].kind == SEEP_NODE_NATIVE)
            add_type(hop, seep_node_class(heap, nodes[k]));
        hop->repeated++;
    }
    path->n += hop->repeated > 0;
    return last;
}

/* A class or a function is shown by its own name. */
static void name_type(struct seep_heap *heap, uint32_t n, const struct seep_pytype *type,
                      struct seep_hop *hop)
{
    char name[SEEP_HOP_NAME];

    copy_name(name, sizeof name, seep_heap_name(heap, seep_node_object(&heap->nodes[n])));
    const char *dot = strrchr(name, '.');
    if (type->kind == SEEP_PYTYPE_TYPE) {
        snprintf(hop->type, sizeof hop->type, "class %s", dot ? dot + 1 : name);
    } else if (type->kind == SEEP_PYTYPE_FUNCTION) {
        snprintf(hop->type, sizeof hop->type, "function %s", dot ? dot + 1 : name);
    } else if (type->kind != SEEP_PYTYPE_CELL) {
        snprintf(hop->type, sizeof hop->type, "%s", seep_pytype_short(type));
    }
}

/* An instance's dict counts as the instance, a generator's frame as the generator, and what has a
 * bytearray's bytes as the bytearray; a cell's content is what the cell's name says. */
static bool is_part_of(const struct seep_pytype *type, const struct seep_pytype *outer)
{
    if (outer && outer->kind == SEEP_PYTYPE_CELL)
        return false;
    return type->kind == SEEP_PYTYPE_DICT || type->kind == SEEP_PYTYPE_FRAME ||
           (type->kind == SEEP_PYTYPE_BYTES && outer && strcmp(outer->name, "bytearray") == 0);
}

static void object_hop(struct seep_reach *reach, const uint32_t *nodes, size_t n, size_t i,
                       bool keys, struct seep_path *path)
{
    const struct seep_pytype *type = seep_node_type(reach->heap, nodes[i]);
    const seep_label label = seep_reach_label(reach, nodes[i]);
    bool hidden = seep_label_kind(label) == SEEP_LABEL_HIDDEN;
    struct seep_hop *hop = &path->hops[path->n];

    if (hidden && path->n && type->kind != SEEP_PYTYPE_CELL) {
        if (!is_part_of(type, seep_node_type(reach->heap, nodes[i + 1])))
            name_type(reach->heap, nodes[i], type, &hop[-1]);
        return;
    }
    if (path->n && seep_way_repeats(reach, nodes[i])) {
        hop[-1].repeated++;
        return;
    }
    *hop = (struct seep_hop){.at = n - 1 - i, .length = -1, .index = -1, .repeated = 1};
    if (i + 1 < n)
        hop->length = seep_node_length(reach->heap, nodes[i + 1]);
    if (i + 1 == n)
        hop->kind = SEEP_HOP_SELF;
    else
        name_hop(reach, hop, label, keys);
    name_type(reach->heap, nodes[i], type, hop);
    path->n++;
}

/* Removes the functions in which it was defined: their names are long, and not part of the path. */
static void shorten(char *qualified)
{
    static const char inner[] = ".<locals>.";

    for (const char *at; (at = strstr(qualified, inner));)
        memmove(qualified, at + sizeof inner - 1, strlen(at + sizeof inner - 1) + 1);
}

static void name_root(struct seep_reach *reach, uint32_t first, struct seep_path *path)
{
    const struct seep_heap *heap = reach->heap;
    const struct seep_root *root = &path->root;
    const seep_label label = seep_reach_label(reach, first);

    if (root->kind == SEEP_ROOT_MODULE) {
        copy_name(path->root_name, sizeof path->root_name, seep_heap_name(heap, root->at));
    } else if (root->kind == SEEP_ROOT_FRAME) {
        if (seep_label_kind(label) == SEEP_LABEL_LOCAL)
            copy_name(path->root_name, sizeof path->root_name, seep_label_name(heap, label));
        copy_name(path->root_function, sizeof path->root_function, seep_heap_name(heap, root->at));
        shorten(path->root_function);
        copy_name(path->root_file, sizeof path->root_file, seep_heap_code_file(heap, root->at));
    } else if (root->map) {
        const char *file = seep_maps_file(heap->maps, root->map), *slash = strrchr(file, '/');
        snprintf(path->root_name, sizeof path->root_name, "%s", slash ? slash + 1 : file);
        snprintf(path->root_file, sizeof path->root_file, "%s",
                 seep_maps_file(heap->maps, root->map));
        if (root->kind == SEEP_ROOT_STATIC && seep_label_kind(label) == SEEP_LABEL_ADDRESS)
            path->root_address = seep_label_value(label);
    }
}

/* Adds those that lead to nodes[0, end), the farthest first. */
static void add_hops(struct seep_reach *reach, const uint32_t *nodes, size_t n, size_t end,
                     bool keys, struct seep_path *path)
{
    for (size_t i = end; i-- > 0;) {
        if (path->n == SEEP_PATH_HOPS) {
            path->cut = true;
            return;
        }
        if (seep_node_type(reach->heap, nodes[i]))
            object_hop(reach, nodes, n, i, keys, path);
        else
            i = native_hop(reach, nodes, n, i, path);
    }
}

/* The root is named by the variable whose object leads to what is shared. */
static void begin_at_shared(struct seep_reach *reach, const uint32_t *nodes, size_t n, size_t end,
                            struct seep_path *path)
{
    size_t i = 0;
    char name[SEEP_HOP_NAME];

    while (i < path->n && path->hops[i].kind != SEEP_HOP_NATIVE)
        i++;
    seep_path_holder_name(path, i, name, sizeof name);
    memcpy(path->root_name, name, sizeof name);
    path->shared = true;
    path->cut = false;
    path->n = 0;
    add_hops(reach, nodes, n, end, false, path);
}

int seep_path_of_shared(struct seep_reach *reach, uint32_t node, uint32_t shared, bool keys,
                        struct seep_path *path)
{
    size_t n, end;
    const uint32_t root = seep_path_root(reach, node, &n);
    uint32_t *nodes = malloc((n + 1) * sizeof *nodes);

    *path = (struct seep_path){.root = reach->roots[root]};
    if (!nodes)
        return -SEEP_ENOMEM;
    end = n;
    for (size_t i = 0; i < n; i++, node = reach->parent[node]) {
        nodes[i] = node;
        end = node == shared ? i + 1 : end;
    }
    name_root(reach, nodes[n - 1], path);
    add_hops(reach, nodes, n, n, keys, path);
    if (end < n)
        begin_at_shared(reach, nodes, n, end, path);
    free(nodes);
    return 0;
}

int seep_path_of(struct seep_reach *reach, uint32_t node, bool keys, struct seep_path *path)
{
    return seep_path_of_shared(reach, node, SEEP_NODE_NONE, keys, path);
}

/* A path as a line of text, and as JSON. */

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
