#include "libprof/digest/digest_read.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprof/digest/digest.h"
#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_names.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_words.h"
#include "libprof/words/space.h"

/* What digest_read.c reads with. The first thing that is wrong is named in `wrong`; what is
 * returned after it means nothing. */

struct seep_digest_reader {
    struct seep_digest *d;
    const json_t *json;
    const char *wrong; /* the key; NULL: nothing so far */
    uint32_t *frames;  /* [n_frames] texts */
    size_t n_frames;
    uint32_t *stacks; /* [n_stacks] index + 1 */
    size_t n_stacks;
};

/* Notes that the value of a key, a literal, is wrong. */
static void digest_wrong(struct seep_digest_reader *r, const char *key)
{
    if (!r->wrong)
        r->wrong = key;
}

/* ---- values ------------------------------------------------------------------------------ */

static uint64_t digest_take_count(struct seep_digest_reader *r, const json_t *value,
                                  const char *key, uint64_t most)
{
    const json_int_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < 0 || (uint64_t)n > most) {
        digest_wrong(r, key);
        return 0;
    }
    return (uint64_t)n;
}

static uint64_t digest_get_count(struct seep_digest_reader *r, const json_t *object,
                                 const char *key, uint64_t most)
{
    return digest_take_count(r, json_object_get(object, key), key, most);
}

/* −1 for null. */
static int32_t get_number(struct seep_digest_reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_null(value) ? -1 : (int32_t)digest_take_count(r, value, key, INT32_MAX);
}

/* A text, cleaned, and cut to `bytes` with its NUL. */
static uint32_t digest_take_text(struct seep_digest_reader *r, const json_t *value, const char *key,
                                 size_t bytes)
{
    const char *text = json_string_value(value);

    if (text)
        return seep_digest_clean_text(r->d, text, bytes);
    digest_wrong(r, key);
    return 0;
}

/* The place of a word in list[n]. */
static uint8_t digest_get_word(struct seep_digest_reader *r, const json_t *object, const char *key,
                               const char *const *list, size_t n)
{
    const int at = seep_digest_find(list, n, json_string_value(json_object_get(object, key)));

    if (at < 0)
        digest_wrong(r, key);
    return at < 0 ? 0 : (uint8_t)at;
}

/* The text of a measure of processes. */
static uint32_t digest_get_measure(struct seep_digest_reader *r, const json_t *object,
                                   const char *key)
{
    const uint8_t measure =
        digest_get_word(r, object, key, seep_digest_measures, SEEP_N_DIGEST_MEASURES);

    return seep_digest_text(r->d, seep_digest_measures[measure]);
}

/* A list of at most `most`; NULL if it is none. */
static const json_t *digest_get_list(struct seep_digest_reader *r, const json_t *object,
                                     const char *key, size_t most)
{
    const json_t *list = json_object_get(object, key);

    if (json_is_array(list) && json_array_size(list) <= most)
        return list;
    digest_wrong(r, key);
    return NULL;
}

static struct seep_digest_who digest_take_who(struct seep_digest_reader *r, const json_t *value,
                                              const char *key)
{
    if (!json_is_object(value))
        digest_wrong(r, key);
    return (struct seep_digest_who){
        .value = digest_get_count(r, value, "value", SEEP_DIGEST_MOST),
        .rank = get_number(r, value, "rank"),
        .local_rank = get_number(r, value, "local_rank"),
        .host = digest_take_text(r, json_object_get(value, "host"), "host", SEEP_DIGEST_HOST_TEXT),
        .pid = (uint32_t)digest_get_count(r, value, "pid", UINT32_MAX),
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
        digest_wrong(r, key);
    else
        id = seep_digest_text(r->d, text);
    free(text);
    return id;
}

static uint32_t take_frame(struct seep_digest_reader *r, const json_t *value)
{
    static const char *const kinds[] = {"python", "native"};
    const json_t *line = json_object_get(value, "line");

    (void)digest_get_word(r, value, "kind", kinds, 2);
    if (!is_text_or_null(value, "function") || !is_text_or_null(value, "file") ||
        !(json_is_null(line) || (json_is_integer(line) && json_integer_value(line) > 0)))
        digest_wrong(r, "frames");
    return take_object(r, value, "frames", SEEP_DIGEST_TEXT);
}

static uint32_t take_stack(struct seep_digest_reader *r, const json_t *value)
{
    const json_t *list = digest_get_list(r, value, "frames", SEEP_DIGEST_DEPTH), *one;
    struct seep_digest_stack stack = {
        .part = digest_get_word(r, value, "part", seep_digest_parts, SEEP_N_PARTS),
        .look_at = (int16_t)get_number(r, value, "look_at"),
        .n = (uint16_t)json_array_size(list)};
    uint32_t frames[SEEP_DIGEST_DEPTH] = {0};
    size_t i;

    if (stack.look_at < -1 || stack.look_at >= stack.n)
        digest_wrong(r, "look_at");
    json_array_foreach (list, i, one) {
        uint64_t number = digest_take_count(r, one, "frames", r->n_frames);
        if (number >= r->n_frames)
            digest_wrong(r, "frames");
        else
            frames[i] = r->frames[number];
    }
    return r->wrong ? 0 : seep_digest_stack(r->d, &stack, frames);
}

/* Frames and stacks, which rows refer to. */
static void digest_read_names(struct seep_digest_reader *r)
{
    const json_t *frames = digest_get_list(r, r->json, "frames", SEEP_DIGEST_MAX_BYTES);
    const json_t *stacks = digest_get_list(r, r->json, "stacks", SEEP_DIGEST_MAX_BYTES), *one;
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
        return digest_get_measure(r, row, "of");
    const uint32_t text = digest_take_text(r, json_object_get(row, "of"), "of", SEEP_SPACE_TEXT);
    const bool good = kind == SEEP_DIGEST_ENDS     ? is_end(r->d->texts[text])
                      : kind == SEEP_DIGEST_FOLDED ? seep_pattern_find(r->d->texts[text], &pattern)
                                                   : text != 0;
    if (!good)
        digest_wrong(r, "of");
    return text;
}

static uint32_t about_of(struct seep_digest_reader *r, const json_t *row)
{
    const json_t *frame = json_object_get(row, "frame");
    const char *name = json_string_value(json_object_get(row, "pattern"));
    enum seep_pattern pattern = 0;
    struct seep_digest_about about = {
        .severity = digest_get_word(r, row, "severity", seep_digest_severities, SEEP_N_SEVERITIES),
        .part = digest_get_word(r, row, "part", seep_digest_parts, SEEP_N_PARTS),
        .space = digest_take_text(r, json_object_get(row, "space"), "space", SEEP_SPACE_TEXT),
    };

    if (!name || !seep_pattern_find(name, &pattern))
        digest_wrong(r, "pattern");
    about.pattern = (uint8_t)pattern;
    if (!json_is_null(frame)) {
        uint64_t number = digest_take_count(r, frame, "frame", r->n_frames);
        if (number >= r->n_frames)
            digest_wrong(r, "frame");
        else
            about.frame = r->frames[number];
    }
    return r->wrong ? 0 : seep_digest_about(r->d, &about);
}

static struct seep_digest_found found_of(struct seep_digest_reader *r, const json_t *row)
{
    const json_t *example = json_object_get(row, "example");

    return (struct seep_digest_found){
        .growth_sum = digest_get_count(r, row, "growth_sum_millibytes_per_step", SEEP_DIGEST_MOST),
        .growth_most =
            digest_get_count(r, row, "growth_most_millibytes_per_step", SEEP_DIGEST_MOST),
        .blocks = digest_get_count(r, row, "blocks", SEEP_DIGEST_MOST),
        .first_step = digest_get_count(r, row, "first_step", UINT32_MAX),
        .ranks = digest_get_count(r, row, "ranks", SEEP_DIGEST_MOST),
        .least_rank = get_number(r, row, "least_rank"),
        .most_rank = get_number(r, row, "most_rank"),
        .least_host = digest_take_text(r, json_object_get(row, "least_host"), "least_host",
                                       SEEP_DIGEST_HOST_TEXT),
        .most_host = digest_take_text(r, json_object_get(row, "most_host"), "most_host",
                                      SEEP_DIGEST_HOST_TEXT),
        .example = take_object(r, example, "example", SEEP_DIGEST_EXAMPLE_TEXT),
    };
}

static uint32_t stack_of(struct seep_digest_reader *r, const json_t *row)
{
    const uint64_t number = digest_get_count(r, row, "stack", r->n_stacks);

    if (number < r->n_stacks)
        return r->stacks[number];
    digest_wrong(r, "stack");
    return 0;
}

static void read_course(struct seep_digest_reader *r, const json_t *row, uint64_t *course)
{
    const json_t *list = digest_get_list(r, row, "course", SEEP_DIGEST_COURSE), *one;
    size_t i;

    json_array_foreach (list, i, one)
        course[i] = digest_take_count(r, one, "course", (UINT64_C(1) << 53) - 1);
}

static void digest_read_row(struct seep_digest_reader *r, enum seep_digest_kind kind,
                            const json_t *row)
{
    struct seep_digest_row now = {.key.kind = (uint8_t)kind};
    struct seep_digest_found found = {0};

    if (r->wrong || r->d->failed)
        return;
    now.key.role =
        kind == SEEP_DIGEST_FOLDED
            ? digest_get_word(r, row, "severity", seep_digest_severities, SEEP_N_SEVERITIES)
            : digest_get_word(r, row, "role", seep_digest_roles, SEEP_N_DIGEST_ROLES);
    now.key.subject = subject_of(r, kind, row);
    now.n = digest_get_count(r, row, "n", SEEP_DIGEST_MOST);
    now.sum = digest_get_count(r, row, "sum", SEEP_DIGEST_MOST);
    now.max = digest_take_who(r, json_object_get(row, "max"), "max");
    if (seep_digest_kinds[kind].has_buckets)
        now.key.bucket = (uint8_t)digest_get_count(r, row, "bucket", SEEP_DIGEST_BUCKETS - 1);
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
        digest_wrong(r, "n");
    if (r->wrong || r->d->failed)
        return;
    now = seep_digest_level_row(r->d, &now);
    seep_digest_add_row(r->d, &now, now.found ? &found : NULL, r->d->step_shift);
}

/* ---- single things ----------------------------------------------------------------------- */

static void read_levels(struct seep_digest_reader *r)
{
    const json_t *levels = json_object_get(r->json, "levels");
    struct seep_digest *d = r->d;

    d->site_level = (uint32_t)digest_get_count(r, levels, "sites", SEEP_DIGEST_BUCKETS);
    d->finding_level =
        (uint32_t)digest_get_count(r, levels, "findings", SEEP_N_SEVERITIES * SEEP_DIGEST_BUCKETS);
    d->space_level = (uint32_t)digest_get_count(r, levels, "spaces", 2);
    d->step_shift = (uint32_t)digest_get_count(r, levels, "step_shift", 32);
    d->node_shift = (uint32_t)digest_get_count(r, levels, "node_shift", 32);
}

static void read_numbers(struct seep_digest_reader *r)
{
    const json_t *numbers = json_object_get(r->json, "numbers");

    for (int i = 0; i < SEEP_N_DIGEST_NUMBERS; i++)
        r->d->numbers[i] = digest_get_count(r, numbers, seep_digest_numbers[i], SEEP_DIGEST_MOST);
}

static void read_ranks(struct seep_digest_reader *r)
{
    const json_t *json = json_object_get(r->json, "ranks");
    const char *text = json_string_value(json);
    const size_t n = text ? json_string_length(json) : 0;

    if (!text || n > SEEP_DIGEST_RANKS / 4 || strspn(text, "0123456789abcdef") != n) {
        digest_wrong(r, "ranks");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const unsigned four = (unsigned)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
        r->d->ranks[i / 2] |= (uint8_t)(four << i % 2 * 4);
    }
}

static void read_set(struct seep_digest_reader *r, const char *key, struct seep_digest_set *set,
                     size_t most, size_t text_bytes)
{
    const json_t *list = digest_get_list(r, r->json, key, most), *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const uint32_t text = digest_take_text(r, one, key, text_bytes);
        if (!r->wrong && !r->d->failed)
            seep_digest_add_text(r->d, set, text, most);
    }
}

static void read_sources(struct seep_digest_reader *r)
{
    const json_t *list = digest_get_list(r, r->json, "sources", SEEP_DIGEST_SOURCES), *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const uint64_t number = digest_take_count(r, one, "sources", SEEP_DIGEST_MOST);
        if (!r->wrong && !r->d->failed)
            seep_digest_add_number(r->d, &r->d->sources, number, SEEP_DIGEST_SOURCES);
    }
}

static void read_top(struct seep_digest_reader *r, const json_t *json)
{
    const uint8_t role = digest_get_word(r, json, "role", seep_digest_roles, SEEP_N_DIGEST_ROLES);
    static const char *const ends[] = {"most", "least"};
    const bool low = digest_get_word(r, json, "end", ends, 2);
    const uint32_t of = digest_get_measure(r, json, "of");
    const json_t *list = digest_get_list(r, json, "processes", SEEP_DIGEST_TOPS), *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const struct seep_digest_who who = digest_take_who(r, one, "processes");
        if (!r->wrong && !r->d->failed)
            seep_digest_add_top(r->d, role, of, low, &who);
    }
}

static void read_cell(struct seep_digest_reader *r, const json_t *json)
{
    enum { COLUMNS = 3 + 2 * SEEP_N_DIGEST_MEASURES };
    uint64_t values[COLUMNS];
    struct seep_digest_cell cell;

    if (json_array_size(json) != COLUMNS) {
        digest_wrong(r, "cells");
        return;
    }
    for (size_t i = 0; i < COLUMNS; i++)
        values[i] = digest_take_count(r, json_array_get(json, i), "cells",
                                      i < 2 ? UINT32_MAX : SEEP_DIGEST_MOST);
    cell = (struct seep_digest_cell){
        .node = (uint32_t)values[0], .local_rank = (uint32_t)values[1], .n = values[2]};
    for (size_t i = 0; i < SEEP_N_DIGEST_MEASURES; i++) {
        cell.sum[i] = values[3 + 2 * i];
        cell.most[i] = values[4 + 2 * i];
    }
    if (!r->wrong)
        seep_digest_add_cell(r->d, &cell);
}

/* ---- as a whole -------------------------------------------------------------------------- */

static void read_tables(struct seep_digest_reader *r)
{
    const json_t *list, *one;
    size_t i;

    digest_read_names(r);
    for (int kind = 0; kind < SEEP_N_DIGEST_KINDS && !r->wrong; kind++) {
        list = digest_get_list(r, r->json, seep_digest_kinds[kind].name, SIZE_MAX);
        json_array_foreach (list, i, one)
            digest_read_row(r, (enum seep_digest_kind)kind, one);
    }
    list = digest_get_list(r, r->json, "tops", SEEP_N_DIGEST_ROLES * SEEP_N_DIGEST_MEASURES * 2);
    json_array_foreach (list, i, one)
        read_top(r, one);
    list = digest_get_list(r, r->json, "cells", SEEP_DIGEST_MAX_CELLS);
    json_array_foreach (list, i, one)
        read_cell(r, one);
}

static void read_all(struct seep_digest_reader *r)
{
    struct seep_digest *d = r->d;

    read_levels(r);
    if (!r->wrong)
        read_numbers(r);
    if (!r->wrong)
        read_ranks(r);
    if (!r->wrong)
        read_set(r, "hosts", &d->hosts, SEEP_DIGEST_HOSTS, SEEP_DIGEST_HOST_TEXT);
    read_set(r, "seep", &d->versions, SEEP_DIGEST_FEW, SEEP_DIGEST_HOST_TEXT);
    read_set(r, "commands", &d->commands, SEEP_DIGEST_FEW, SEEP_DIGEST_TEXT / 4);
    read_set(r, "cwds", &d->cwds, SEEP_DIGEST_FEW, SEEP_DIGEST_TEXT / 4);
    read_set(r, "job_ids", &d->job_ids, SEEP_DIGEST_FEW, SEEP_DIGEST_HOST_TEXT);
    read_set(r, "step_sources", &d->step_sources, SEEP_DIGEST_FEW, SEEP_DIGEST_HOST_TEXT);
    if (!r->wrong)
        read_sources(r);
    if (!r->wrong)
        read_tables(r);
    free(r->frames);
    free(r->stacks);
    if (!r->wrong && !d->failed)
        seep_digest_fit(d);
}

/* Returns 0 if it is a digest of a version that is known. */
static int check_kind(const json_t *json, const char *name, struct seep_error *err)
{
    const char *format = json_string_value(json_object_get(json, "format"));
    const json_t *version = json_object_get(json, "version");

    if (!format || strcmp(format, "seep-digest") != 0)
        return seep_error_set(err, SEEP_EFORMAT, name, 0,
                              "is not a digest: make one with `seep digest DIR`");
    if (!json_is_integer(version) || json_integer_value(version) != SEEP_DIGEST_VERSION)
        return seep_error_set(err, SEEP_EVERSION, name, 0,
                              "is a digest of another version than %d: use the seep that made it",
                              SEEP_DIGEST_VERSION);
    return 0;
}

int seep_digest_from_bytes(struct seep_digest *d, const char *bytes, size_t n, const char *name,
                           struct seep_error *err)
{
    json_error_t why;
    json_t *json = n <= SEEP_DIGEST_MAX_BYTES ? json_loadb(bytes, n, 0, &why) : NULL;

    if (!json)
        return seep_error_set(err, SEEP_EFORMAT, name, 0,
                              n > SEEP_DIGEST_MAX_BYTES ? "is too large for a digest"
                                                        : "is cut short, or is no digest");
    int rc = check_kind(json, name, err);
    if (rc) {
        json_decref(json);
        return rc;
    }
    struct seep_digest_reader r = {.d = d, .json = json};
    rc = seep_digest_init(d);
    if (!rc)
        read_all(&r);
    if (!rc && r.wrong)
        rc = seep_error_set(err, SEEP_EFORMAT, name, 0, "is a damaged digest (%s)", r.wrong);
    else if (rc || d->failed)
        rc = seep_error_set(err, SEEP_ENOMEM, name, 0, "no memory: free some");
    if (rc)
        seep_digest_fini(d);
    json_decref(json);
    return rc;
}

/* ---- files ------------------------------------------------------------------------------- */

/* Reads at most `most` bytes of a regular file. Returns how many, or a negative errno. */
static ssize_t read_file(const char *path, char *to, size_t most)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    size_t n = 0;
    ssize_t got = 1;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return -EINVAL;
    }
    while (n < most && (got = read(fd, to + n, most - n)) > 0)
        n += (size_t)got;
    int error = got < 0 ? errno : 0;
    close(fd);
    return error ? -error : (ssize_t)n;
}

int seep_digest_read(struct seep_digest *d, const char *path, struct seep_error *err)
{
    char *bytes = malloc(SEEP_DIGEST_MAX_BYTES + 1);

    if (!bytes)
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory: free some");
    ssize_t n = read_file(path, bytes, SEEP_DIGEST_MAX_BYTES + 1);
    int rc = n < 0
                 ? seep_error_set(err, SEEP_EIO, path, 0, "cannot be read (%s)", strerror((int)-n))
                 : seep_digest_from_bytes(d, bytes, (size_t)n, path, err);
    free(bytes);
    return rc;
}

bool seep_digest_is_at(const char *path)
{
    static const char begin[] = "{\"format\":\"seep-digest\"";
    char bytes[sizeof begin - 1];

    return read_file(path, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
           memcmp(bytes, begin, sizeof bytes) == 0;
}
