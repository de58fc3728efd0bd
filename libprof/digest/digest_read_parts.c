#include "libprof/digest/digest_read_parts.h"

#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_names.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_words.h"
#include "libprof/words/space.h"

#include <stdlib.h>
#include <string.h>

void seep_digest_wrong(struct seep_digest_reader *r, const char *key)
{
    if (!r->wrong)
        r->wrong = key;
}

/* ---- values ------------------------------------------------------------------------------ */

uint64_t seep_digest_take_count(struct seep_digest_reader *r, const json_t *value, const char *key,
                                uint64_t most)
{
    const json_int_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < 0 || (uint64_t)n > most) {
        seep_digest_wrong(r, key);
        return 0;
    }
    return (uint64_t)n;
}

uint64_t seep_digest_get_count(struct seep_digest_reader *r, const json_t *object, const char *key,
                               uint64_t most)
{
    return seep_digest_take_count(r, json_object_get(object, key), key, most);
}

/* −1 for null. */
static int32_t get_number(struct seep_digest_reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_null(value) ? -1 : (int32_t)seep_digest_take_count(r, value, key, INT32_MAX);
}

uint32_t seep_digest_take_text(struct seep_digest_reader *r, const json_t *value, const char *key,
                               size_t bytes)
{
    const char *text = json_string_value(value);

    if (text)
        return seep_digest_clean_text(r->d, text, bytes);
    seep_digest_wrong(r, key);
    return 0;
}

uint8_t seep_digest_get_word(struct seep_digest_reader *r, const json_t *object, const char *key,
                             const char *const *list, size_t n)
{
    const int at = seep_digest_find(list, n, json_string_value(json_object_get(object, key)));

    if (at < 0)
        seep_digest_wrong(r, key);
    return at < 0 ? 0 : (uint8_t)at;
}

uint32_t seep_digest_get_measure(struct seep_digest_reader *r, const json_t *object,
                                 const char *key)
{
    const uint8_t measure =
        seep_digest_get_word(r, object, key, seep_digest_measures, SEEP_N_DIGEST_MEASURES);

    return seep_digest_text(r->d, seep_digest_measures[measure]);
}

const json_t *seep_digest_get_list(struct seep_digest_reader *r, const json_t *object,
                                   const char *key, size_t most)
{
    const json_t *list = json_object_get(object, key);

    if (json_is_array(list) && json_array_size(list) <= most)
        return list;
    seep_digest_wrong(r, key);
    return NULL;
}

struct seep_digest_who seep_digest_take_who(struct seep_digest_reader *r, const json_t *value,
                                            const char *key)
{
    if (!json_is_object(value))
        seep_digest_wrong(r, key);
    return (struct seep_digest_who){
        .value = seep_digest_get_count(r, value, "value", SEEP_DIGEST_MOST),
        .rank = get_number(r, value, "rank"),
        .local_rank = get_number(r, value, "local_rank"),
        .host =
            seep_digest_take_text(r, json_object_get(value, "host"), "host", SEEP_DIGEST_HOST_TEXT),
        .pid = (uint32_t)seep_digest_get_count(r, value, "pid", UINT32_MAX),
    };
}

/* ---- frames and stacks ------------------------------------------------------------------- */

static bool is_text_or_null(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_string(value) || json_is_null(value);
}

/* As compact JSON in one order of keys; 0 for null. */
static uint32_t take_object(struct seep_digest_reader *r, const json_t *value, const char *key,
                            size_t bytes)
{
    char *text = json_is_object(value) ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    uint32_t id = 0;

    if (json_is_object(value) && !text)
        r->d->failed = true;
    else if (!text || strlen(text) >= bytes)
        seep_digest_wrong(r, key);
    else
        id = seep_digest_text(r->d, text);
    free(text);
    return id;
}

static uint32_t take_frame(struct seep_digest_reader *r, const json_t *value)
{
    static const char *const kinds[] = {"python", "native"};
    const json_t *line = json_object_get(value, "line");

    (void)seep_digest_get_word(r, value, "kind", kinds, 2);
    if (!is_text_or_null(value, "function") || !is_text_or_null(value, "file") ||
        !(json_is_null(line) || (json_is_integer(line) && json_integer_value(line) > 0)))
        seep_digest_wrong(r, "frames");
    return take_object(r, value, "frames", SEEP_DIGEST_TEXT);
}

static uint32_t take_stack(struct seep_digest_reader *r, const json_t *value)
{
    const json_t *list = seep_digest_get_list(r, value, "frames", SEEP_DIGEST_DEPTH), *one;
    struct seep_digest_stack stack = {
        .part = seep_digest_get_word(r, value, "part", seep_digest_parts, SEEP_N_PARTS),
        .look_at = (int16_t)get_number(r, value, "look_at"),
        .n = (uint16_t)json_array_size(list)};
    uint32_t frames[SEEP_DIGEST_DEPTH] = {0};
    size_t i;

    if (stack.look_at < -1 || stack.look_at >= stack.n)
        seep_digest_wrong(r, "look_at");
    json_array_foreach (list, i, one) {
        uint64_t number = seep_digest_take_count(r, one, "frames", r->n_frames);
        if (number >= r->n_frames)
            seep_digest_wrong(r, "frames");
        else
            frames[i] = r->frames[number];
    }
    return r->wrong ? 0 : seep_digest_stack(r->d, &stack, frames);
}

void seep_digest_read_names(struct seep_digest_reader *r)
{
    const json_t *frames = seep_digest_get_list(r, r->json, "frames", SEEP_DIGEST_MAX_BYTES);
    const json_t *stacks = seep_digest_get_list(r, r->json, "stacks", SEEP_DIGEST_MAX_BYTES), *one;
    size_t i;

    r->frames = calloc(json_array_size(frames) + 1, sizeof *r->frames);
    r->stacks = calloc(json_array_size(stacks) + 1, sizeof *r->stacks);
    if (!r->frames || !r->stacks) {
        r->d->failed = true;
        return;
    }
    json_array_foreach (frames, i, one)
        r->frames[r->n_frames++] = r->wrong ? 0 : take_frame(r, one);
    json_array_foreach (stacks, i, one)
        r->stacks[r->n_stacks++] = r->wrong ? 0 : take_stack(r, one);
}

/* ---- rows -------------------------------------------------------------------------------- */

/* "exit 1", "signal 9", "running", "unknown". */
static bool is_end(const char *text)
{
    const size_t word = strcspn(text, " "),
                 digits = strspn(text + word + (text[word] != 0), "0123456789");

    if (strcmp(text, "running") == 0 || strcmp(text, "unknown") == 0)
        return true;
    return (strncmp(text, "exit ", 5) == 0 || strncmp(text, "signal ", 7) == 0) && digits >= 1 &&
           digits <= 3 && !text[word + 1 + digits];
}

static uint32_t subject_of(struct seep_digest_reader *r, enum seep_digest_kind kind,
                           const json_t *row)
{
    enum seep_pattern pattern;

    if (kind == SEEP_DIGEST_FINDINGS)
        return 0;
    if (kind == SEEP_DIGEST_PROCESSES)
        return seep_digest_get_measure(r, row, "of");
    const uint32_t text =
        seep_digest_take_text(r, json_object_get(row, "of"), "of", SEEP_SPACE_TEXT);
    const bool good = kind == SEEP_DIGEST_ENDS     ? is_end(r->d->texts[text])
                      : kind == SEEP_DIGEST_FOLDED ? seep_pattern_find(r->d->texts[text], &pattern)
                                                   : text != 0;
    if (!good)
        seep_digest_wrong(r, "of");
    return text;
}

static uint32_t about_of(struct seep_digest_reader *r, const json_t *row)
{
    const json_t *frame = json_object_get(row, "frame");
    const char *name = json_string_value(json_object_get(row, "pattern"));
    enum seep_pattern pattern = 0;
    struct seep_digest_about about = {
        .severity =
            seep_digest_get_word(r, row, "severity", seep_digest_severities, SEEP_N_SEVERITIES),
        .part = seep_digest_get_word(r, row, "part", seep_digest_parts, SEEP_N_PARTS),
        .space = seep_digest_take_text(r, json_object_get(row, "space"), "space", SEEP_SPACE_TEXT),
    };

    if (!name || !seep_pattern_find(name, &pattern))
        seep_digest_wrong(r, "pattern");
    about.pattern = (uint8_t)pattern;
    if (!json_is_null(frame)) {
        uint64_t number = seep_digest_take_count(r, frame, "frame", r->n_frames);
        if (number >= r->n_frames)
            seep_digest_wrong(r, "frame");
        else
            about.frame = r->frames[number];
    }
    return r->wrong ? 0 : seep_digest_about(r->d, &about);
}

static struct seep_digest_found found_of(struct seep_digest_reader *r, const json_t *row)
{
    const json_t *example = json_object_get(row, "example");

    return (struct seep_digest_found){
        .growth_sum =
            seep_digest_get_count(r, row, "growth_sum_millibytes_per_step", SEEP_DIGEST_MOST),
        .growth_most =
            seep_digest_get_count(r, row, "growth_most_millibytes_per_step", SEEP_DIGEST_MOST),
        .blocks = seep_digest_get_count(r, row, "blocks", SEEP_DIGEST_MOST),
        .first_step = seep_digest_get_count(r, row, "first_step", UINT32_MAX),
        .ranks = seep_digest_get_count(r, row, "ranks", SEEP_DIGEST_MOST),
        .least_rank = get_number(r, row, "least_rank"),
        .most_rank = get_number(r, row, "most_rank"),
        .least_host = seep_digest_take_text(r, json_object_get(row, "least_host"), "least_host",
                                            SEEP_DIGEST_HOST_TEXT),
        .most_host = seep_digest_take_text(r, json_object_get(row, "most_host"), "most_host",
                                           SEEP_DIGEST_HOST_TEXT),
        .example = take_object(r, example, "example", SEEP_DIGEST_EXAMPLE_TEXT),
    };
}

static uint32_t stack_of(struct seep_digest_reader *r, const json_t *row)
{
    const uint64_t number = seep_digest_get_count(r, row, "stack", r->n_stacks);

    if (number < r->n_stacks)
        return r->stacks[number];
    seep_digest_wrong(r, "stack");
    return 0;
}

static void read_course(struct seep_digest_reader *r, const json_t *row, uint64_t *course)
{
    const json_t *list = seep_digest_get_list(r, row, "course", SEEP_DIGEST_COURSE), *one;
    size_t i;

    json_array_foreach (list, i, one)
        course[i] = seep_digest_take_count(r, one, "course", (UINT64_C(1) << 53) - 1);
}

void seep_digest_read_row(struct seep_digest_reader *r, enum seep_digest_kind kind,
                          const json_t *row)
{
    struct seep_digest_row now = {.key.kind = (uint8_t)kind};
    struct seep_digest_found found = {0};

    if (r->wrong || r->d->failed)
        return;
    now.key.role =
        kind == SEEP_DIGEST_FOLDED
            ? seep_digest_get_word(r, row, "severity", seep_digest_severities, SEEP_N_SEVERITIES)
            : seep_digest_get_word(r, row, "role", seep_digest_roles, SEEP_N_DIGEST_ROLES);
    now.key.subject = subject_of(r, kind, row);
    now.n = seep_digest_get_count(r, row, "n", SEEP_DIGEST_MOST);
    now.sum = seep_digest_get_count(r, row, "sum", SEEP_DIGEST_MOST);
    now.max = seep_digest_take_who(r, json_object_get(row, "max"), "max");
    if (seep_digest_kinds[kind].has_buckets)
        now.key.bucket = (uint8_t)seep_digest_get_count(r, row, "bucket", SEEP_DIGEST_BUCKETS - 1);
    if (seep_digest_kinds[kind].has_course)
        read_course(r, row, now.course);
    if (kind == SEEP_DIGEST_SITES)
        now.key.about = stack_of(r, row);
    if (kind == SEEP_DIGEST_FINDINGS) {
        now.key.about = about_of(r, row);
        found = found_of(r, row);
        now.found = 1;
    }
    if (!now.n)
        seep_digest_wrong(r, "n");
    if (r->wrong || r->d->failed)
        return;
    now = seep_digest_level_row(r->d, &now);
    seep_digest_add_row(r->d, &now, now.found ? &found : NULL, r->d->step_shift);
}
