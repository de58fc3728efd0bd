#include "libprof/words/holder_advice.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *words, *advice;
} rows[] = {
#define SEEP_HOLDER_ADVICE(words, advice) {words, advice},
#include "libprof/words/holder_advice.def"
#undef SEEP_HOLDER_ADVICE
};

static bool has_all(const char *way, const char *words)
{
    for (const char *at = words; *at;) {
        const size_t n = strcspn(at, "|");
        if (!memmem(way, strlen(way), at, n))
            return false;
        at += n + (at[n] == '|');
    }
    return true;
}

const char *seep_holder_advice(const char *way)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (has_all(way, rows[i].words))
            return rows[i].advice;
    }
    return NULL;
}
