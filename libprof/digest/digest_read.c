#include "libprof/digest/digest_read.h"

#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_read_parts.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- single things ----------------------------------------------------------------------- */

static void read_levels(struct seep_digest_reader *r)
{
    const json_t *levels = json_object_get(r->json, "levels");
    struct seep_digest *d = r->d;

    d->site_level = (uint32_t)seep_digest_get_count(r, levels, "sites", SEEP_DIGEST_BUCKETS);
    d->finding_level = (uint32_t)seep_digest_get_count(r, levels, "findings",
                                                       SEEP_N_SEVERITIES * SEEP_DIGEST_BUCKETS);
    d->space_level = (uint32_t)seep_digest_get_count(r, levels, "spaces", 2);
    d->step_shift = (uint32_t)seep_digest_get_count(r, levels, "step_shift", 32);
    d->node_shift = (uint32_t)seep_digest_get_count(r, levels, "node_shift", 32);
}

static void read_numbers(struct seep_digest_reader *r)
{
    const json_t *numbers = json_object_get(r->json, "numbers");

    for (int i = 0; i < SEEP_N_DIGEST_NUMBERS; i++)
        r->d->numbers[i] =
            seep_digest_get_count(r, numbers, seep_digest_numbers[i], SEEP_DIGEST_MOST);
}

static void read_ranks(struct seep_digest_reader *r)
{
    const json_t *json = json_object_get(r->json, "ranks");
    const char *text = json_string_value(json);
    const size_t n = text ? json_string_length(json) : 0;

    if (!text || n > SEEP_DIGEST_RANKS / 4 || strspn(text, "0123456789abcdef") != n) {
        seep_digest_wrong(r, "ranks");
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
    const json_t *list = seep_digest_get_list(r, r->json, key, most), *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const uint32_t text = seep_digest_take_text(r, one, key, text_bytes);
        if (!r->wrong && !r->d->failed)
            seep_digest_add_text(r->d, set, text, most);
    }
}

static void read_sources(struct seep_digest_reader *r)
{
    const json_t *list = seep_digest_get_list(r, r->json, "sources", SEEP_DIGEST_SOURCES), *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const uint64_t number = seep_digest_take_count(r, one, "sources", SEEP_DIGEST_MOST);
        if (!r->wrong && !r->d->failed)
            seep_digest_add_number(r->d, &r->d->sources, number, SEEP_DIGEST_SOURCES);
    }
}

static void read_top(struct seep_digest_reader *r, const json_t *json)
{
    const uint8_t role =
        seep_digest_get_word(r, json, "role", seep_digest_roles, SEEP_N_DIGEST_ROLES);
    static const char *const ends[] = {"most", "least"};
    const bool low = seep_digest_get_word(r, json, "end", ends, 2);
    const uint32_t of = seep_digest_get_measure(r, json, "of");
    const json_t *list = seep_digest_get_list(r, json, "processes", SEEP_DIGEST_TOPS), *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const struct seep_digest_who who = seep_digest_take_who(r, one, "processes");
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
        seep_digest_wrong(r, "cells");
        return;
    }
    for (size_t i = 0; i < COLUMNS; i++)
        values[i] = seep_digest_take_count(r, json_array_get(json, i), "cells",
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

    seep_digest_read_names(r);
    for (int kind = 0; kind < SEEP_N_DIGEST_KINDS && !r->wrong; kind++) {
        list = seep_digest_get_list(r, r->json, seep_digest_kinds[kind].name, SIZE_MAX);
        json_array_foreach (list, i, one)
            seep_digest_read_row(r, (enum seep_digest_kind)kind, one);
    }
    list =
        seep_digest_get_list(r, r->json, "tops", SEEP_N_DIGEST_ROLES * SEEP_N_DIGEST_MEASURES * 2);
    json_array_foreach (list, i, one)
        read_top(r, one);
    list = seep_digest_get_list(r, r->json, "cells", SEEP_DIGEST_MAX_CELLS);
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
