#include "libprof/words/findings/holder_advice.h"

#include <stddef.h>

static const struct {
    const char *type, *name, *advice;
} rows[] = {
#define SEEP_HOLDER_ADVICE(type, name, advice) {type, name, advice},
#include "libprof/words/findings/holder_advice.def"
#undef SEEP_HOLDER_ADVICE
};

const char *seep_holder_advice(const void *way, seep_holder_has_fn *has_type,
                               seep_holder_has_fn *has_name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if ((!rows[i].type || has_type(way, rows[i].type)) &&
            (!rows[i].name || has_name(way, rows[i].name)))
            return rows[i].advice;
    }
    return NULL;
}
