/* Python's pickle: the part of protocol 2 that plain dicts, lists, texts and integers need. */
#ifndef SEEP_LIBPROF_EXPORT_PICKLE_H
#define SEEP_LIBPROF_EXPORT_PICKLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Each writes one value. Between the begin and end of a dict, keys and values alternate; of a list,
 * items follow each other. */
void seep_pickle_begin(FILE *out);
void seep_pickle_end(FILE *out);

void seep_pickle_dict(FILE *out);
void seep_pickle_dict_end(FILE *out);
void seep_pickle_list(FILE *out);
void seep_pickle_list_more(FILE *out); /* ends a run of items and begins the next */
void seep_pickle_list_end(FILE *out);

void seep_pickle_text(FILE *out, const char *text); /* UTF-8, below 4 GiB */
void seep_pickle_int(FILE *out, int64_t n);
void seep_pickle_bool(FILE *out, bool b);
void seep_pickle_pair(FILE *out, int64_t a, int64_t b); /* a tuple */

/* A key and its value. */
void seep_pickle_item_text(FILE *out, const char *key, const char *text);
void seep_pickle_item_int(FILE *out, const char *key, int64_t n);

/* remember: numbers the value that was just begun or written; again: writes that value once
 * more. */
void seep_pickle_remember(FILE *out, uint32_t number);
void seep_pickle_again(FILE *out, uint32_t number);

#endif
