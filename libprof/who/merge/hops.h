/* What is on a way to kept memory, as a snapshot tells it: {"root": …, "hops": […]}. What rules go
 * by: the printed way is for people. All pure. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOPS_H
#define SEEP_LIBPROF_WHO_MERGE_HOPS_H

#include <jansson.h>
#include <stdbool.h>

/* A field that is a text; "" where it is none. Borrowed. */
const char *seep_hops_said(const json_t *object, const char *key);

bool seep_hop_is(const json_t *hop, const char *kind);
bool seep_hops_root_is(const json_t *path, const char *kind);

/* Whether some hop is of this type, or the attribute or part of this name. The path comes as an
 * untyped pointer, so that tables of words can ask. */
bool seep_hops_have_type(const void *path, const char *type);
bool seep_hops_have_name(const void *path, const char *name);

/* The hop of the first attribute of this name; NULL: none, or for `of_one` it is that of each
 * object in a container. *next: the hop behind it, or NULL. */
const json_t *seep_hops_attribute(const json_t *path, const char *name, bool of_one,
                                  const json_t **next);

#endif
