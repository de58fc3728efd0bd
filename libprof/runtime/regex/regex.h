/* POSIX extended regular expressions over bytes, compiled and matched using only the caller's
 * memory: libc's functions allocate, which code inside a job must not. Expressions mean the same as
 * libc's in the C locale, including \w, \W, \s and \S; no back-references, and no other letter
 * after a backslash. Threads: any, on an expression that is not being written. */
#ifndef SEEP_LIBPROF_RUNTIME_REGEX_REGEX_H
#define SEEP_LIBPROF_RUNTIME_REGEX_REGEX_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_REGEX_CODES = 512, SEEP_REGEX_SETS = 32 };

enum seep_regex_what {
    SEEP_REGEX_BYTE,  /* that is `first` */
    SEEP_REGEX_ANY,   /* byte */
    SEEP_REGEX_SET,   /* one of sets[first] */
    SEEP_REGEX_BEGIN, /* of the text */
    SEEP_REGEX_END,
    SEEP_REGEX_JUMP, /* go on `first` codes further */
    SEEP_REGEX_FORK, /* go on `first` and `second` codes further */
    SEEP_REGEX_MATCH,
};

struct seep_regex {
    uint16_t n_codes, n_sets;
    struct seep_regex_code {
        int16_t what, first, second;
    } codes[SEEP_REGEX_CODES];
    uint8_t sets[SEEP_REGEX_SETS][32]; /* a bit for each byte */
};

/* Returns NULL, or what is wrong with the text, which then matches nothing. */
const char *seep_regex_compile(struct seep_regex *regex, const char *text);

/* Whether some part of the text matches. Time: at most the text's bytes times the codes. */
bool seep_regex_matches(const struct seep_regex *regex, const char *text);

#endif
