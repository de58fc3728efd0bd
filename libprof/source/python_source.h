/* A Python file as statements, and the functions and classes that contain them. */
#ifndef SEEP_LIBPROF_SOURCE_PYTHON_SOURCE_H
#define SEEP_LIBPROF_SOURCE_PYTHON_SOURCE_H

#include "libprof/source/python_tokens.h"

enum seep_scope_kind { SEEP_SCOPE_MODULE, SEEP_SCOPE_CLASS, SEEP_SCOPE_FUNCTION };

struct seep_scope {
    enum seep_scope_kind kind;
    uint32_t parent;     /* scope; for the module itself, number 0 */
    uint32_t name;       /* token; none for the module */
    uint32_t header, to; /* tokens of "def f(a, b):", including its colon */
    uint32_t line, last; /* from its first decorator to its last statement */
    uint16_t indent;
};

/* A simple statement, or the header of a compound one. */
struct seep_statement {
    uint32_t first, n;   /* tokens, without the one that ends it; n > 0 */
    uint32_t line, last; /* lines */
    uint32_t scope;
    uint32_t made; /* the scope that this header, or decorator, defines; 0: none */
};

struct seep_python_source {
    struct seep_tokens tokens;
    struct seep_statement *list;
    size_t n, capacity;
    struct seep_scope *scopes;
    size_t n_scopes, scopes_capacity;
};

/* Reads text[0, n), which outlives *source. Returns what seep_tokens_read() does. Allocates:
 * *source; free with seep_python_source_fini(), also after an error. */
SEEP_MUST_CHECK int seep_python_source_read(struct seep_python_source *source, const char *text,
                                            size_t n);
void seep_python_source_fini(struct seep_python_source *source);

/* The innermost function that contains a line, or the module (0). */
uint32_t seep_python_function_at(const struct seep_python_source *source, uint64_t line);

/* The innermost class around a scope, itself included; 0: none. */
uint32_t seep_python_class_of(const struct seep_python_source *source, uint32_t scope);

/* Whether a scope is a function or class of that name: "fit", "Trainer.fit", "main.<locals>.fit".
 */
bool seep_python_scope_is(const struct seep_python_source *source, uint32_t scope,
                          const char *qualname);

/* "Trainer.fit", as CPython names it but without "<locals>"; "<module>". Returns `text`. */
const char *seep_python_scope_name(const struct seep_python_source *source, uint32_t scope,
                                   char *text, size_t capacity);

#endif
