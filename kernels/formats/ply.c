#include "kernels/formats/ply.h"
#include "kernels/formats/ply_parts.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t max_bytes = UINT64_C(4) << 30;

/* The names of 1994 first: every reader knows them. */
static const struct {
    const char *names[2];
    size_t bytes;
    int64_t least, most; /* of integers; none of the others */
} types[] = {
    [SEEP_PLY_I8] = {{"char", "int8"}, 1, INT8_MIN, INT8_MAX},
    [SEEP_PLY_U8] = {{"uchar", "uint8"}, 1, 0, UINT8_MAX},
    [SEEP_PLY_I16] = {{"short", "int16"}, 2, INT16_MIN, INT16_MAX},
    [SEEP_PLY_U16] = {{"ushort", "uint16"}, 2, 0, UINT16_MAX},
    [SEEP_PLY_I32] = {{"int", "int32"}, 4, INT32_MIN, INT32_MAX},
    [SEEP_PLY_U32] = {{"uint", "uint32"}, 4, 0, UINT32_MAX},
    [SEEP_PLY_F32] = {{"float", "float32"}, 4, 1, 0},
    [SEEP_PLY_F64] = {{"double", "float64"}, 8, 1, 0},
};

size_t seep_ply_type_bytes(enum seep_ply_type type)
{
    return types[type].bytes;
}

const char *seep_ply_type_name(enum seep_ply_type type)
{
    return types[type].names[0];
}

bool seep_ply_type_of(const char *word, size_t n, enum seep_ply_type *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (size_t k = 0; k < 2; k++) {
            if (strlen(types[i].names[k]) == n && !memcmp(types[i].names[k], word, n)) {
                *type = (enum seep_ply_type)i;
                return true;
            }
        }
    }
    return false;
}

bool seep_ply_type_holds(enum seep_ply_type type, int64_t value)
{
    return value >= types[type].least && value <= types[type].most;
}

bool seep_ply_is_name(const char *text, size_t n)
{
    for (size_t i = 0; i < n && n < 64; i++) {
        if ((uint8_t)text[i] <= 0x20 || text[i] == 0x7f)
            return false;
    }
    return n > 0 && n < 64;
}

int seep_ply_error(struct seep_ply_source *source, int code, const char *text)
{
    return seep_error_set(source->err, code, source->file, seep_bytes_offset(&source->bytes), "%s",
                          text);
}

int seep_ply_allocate(struct seep_ply_element *element)
{
    for (size_t i = 0; i < element->n_properties; i++) {
        struct seep_ply_property *p = &element->properties[i];
        /* One more than needed, so that no property is NULL where there are no items. */
        if (p->is_list)
            p->starts = calloc(element->n + 1, sizeof *p->starts);
        else
            p->values = calloc(element->n + 1, seep_ply_type_bytes(p->type));
        if (p->is_list ? !p->starts : !p->values)
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* The capacity of a list with this many items: a power of two, so that it need not be stored. */
static size_t capacity_of(size_t used)
{
    size_t capacity = 16;

    while (capacity < used)
        capacity *= 2;
    return used ? capacity : 0;
}

void *seep_ply_list_room(struct seep_ply_property *list, size_t used, size_t count)
{
    size_t size = seep_ply_type_bytes(list->type);
    size_t needed = capacity_of(used + count);

    if (!list->values || needed > capacity_of(used)) {
        void *grown = realloc(list->values, (needed ? needed : 1) * size);
        if (!grown)
            return NULL;
        list->values = grown;
    }
    return (uint8_t *)list->values + used * size;
}

static int parse(struct seep_ply_source *source, struct seep_ply **out)
{
    struct seep_ply *ply = calloc(1, sizeof *ply);
    int rc;

    if (!ply)
        return seep_ply_error(source, SEEP_ENOMEM, "no memory");
    rc = seep_ply_parse_header(source, ply);
    if (rc)
        goto fail;
    rc = ply->encoding == SEEP_PLY_ASCII ? seep_ply_parse_ascii(source, ply)
                                         : seep_ply_parse_binary(source, ply);
    if (rc)
        goto fail;
    *out = ply;
    return 0;
fail:
    seep_ply_free(ply);
    return rc;
}

int seep_ply_from_bytes(const void *bytes, size_t n, struct seep_ply **out, struct seep_error *err)
{
    struct seep_ply_source source = {"", seep_bytes_of(bytes, n), err};

    return parse(&source, out);
}

int seep_ply_read(const char *path, struct seep_ply **out, struct seep_error *err)
{
    uint8_t *bytes = NULL;
    size_t n = 0;
    int rc = seep_file_read(path, max_bytes, &bytes, &n, err);

    if (rc)
        return rc;
    struct seep_ply_source source = {path, seep_bytes_of(bytes, n), err};
    rc = parse(&source, out);
    free(bytes);
    return rc;
}

int seep_ply_write(const char *path, const struct seep_ply *ply, struct seep_error *err)
{
    struct seep_file_writer writer;
    int rc = seep_file_writer_open(&writer, path, err);

    if (rc)
        return rc;
    rc = seep_ply_print(writer.stream, ply);
    if (!rc)
        return seep_file_writer_commit(&writer, err);
    seep_file_writer_cancel(&writer);
    return seep_error_set(err, -rc, path, 0, "PLY cannot hold a name or a list");
}

void seep_ply_free(struct seep_ply *ply)
{
    if (!ply)
        return;
    for (size_t i = 0; i < ply->n_elements; i++) {
        struct seep_ply_element *element = &ply->elements[i];
        for (size_t k = 0; k < element->n_properties; k++) {
            free(element->properties[k].values);
            free(element->properties[k].starts);
        }
        free(element->properties);
    }
    free(ply->elements);
    free(ply);
}

const struct seep_ply_element *seep_ply_element(const struct seep_ply *ply, const char *name)
{
    for (size_t i = 0; i < ply->n_elements; i++) {
        if (!strcmp(ply->elements[i].name, name))
            return &ply->elements[i];
    }
    return NULL;
}

const void *seep_ply_scalars(const struct seep_ply_element *element, const char *name,
                             enum seep_ply_type type)
{
    for (size_t i = 0; i < element->n_properties; i++) {
        const struct seep_ply_property *p = &element->properties[i];
        if (!strcmp(p->name, name))
            return p->is_list || p->type != type ? NULL : p->values;
    }
    return NULL;
}
