#include "libprof/export/texts.h"

#include "libprof/base/text.h"

#include <stdlib.h>
#include <string.h>

uint32_t seep_texts_number(struct seep_texts *texts, const char *text)
{
    const uint64_t hash = seep_hash_bytes(text, strlen(text));
    uint32_t id, at = seep_hash_begin(&texts->index, hash);

    while ((id = seep_hash_next(&texts->index, hash, &at)) != SEEP_HASH_NONE) {
        if (strcmp(texts->list[id], text) == 0)
            return id;
    }
    char *copy = texts->failed ? NULL : strdup(text);
    if (!copy || seep_grow(&texts->list, &texts->capacity, texts->n + 1, sizeof *texts->list) ||
        seep_hash_add(&texts->index, hash, (uint32_t)texts->n)) {
        free(copy);
        texts->failed = true;
        return 0;
    }
    texts->list[texts->n] = copy;
    return (uint32_t)texts->n++;
}

uint32_t seep_texts_pair(struct seep_texts *texts, const char *text, const char *with)
{
    char *pair = seep_text_format("%s\n%s", text, with);
    uint32_t id = 0;

    if (pair)
        id = seep_texts_number(texts, pair);
    else
        texts->failed = true;
    free(pair);
    return id;
}

void seep_texts_fini(struct seep_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free(texts->list[i]);
    free(texts->list);
    seep_hash_fini(&texts->index);
}
