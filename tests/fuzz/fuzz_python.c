/* Any bytes as a Python file: checks that statements lie within it, in order and in existing
 * scopes; then asks which of them store something in a name. */
#include "libprof/source/python_stores.h"

#include <stdlib.h>
#include <string.h>

static void check_places(const struct seep_python_source *s, size_t size)
{
    char name[64];

    for (size_t i = 0; i < s->n; i++) {
        const struct seep_statement *st = &s->list[i];
        const struct seep_token *last = &s->tokens.list[st->first + st->n - 1];
        if (!st->n || st->first + st->n >= s->tokens.n || last->at + last->n > size ||
            st->line > st->last || st->scope >= s->n_scopes || st->made >= s->n_scopes)
            abort();
        if (i && s->list[i - 1].first + s->list[i - 1].n > st->first)
            abort();
    }
    for (uint32_t i = 1; i < s->n_scopes; i++)
        if (s->scopes[i].parent >= i || strlen(seep_python_scope_name(s, i, name, 64)) >= 64 ||
            seep_python_scope_is(s, i, "") || seep_python_class_of(s, i) > i)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_python_source source;

    if (!seep_python_source_read(&source, (const char *)data, size)) {
        check_places(&source, size);
        for (int in = SEEP_KEPT_IN_LOCAL; in <= SEEP_KEPT_IN_CACHE; in++) {
            const struct seep_stores_asked asked = {(enum seep_kept_in)in, "a", "f"};
            struct seep_stores stores = {0};
            if (seep_python_stores_find(&source, &asked, &stores))
                abort();
            for (size_t i = 0; i < stores.n; i++) {
                char *text = seep_python_statement_text(&source, stores.list[i].statement, 20);
                if (stores.list[i].how == SEEP_STORES_NOTHING || !text || strlen(text) > 23)
                    abort();
                free(text);
            }
            seep_stores_fini(&stores);
        }
    }
    seep_python_source_fini(&source);
    return 0;
}
