#include "libprof/page/shape.h"

#include "libprof/base/json_build.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PLACE = 160, MOST_NAME = 64 };

struct taking {
    const char *name;
    char at[MOST_PLACE]; /* "looks[2].rss_bytes" */
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
    json_t *clean = seep_json_text_n(name, cut_at(name, MOST_NAME));

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

int seep_shape_take(const struct seep_shape *shape, const json_t *from, const char *name,
                    json_t **copy, struct seep_error *err)
{
    struct taking t = {.name = name, .err = err};

    *copy = take(&t, shape, from);
    if (*copy)
        return 0;
    return t.rc ? t.rc : seep_error_set(err, SEEP_ENOMEM, name, 0, "out of memory");
}
