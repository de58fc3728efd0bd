#include "libprof/page/page_texts.h"

#include "libprof/page/page_columns.h"

#include <stdlib.h>
#include <string.h>

static int append(const char *bytes, size_t n, void *to)
{
    struct seep_page_texts *texts = to;

    if (seep_grow(&texts->json, &texts->json_capacity, texts->n_bytes + n, 1))
        return -1;
    memcpy(texts->json + texts->n_bytes, bytes, n);
    texts->n_bytes += n;
    return 0;
}

static size_t begin_of(const struct seep_page_texts *texts, size_t number)
{
    return number ? texts->ends[number - 1] : 0;
}

static bool is(const struct seep_page_texts *texts, uint32_t number, const char *json, size_t n)
{
    const size_t begin = begin_of(texts, number);

    return texts->ends[number] - begin == n && memcmp(texts->json + begin, json, n) == 0;
}

/* The number of what was appended last; SEEP_HASH_NONE without memory. */
static uint32_t number_last(struct seep_page_texts *texts)
{
    const size_t begin = begin_of(texts, texts->n), n = texts->n_bytes - begin;
    const uint64_t hash = seep_hash_bytes(texts->json + begin, n);
    uint32_t at = seep_hash_begin(&texts->index, hash), id;

    while ((id = seep_hash_next(&texts->index, hash, &at)) != SEEP_HASH_NONE) {
        if (is(texts, id, texts->json + begin, n)) {
            texts->n_bytes = begin;
            return id;
        }
    }
    if (seep_grow(&texts->ends, &texts->ends_capacity, texts->n + 1, sizeof *texts->ends) ||
        seep_hash_add(&texts->index, hash, (uint32_t)texts->n))
        return SEEP_HASH_NONE;
    texts->ends[texts->n] = texts->n_bytes;
    return (uint32_t)texts->n++;
}

uint32_t seep_page_texts_number(struct seep_page_texts *texts, const json_t *text)
{
    if (!json_is_string(text) || json_dump_callback(text, append, texts, SEEP_PAGE_JSON) ||
        append(",", 1, texts))
        return SEEP_HASH_NONE;
    return number_last(texts);
}

json_t *seep_page_texts_at(const struct seep_page_texts *texts, json_int_t number)
{
    if (number < 0 || (size_t)number >= texts->n)
        return NULL;
    const size_t begin = begin_of(texts, (size_t)number);
    return json_loadb(texts->json + begin, texts->ends[number] - 1 - begin, JSON_DECODE_ANY, NULL);
}

int seep_page_texts_write(const struct seep_page_texts *texts, json_dump_callback_t put,
                          void *context)
{
    const bool any = texts->n_bytes;

    return put("[", 1, context) || (any && put(texts->json, texts->n_bytes - 1, context)) ||
                   put("]", 1, context)
               ? -SEEP_EIO
               : 0;
}

void seep_page_texts_fini(struct seep_page_texts *texts)
{
    free(texts->json);
    free(texts->ends);
    seep_hash_fini(&texts->index);
    *texts = (struct seep_page_texts){0};
}
