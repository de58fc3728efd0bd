#include "libprof/page/page_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/json_build.h"
#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/python_file.h"

enum { OWN = 0, NATIVE = 1, LIBRARY = 3 /* 2: what the page makes up */ };

enum column { KIND, NAME, FILE_NAME, LINE, MODULE, SOURCE, N_COLUMNS };
static const char *const frame_columns[N_COLUMNS] = {"{\"kind\":[",    "],\"name\":[",
                                                     "],\"file\":[",   "],\"line\":[",
                                                     "],\"module\":[", "],\"source\":["};

static json_int_t value_of(const struct seep_page_frame *frame, enum column column)
{
    switch (column) {
    case KIND:
        return frame->is_native ? NATIVE : frame->is_library ? LIBRARY : OWN;
    case NAME:
        return frame->name;
    case FILE_NAME:
        return frame->file;
    case LINE:
        return frame->line;
    case MODULE:
        return frame->module;
    default:
        return frame->source;
    }
}

int seep_page_frames_write(const struct seep_page_frames *frames, json_dump_callback_t put,
                           void *context)
{
    char text[32];

    for (int column = 0; column < N_COLUMNS; column++) {
        if (put(frame_columns[column], strlen(frame_columns[column]), context))
            return -SEEP_EIO;
        for (size_t i = 0; i < frames->n; i++) {
            const int n = snprintf(text, sizeof text, "%s%" JSON_INTEGER_FORMAT, i ? "," : "",
                                   value_of(&frames->list[i], (enum column)column));
            if (put(text, (size_t)n, context))
                return -SEEP_EIO;
        }
    }
    return put("]}", 2, context) ? -SEEP_EIO : 0;
}

static struct seep_pairs nodes_of(const struct seep_page_stacks *stacks)
{
    return (struct seep_pairs){stacks->list, sizeof *stacks->list};
}

uint32_t seep_page_stacks_add(struct seep_page_stacks *stacks, uint32_t parent, uint32_t frame)
{
    uint32_t id = seep_pair_find(&stacks->index, nodes_of(stacks), parent, frame);

    if (id != SEEP_HASH_NONE)
        return id;
    id = (uint32_t)stacks->n;
    if (seep_grow(&stacks->list, &stacks->capacity, stacks->n + 1, sizeof *stacks->list))
        return SEEP_HASH_NONE;
    stacks->list[stacks->n++] = (struct seep_page_stack){parent, frame};
    return seep_pair_add(&stacks->index, nodes_of(stacks), id) ? SEEP_HASH_NONE : id;
}

void seep_page_stacks_fini(struct seep_page_stacks *stacks)
{
    free(stacks->list);
    seep_pair_fini(&stacks->index);
}

static int put_number(uint32_t number, bool first, json_dump_callback_t put, void *context)
{
    char text[24];
    const int n = snprintf(text, sizeof text, "%s%lld", first ? "" : ",",
                           number == SEEP_HASH_NONE ? -1 : (long long)number);

    return put(text, (size_t)n, context);
}

int seep_page_stacks_write(const struct seep_page_stacks *stacks, json_dump_callback_t put,
                           void *context)
{
    static const char *const names[] = {"{\"parent\":[", "],\"frame\":["};

    if (!stacks->n)
        return put("{}", 2, context) ? -SEEP_EIO : 0;
    for (int column = 0; column < 2; column++) {
        if (put(names[column], strlen(names[column]), context))
            return -SEEP_EIO;
        for (size_t i = 0; i < stacks->n; i++) {
            const struct seep_page_stack *its = &stacks->list[i];
            if (put_number(column ? its->frame : its->parent, !i, put, context))
                return -SEEP_EIO;
        }
    }
    return put("]}", 2, context) ? -SEEP_EIO : 0;
}

void seep_page_tables_fini(struct seep_page_tables *tables)
{
    free(tables->frames.list);
    seep_page_texts_fini(&tables->texts);
    seep_frames_fini(&tables->numbers);
    seep_page_stacks_fini(&tables->stacks);
}

/* Texts of a report are valid UTF-8: every byte that is not 10xxxxxx begins a character. */
static size_t cut_length(const char *text)
{
    size_t n = strnlen(text, SEEP_PAGE_TEXT_BYTES + 1);

    if (n <= SEEP_PAGE_TEXT_BYTES)
        return n;
    for (n = SEEP_PAGE_TEXT_BYTES; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

json_t *seep_page_cut(const char *text)
{
    const size_t n = cut_length(text);

    if (!text[n])
        return json_string(text);
    char *cut = seep_text_format("%.*s…", (int)n, text);
    json_t *json = cut ? json_string(cut) : NULL;
    free(cut);
    return json;
}

json_t *seep_page_copy(const json_t *value)
{
    json_t *made, *one;
    bool failed = false;
    size_t i;
    const char *key;

    if (json_is_string(value))
        return json_string_length(value) > SEEP_PAGE_TEXT_BYTES
                   ? seep_page_cut(json_string_value(value))
                   : json_incref((json_t *)value);
    if (json_is_array(value)) {
        made = json_array();
        json_array_foreach (value, i, one)
            seep_json_append(made, seep_page_copy(one), &failed);
        return seep_json_whole(made, failed);
    }
    if (!json_is_object(value))
        return json_deep_copy(value);
    made = json_object();
    json_object_foreach ((json_t *)value, key, one)
        seep_json_set(made, key, seep_page_copy(one), &failed);
    return seep_json_whole(made, failed);
}

void seep_page_add(json_t *columns, const char *name, json_t *value, bool *failed)
{
    json_t *column = json_object_get(columns, name);

    if (!column) {
        column = json_array();
        seep_json_set(columns, name, column, failed);
    }
    if (*failed)
        json_decref(value);
    else
        seep_json_append(column, value, failed);
}

json_t *seep_page_number(uint32_t id)
{
    return json_integer(id == SEEP_HASH_NONE ? -1 : (json_int_t)id);
}

/* Takes over the text; NULL: there was no memory for it. */
static json_int_t intern(struct seep_page_tables *tables, json_t *text)
{
    const uint32_t id = seep_page_texts_number(&tables->texts, text);

    tables->failed |= id == SEEP_HASH_NONE;
    json_decref(text);
    return id;
}

json_int_t seep_page_text(struct seep_page_tables *tables, const char *text)
{
    return !text || tables->failed ? -1 : intern(tables, seep_page_cut(text));
}

json_int_t seep_page_pids(struct seep_page_tables *tables, const json_t *pids)
{
    char *text = NULL;
    size_t n, i;
    const json_t *pid;

    if (!json_array_size(pids) || tables->failed)
        return -1;
    FILE *out = open_memstream(&text, &n);
    if (!out) {
        tables->failed = true;
        return -1;
    }
    json_array_foreach (pids, i, pid)
        fprintf(out, "%s%" JSON_INTEGER_FORMAT, i ? " " : "", json_integer_value(pid));
    json_t *list = fclose(out) ? NULL : json_string(text);
    free(text);
    return intern(tables, list);
}

static json_int_t name_of(struct seep_page_tables *tables, const json_t *frame)
{
    char *name = seep_get_frame_function(frame);
    const json_int_t id = seep_page_text(tables, name);

    tables->failed |= !name;
    free(name);
    return id;
}

static void add_frame(struct seep_page_tables *tables, const json_t *frame)
{
    struct seep_page_frames *frames = &tables->frames;
    const json_t *line = json_object_get(frame, "line");

    if (seep_grow(&frames->list, &frames->capacity, frames->n + 1, sizeof *frames->list)) {
        tables->failed = true;
        return;
    }
    struct seep_page_frame *its = &frames->list[frames->n++];
    its->is_native = strcmp(seep_get_text(frame, "kind", ""), "python") != 0;
    its->is_library =
        !its->is_native && seep_python_file_is_library(seep_get_text(frame, "file", ""));
    its->name = (int32_t)name_of(tables, frame);
    its->file = (int32_t)seep_page_text(tables, seep_get_text(frame, "file", NULL));
    its->line = json_is_integer(line) ? json_integer_value(line) : -1;
    its->module = (int32_t)seep_page_text(tables, seep_get_text(frame, "module", NULL));
    its->source = -1;
}

uint32_t seep_page_frame(struct seep_page_tables *tables, const json_t *frame)
{
    const size_t before = tables->numbers.n;

    if (!json_is_object(frame))
        return SEEP_HASH_NONE;
    tables->failed = tables->failed || seep_frames_add(&tables->numbers, frame);
    if (tables->failed)
        return SEEP_HASH_NONE;
    if (tables->numbers.n > before)
        add_frame(tables, frame);
    return seep_frames_number(&tables->numbers, frame);
}

uint32_t seep_page_stack(struct seep_page_tables *tables, const json_t *frames)
{
    uint32_t stack = SEEP_HASH_NONE;

    for (size_t i = json_array_size(frames); i-- > 0 && !tables->failed;) {
        const uint32_t frame = seep_page_frame(tables, json_array_get(frames, i));
        if (frame == SEEP_HASH_NONE)
            continue;
        stack = seep_page_stacks_add(&tables->stacks, stack, frame);
        tables->failed |= stack == SEEP_HASH_NONE;
    }
    return tables->failed ? SEEP_HASH_NONE : stack;
}
