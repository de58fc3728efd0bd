/* Where memory runs out within a token, jansson ends in assert(), reads past its buffer or reports
 * invalid text. So it gets memory from an arena while it parses, and when that is full, longjmp()
 * leaves it. */
#include "kernels/formats/json_file.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

enum { BLOCK_BYTES = 64 << 10, ALIGNMENT = 8 };

struct block {
    struct block *next;
    uint64_t bytes[];
};

struct arena {
    struct block *blocks;
    uint8_t *at, *end; /* what is left of the newest small block */
    size_t left;       /* bytes that may still be allocated */
    jmp_buf back;
};

enum ending { OVER_THE_BOUND = 1, NO_MEMORY };

static _Thread_local struct arena *current;
static once_flag once = ONCE_FLAG_INIT;

static uint8_t *add_block(struct arena *arena, size_t n)
{
    if (n > arena->left)
        longjmp(arena->back, OVER_THE_BOUND);
    struct block *block = malloc(sizeof *block + n);
    if (!block)
        longjmp(arena->back, NO_MEMORY);
    arena->left -= n;
    block->next = arena->blocks;
    arena->blocks = block;
    return (uint8_t *)block->bytes;
}

static void *take(size_t n)
{
    struct arena *arena = current;

    if (!arena)
        return malloc(n);
    if (n > SIZE_MAX - BLOCK_BYTES)
        longjmp(arena->back, OVER_THE_BOUND);
    n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    /* A large table does not waste a block that has just begun. */
    if (n > BLOCK_BYTES / 4)
        return add_block(arena, n);
    if (n > (size_t)(arena->end - arena->at)) {
        arena->at = add_block(arena, BLOCK_BYTES);
        arena->end = arena->at + BLOCK_BYTES;
    }
    arena->at += n;
    return arena->at - n;
}

static void drop(void *p)
{
    if (!current)
        free(p);
}

static void set_functions(void)
{
    json_set_alloc_funcs(take, drop);
}

static enum ending parse(struct arena *arena, const void *bytes, size_t n, const json_t **root,
                         json_error_t *where)
{
    enum ending ending = 0;

    current = arena;
    switch (setjmp(arena->back)) {
    case 0:
        *root = json_loadb(n ? bytes : "", n, 0, where);
        break;
    case OVER_THE_BOUND:
        ending = OVER_THE_BOUND;
        break;
    default:
        ending = NO_MEMORY;
        break;
    }
    current = NULL;
    return ending;
}

int seep_json_load(const char *file, const void *bytes, size_t n, size_t most_bytes,
                   struct seep_json *json, struct seep_error *err)
{
    uint8_t nothing = 0;
    struct arena arena = {.at = &nothing, .end = &nothing, .left = most_bytes};
    json_error_t where = {.position = 0};
    const json_t *root = NULL;
    int rc;

    call_once(&once, set_functions);
    enum ending ending = parse(&arena, bytes, n, &root, &where);
    if (root) {
        *json = (struct seep_json){root, arena.blocks};
        return 0;
    }
    if (ending == NO_MEMORY)
        rc = seep_error_set(err, SEEP_ENOMEM, file, 0, "no memory for the JSON's values");
    else if (ending == OVER_THE_BOUND)
        rc = seep_error_set(err, SEEP_EFORMAT, file, 0, "JSON values of more than %zu bytes",
                            most_bytes);
    else
        rc = seep_error_set(err, SEEP_EFORMAT, file,
                            where.position > 0 ? (uint64_t)where.position : 0, "no JSON: %s",
                            where.text);
    seep_json_free(&(struct seep_json){NULL, arena.blocks});
    return rc;
}

void seep_json_free(struct seep_json *json)
{
    for (struct block *block = json->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *json = (struct seep_json){NULL, NULL};
}

int seep_json_print(FILE *out, const json_t *root, size_t flags)
{
    if (root && !json_dumpf(root, out, flags))
        return 0;
    return ferror(out) ? -SEEP_EIO : -SEEP_ENOMEM;
}
