/* Digests read back, whole and damaged. */
#include "tests/digest/digest_fixture.h"

static char *good;

static void setup(void)
{
    struct seep_digest d;

    dice = 3;
    ck_assert_int_eq(seep_digest_init(&d), 0);
    for (int i = 0; i < 3; i++) {
        add_site(&d, i, i, 1u << (10 + i));
        add_finding(&d, i, i, 1u << (10 + i));
        add_space(&d, "host", i, 1u << 20);
        add_process(&d, i, 1u << 20);
    }
    seep_digest_add_text(&d, &d.commands, seep_digest_text(&d, "python train.py"), SEEP_DIGEST_FEW);
    seep_digest_fit(&d);
    good = bytes_of(&d);
    seep_digest_fini(&d);
}

static void teardown(void)
{
    free(good);
}

static int read_bytes(const char *bytes, size_t n, struct seep_error *err)
{
    struct seep_digest d;

    *err = (struct seep_error){0};
    int rc = seep_digest_from_bytes(&d, bytes, n, "it", err);
    if (!rc)
        seep_digest_fini(&d);
    return rc;
}

static int read_json(json_t *json, struct seep_error *err)
{
    char *bytes = json_dumps(json, JSON_COMPACT);
    int rc = read_bytes(bytes, strlen(bytes), err);

    free(bytes);
    json_decref(json);
    return rc;
}

static json_t *good_json(void)
{
    json_t *json = json_loads(good, 0, NULL);

    ck_assert_ptr_nonnull(json);
    return json;
}

TEST(one_that_is_cut_short_anywhere_is_an_error)
{
    struct seep_error err;

    for (size_t n = 0; n + 1 < strlen(good); n += 7)
        ck_assert_int_eq(read_bytes(good, n, &err), -SEEP_EFORMAT);
}

TEST(another_version_is_told)
{
    struct seep_error err;
    json_t *json = good_json();

    json_object_set_new(json, "version", json_integer(SEEP_DIGEST_VERSION + 1));
    ck_assert_int_eq(read_json(json, &err), -SEEP_EVERSION);
    ck_assert(strstr(err.text, "another version"));
}

TEST(every_key_is_needed)
{
    struct seep_error err;
    json_t *json = good_json(), *value;
    const char *key;

    json_object_foreach (json, key, value) {
        json_t *copy = json_deep_copy(json);
        json_object_del(copy, key);
        ck_assert_msg(read_json(copy, &err) ==
                          -(strcmp(key, "version") ? SEEP_EFORMAT : SEEP_EVERSION),
                      "%s", key);
    }
    json_decref(json);
}

/* Every value anywhere is replaced by some that it cannot be. */
static void spoil(json_t *all, json_t *at, json_t *parent, const char *key, size_t index)
{
    json_t *const bad[] = {json_integer(-1), json_real(0.5), json_true(), json_object(),
                           json_string("\xc3\xa9\x01")};
    struct seep_error err;

    for (size_t i = 0; i < N(bad); i++) {
        json_incref(at);
        if (key)
            json_object_set(parent, key, bad[i]);
        else
            json_array_set(parent, index, bad[i]);
        (void)read_json(json_incref(all), &err); /* no crash, no leak; some are fine */
        if (key)
            json_object_set_new(parent, key, at);
        else
            json_array_set_new(parent, index, at);
        json_decref(bad[i]);
    }
}

static void spoil_all(json_t *all, json_t *at)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_array(at))
        for (i = 0; i < json_array_size(at) && i < 3; i++) {
            spoil(all, json_array_get(at, i), at, NULL, i);
            spoil_all(all, json_array_get(at, i));
        }
    json_object_foreach (at, key, value) {
        spoil(all, value, at, key, 0);
        spoil_all(all, json_object_get(at, key));
    }
}

TEST(no_damage_is_read_as_something_else)
{
    json_t *json = good_json();

    spoil_all(json, json);
    char *again = json_dumps(json, JSON_COMPACT);
    ck_assert_str_eq(again, good);
    free(again);
    json_decref(json);
}

TEST(references_to_nothing_are_errors)
{
    static const struct {
        const char *table, *key;
    } references[] = {{"sites", "stack"}, {"findings", "frame"}};
    struct seep_error err;

    for (size_t i = 0; i < N(references); i++) {
        json_t *json = good_json();
        json_object_set_new(json_array_get(json_object_get(json, references[i].table), 0),
                            references[i].key, json_integer(1000000));
        ck_assert_int_eq(read_json(json, &err), -SEEP_EFORMAT);
        ck_assert_ptr_nonnull(strstr(err.text, references[i].key));
    }
}

TEST(texts_are_made_harmless)
{
    struct seep_digest d;
    struct seep_error err = {0};
    json_t *json = good_json();

    json_array_set_new(json_object_get(json, "hosts"), 0, json_string("a\x1b[\"31m"));
    char *bytes = json_dumps(json, JSON_COMPACT);
    ck_assert_int_eq(seep_digest_from_bytes(&d, bytes, strlen(bytes), "it", &err), 0);
    ck_assert_str_eq(d.texts[d.hosts.list[0]], "a?[?31m");
    seep_digest_fini(&d);
    free(bytes);
    json_decref(json);
}

TEST(a_file_that_is_too_large_or_none_is_refused)
{
    struct seep_digest d;
    struct seep_error err = {0};

    ck_assert_int_eq(seep_digest_read(&d, "/dev/zero", &err), -SEEP_EIO);
    err.text[0] = '\0';
    ck_assert_int_eq(seep_digest_read(&d, "/nonexistent", &err), -SEEP_EIO);
    char *bytes = calloc(SEEP_DIGEST_MAX_BYTES + 2, 1);
    ck_assert_int_eq(read_bytes(bytes, SEEP_DIGEST_MAX_BYTES + 1, &err), -SEEP_EFORMAT);
    free(bytes);
}

SUITE("reading digests", .setup = setup, .teardown = teardown, .timeout_s = 120)
