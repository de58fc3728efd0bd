/* The hops of a path to kept memory, as a snapshot has them: {"root": …, "hops": […]}. Rules read
 * these; the printed path is for people. All pure. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOPS_H
#define SEEP_LIBPROF_WHO_MERGE_HOPS_H

#include <jansson.h>
#include <stdbool.h>

/* A field's text; "" if it is not a text. Borrowed. */
const char *seep_hops_said(const json_t *object, const char *key);

bool seep_hop_is(const json_t *hop, const char *kind);
bool seep_hops_root_is(const json_t *path, const char *kind);

/* Whether some hop has this type, or is the attribute or part of this name. The path is an untyped
 * pointer, so that tables of words can call this. */
bool seep_hops_have_type(const void *path, const char *type);
bool seep_hops_have_name(const void *path, const char *name);

/* The hop of the first attribute of this name; NULL: none, or, with `of_one`, it is an attribute of
 * each object in a container. *next: the hop after it, or NULL. */
const json_t *seep_hops_attribute(const json_t *path, const char *name, bool of_one,
                                  const json_t **next);

#endif
