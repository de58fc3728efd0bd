/* What the keys of a digest's rows refer to: texts, stacks of frames, and what findings are about,
 * each once. All return ids that stay valid; 0 without memory or for what is empty. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_NAMES_H
#define SEEP_LIBPROF_DIGEST_DIGEST_NAMES_H

#include "libprof/digest/digest.h"

/* Cut at SEEP_DIGEST_TEXT − 1 bytes. The caller has cleaned it. */
uint32_t seep_digest_text(struct seep_digest *d, const char *text);

/* A text from elsewhere: cleaned, and cut to `bytes` with its NUL. One of at most
 * SEEP_DIGEST_HOST_TEXT is a name, which many rows may have: it loses the characters that take two
 * as JSON, so that its length there is known. */
uint32_t seep_digest_clean_text(struct seep_digest *d, const char *text, size_t bytes);

/* Index + 1. `frames`: texts, innermost first. */
uint32_t seep_digest_stack(struct seep_digest *d, const struct seep_digest_stack *stack,
                           const uint32_t *frames);

/* Index + 1. */
uint32_t seep_digest_about(struct seep_digest *d, const struct seep_digest_about *about);

/* The ids that another digest's texts, stacks and subjects have in this one; each is added when it
 * is first asked for. */
struct seep_digest_map {
    const struct seep_digest *from;
    struct seep_digest *into;
    uint32_t *texts, *stacks, *subjects; /* id + 1; 0: not asked for yet */
};

SEEP_MUST_CHECK int seep_digest_map_init(struct seep_digest_map *map, struct seep_digest *into,
                                         const struct seep_digest *from);
void seep_digest_map_fini(struct seep_digest_map *map);
uint32_t seep_digest_map_text(struct seep_digest_map *map, uint32_t text);
uint32_t seep_digest_map_stack(struct seep_digest_map *map, uint32_t stack); /* index + 1 */
uint32_t seep_digest_map_about(struct seep_digest_map *map, uint32_t about); /* index + 1 */

#endif
