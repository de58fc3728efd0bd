#include "libprof/base/json_stream.h"

#include "libprof/base/json_build.h"

#include <string.h>

static json_t *in_list(struct seep_json_stream *stream, size_t i)
{
    struct seep_json_stream_of_list *values = (struct seep_json_stream_of_list *)stream;

    return json_incref(json_array_get(values->list, i));
}

void seep_json_stream_of_list(struct seep_json_stream_of_list *values, const json_t *list)
{
    *values = (struct seep_json_stream_of_list){{json_array_size(list), in_list}, list};
}

json_t *seep_json_stream_all(struct seep_json_stream *values)
{
    json_t *list = json_array();
    bool failed = !list;

    for (size_t i = 0; i < values->n && !failed; i++)
        seep_json_append(list, values->make(values, i), &failed);
    return seep_json_whole(list, failed);
}

/* ---- dumping ----------------------------------------------------------------------------- */

/* jansson indents a value as if it stood alone, so each of its lines is moved to the right. Line
 * feeds in texts are escaped: every other one ends a line. */
struct moved {
    json_dump_callback_t put;
    void *context;
    size_t depth;
    bool failed; /* `put` did */
};

static int put(struct moved *m, const char *bytes, size_t n)
{
    if (m->put(bytes, n, m->context) == 0)
        return 0;
    m->failed = true;
    return -SEEP_EIO;
}

static int put_text(struct moved *m, const char *text)
{
    return put(m, text, strlen(text));
}

/* jansson gives a line feed a piece of its own, and most pieces are a few bytes: to search each of
 * them would be a tenth of the report. */
static int put_moved(const char *bytes, size_t n, void *to)
{
    struct moved *m = to;

    return put(m, bytes, n) || (*bytes == '\n' && put(m, "  ", m->depth)) ? -1 : 0;
}

static int dump(const json_t *value, size_t depth, struct moved *m)
{
    m->depth = depth;
    if (json_dump_callback(value, put_moved, m, JSON_INDENT(1) | JSON_ENCODE_ANY) == 0)
        return 0;
    return m->failed ? -SEEP_EIO : -SEEP_ENOMEM;
}

static int dump_values(struct seep_json_stream *values, struct moved *m)
{
    int rc = put_text(m, "[");

    for (size_t i = 0; i < values->n && !rc; i++) {
        json_t *one = values->make(values, i);
        rc = one ? put_text(m, i ? ",\n  " : "\n  ") : -SEEP_ENOMEM;
        if (!rc)
            rc = dump(one, 2, m);
        json_decref(one);
    }
    return rc ? rc : put_text(m, values->n ? "\n ]" : "]");
}

int seep_json_stream_dump(const json_t *object, const char *key, struct seep_json_stream *values,
                          json_dump_callback_t put_bytes, void *context)
{
    struct moved m = {.put = put_bytes, .context = context};
    const char *name, *before = "{\n ";
    json_t *value;
    int rc = 0;

    json_object_foreach ((json_t *)object, name, value) {
        json_t *text = json_string(name);
        rc = text ? put_text(&m, before) : -SEEP_ENOMEM;
        if (!rc)
            rc = dump(text, 1, &m);
        json_decref(text);
        if (!rc)
            rc = put_text(&m, ": ");
        if (!rc)
            rc = strcmp(name, key) == 0 ? dump_values(values, &m) : dump(value, 1, &m);
        if (rc)
            return rc;
        before = ",\n ";
    }
    return put_text(&m, "\n}");
}
