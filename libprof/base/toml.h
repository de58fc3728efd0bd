/* TOML as JSON values. */
#ifndef SEEP_LIBPROF_BASE_TOML_H
#define SEEP_LIBPROF_BASE_TOML_H

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "libprof/base/error.h"

/* Parses text[0, n), a TOML document of any content. Tables become objects, arrays arrays; dates,
 * times, infinities and what is no number become strings.
 *   *value out, a new reference to an object
 * Returns 0; -SEEP_EINVAL when it is not TOML, with what is wrong and the line in *err, called
 * `name` there; -SEEP_ENOMEM. Threads: any. */
int seep_toml_parse(const char *name, const char *text, size_t n, json_t **value,
                    struct seep_error *err);

#ifdef __cplusplus
}
#endif

#endif
