/* A Python file as tokens: names, numbers, strings, operators, and the end of each statement's
 * line. Implements as much of Python's lexer as is needed to find names in code but not in strings
 * or comments; uses no interpreter, and the file may contain anything. */
#ifndef SEEP_LIBPROF_SOURCE_PYTHON_TOKENS_H
#define SEEP_LIBPROF_SOURCE_PYTHON_TOKENS_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEP_SOURCE_MAX_BYTES = 2 << 20 };

enum seep_token_kind {
    SEEP_TOKEN_NAME, /* keywords, too */
    SEEP_TOKEN_NUMBER,
    SEEP_TOKEN_STRING,
    SEEP_TOKEN_OPERATOR,
    SEEP_TOKEN_END, /* of a logical line; empty ones have none */
};

struct seep_token {
    uint32_t at, n;      /* bytes of the text */
    uint32_t line, last; /* the lines where it begins and ends, from 1 on */
    uint16_t depth;      /* of brackets around it; for a bracket, of those outside it */
    uint16_t indent;     /* columns before its logical line */
    uint8_t kind;        /* enum seep_token_kind */
};

struct seep_tokens {
    const char *text; /* the caller's */
    struct seep_token *list;
    size_t n, capacity;
};

/* Reads text[0, n), which outlives *tokens. The last token is an END. Returns 0; -SEEP_EFORMAT if
 * no Python would accept it: larger than SEEP_SOURCE_MAX_BYTES, a NUL, an unterminated string or
 * bracket, or too many brackets; -SEEP_ENOMEM. Allocates: *tokens; free with seep_tokens_fini(),
 * also after an error. */
SEEP_MUST_CHECK int seep_tokens_read(struct seep_tokens *tokens, const char *text, size_t n);
void seep_tokens_fini(struct seep_tokens *tokens);

/* Whether token `i` exists and reads so. */
bool seep_token_is(const struct seep_tokens *tokens, size_t i, const char *word);

#endif
