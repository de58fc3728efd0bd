#include "libprof/who/merge/holders_check.h"

#include "libprof/base/text.h"

#include <stdlib.h>
#include <string.h>

uint64_t seep_take_count(struct seep_holders_check *c, const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);

    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (uint64_t)json_integer_value(value);
    c->wrong = true;
    return 0;
}

static bool is_missing(const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);

    return !value || json_is_null(value);
}

uint64_t seep_take_count_or(struct seep_holders_check *c, const json_t *from, const char *key,
                            uint64_t missing)
{
    return is_missing(from, key) ? missing : seep_take_count(c, from, key);
}

bool seep_take_bool(struct seep_holders_check *c, const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);

    if (!json_is_boolean(value))
        c->wrong = true;
    return json_is_true(value);
}

json_t *seep_take_text(struct seep_holders_check *c, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));

    if (!text) {
        c->wrong = true;
        return json_null();
    }
    size_t n = strlen(text);
    if (n > SEEP_HOLDERS_TEXT_BYTES) {
        n = SEEP_HOLDERS_TEXT_BYTES;
        while (n && ((unsigned char)text[n] & 0xc0) == 0x80) /* not within a character */
            n--;
    }
    char *clean = seep_text_clean(text, n);
    json_t *json = clean ? json_string(clean) : NULL;
    free(clean);
    c->failed = c->failed || !json;
    return json;
}

json_t *seep_take_text_or_null(struct seep_holders_check *c, const json_t *from, const char *key)
{
    return is_missing(from, key) ? json_null() : seep_take_text(c, from, key);
}

json_t *seep_take_word(struct seep_holders_check *c, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));
    size_t n = text ? strspn(text, "abcdefghijklmnopqrstuvwxyz-") : 0;

    if (!n || n > SEEP_HOLDERS_WORD_BYTES || text[n]) {
        c->wrong = true;
        return json_null();
    }
    json_t *json = json_string(text);
    c->failed = c->failed || !json;
    return json;
}
