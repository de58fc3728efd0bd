#include "libprof/who/merge/holders_path.h"

#include "libprof/base/json_build.h"
#include "libprof/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *said(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static json_t *count_or_null(struct seep_holders_check *c, const json_t *from, const char *key)
{
    uint64_t n = seep_take_count_or(c, from, key, UINT64_MAX);

    return n == UINT64_MAX ? json_null() : json_integer((json_int_t)n);
}

static json_t *root_of(struct seep_holders_check *c, const json_t *from)
{
    uint64_t line = seep_take_count_or(c, from, "line", 0);
    json_t *root = json_object();

    seep_json_set(root, "kind", seep_take_word(c, from, "kind"), &c->failed);
    seep_json_set(root, "name", seep_take_text_or_null(c, from, "name"), &c->failed);
    seep_json_set(root, "function", seep_take_text_or_null(c, from, "function"), &c->failed);
    seep_json_set(root, "file", seep_take_text_or_null(c, from, "file"), &c->failed);
    seep_json_set(root, "line", line ? json_integer((json_int_t)line) : json_null(), &c->failed);
    return root;
}

static json_t *hop_of(struct seep_holders_check *c, const json_t *from)
{
    json_t *hop = json_object();

    seep_json_set(hop, "kind", seep_take_word(c, from, "kind"), &c->failed);
    seep_json_set(hop, "name", seep_take_text_or_null(c, from, "name"), &c->failed);
    seep_json_set(hop, "type", seep_take_text_or_null(c, from, "type"), &c->failed);
    return hop;
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
    const json_t *bound_by = json_object_get(from, "bound_by");
    uint64_t hop = seep_take_count(c, from, "hop");

    if (hop > json_array_size(path->hops))
        c->wrong = true;
    path->holder = json_object();
    seep_json_set(path->holder, "hop", json_integer((json_int_t)hop), &c->failed);
    seep_json_set(path->holder, "type", seep_take_text_or_null(c, from, "type"), &c->failed);
    seep_json_set(path->holder, "name", seep_take_text_or_null(c, from, "name"), &c->failed);
    seep_json_set(path->holder, "length", count_or_null(c, from, "length"), &c->failed);
    seep_json_set(path->holder, "bound", count_or_null(c, from, "bound"), &c->failed);
    seep_json_set(path->holder, "bound_by",
                  bound_by && !json_is_null(bound_by) ? seep_take_word(c, from, "bound_by")
                                                      : json_null(),
                  &c->failed);
    const json_t *length = json_object_get(path->holder, "length");
    path->has_length = json_is_integer(length);
    path->length = (uint64_t)json_integer_value(length);
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
