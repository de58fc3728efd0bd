#include "libprof/who/survey/names.h"

#include <stdlib.h>
#include <string.h>

/* A library has some ten thousand names. Who makes up more of them sees some without a name. */
enum { MOST_NAMES = 1 << 19, MOST_BYTES = 16 << 20 };

void seep_names_fini(struct seep_names *names)
{
    free(names->list);
    free(names->texts);
    seep_hash_fini(&names->by_key);
    *names = (struct seep_names){0};
}

uint32_t seep_names_find(const struct seep_names *names, uint64_t key)
{
    const uint64_t hash = seep_hash_two(key, 0);
    uint32_t at = seep_hash_begin(&names->by_key, hash), id;

    while ((id = seep_hash_next(&names->by_key, hash, &at)) != SEEP_HASH_NONE)
        if (names->list[id].key == key)
            return id + 1;
    return 0;
}

static uint32_t add(struct seep_names *names, uint64_t key, uint32_t text)
{
    if (names->n >= MOST_NAMES ||
        seep_grow(&names->list, &names->capacity, names->n + 1, sizeof *names->list) ||
        seep_hash_add(&names->by_key, seep_hash_two(key, 0), (uint32_t)names->n))
        return 0;
    names->list[names->n++] = (struct seep_name){key, text};
    return (uint32_t)names->n;
}

/* Cut after a whole character. */
static size_t cut(const char *text)
{
    size_t n = strnlen(text, SEEP_NAMES_LONGEST);

    if (n < SEEP_NAMES_LONGEST)
        return n;
    for (n--; n && ((uint8_t)text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

uint32_t seep_names_add(struct seep_names *names, uint64_t key, const char *text)
{
    const size_t n = cut(text), at = names->n_bytes ? names->n_bytes : 1;

    if (at + n + 1 > MOST_BYTES ||
        seep_grow(&names->texts, &names->text_capacity, at + n + 1, sizeof *names->texts))
        return 0;
    names->texts[0] = '\0';
    memcpy(names->texts + at, text, n);
    names->texts[at + n] = '\0';
    const uint32_t number = add(names, key, n ? (uint32_t)at : 0);
    names->n_bytes = number && n ? at + n + 1 : at;
    return number;
}

uint32_t seep_names_add_same(struct seep_names *names, uint64_t key, uint32_t number)
{
    return number ? add(names, key, names->list[number - 1].at) : 0;
}

const char *seep_names_text(const struct seep_names *names, uint32_t number)
{
    return number && names->texts ? names->texts + names->list[number - 1].at : "";
}

uint64_t seep_names_key(const struct seep_names *names, uint32_t number)
{
    return number ? names->list[number - 1].key : 0;
}
