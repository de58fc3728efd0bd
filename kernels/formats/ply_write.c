#include "kernels/formats/ply.h"
#include "kernels/formats/ply_parts.h"
#include "kernels/formats/text_fields.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

static bool is_name(const char name[64])
{
    return seep_ply_is_name(name, strnlen(name, 64));
}

static int check(const struct seep_ply *ply)
{
    for (size_t i = 0; i < ply->n_elements; i++) {
        const struct seep_ply_element *element = &ply->elements[i];
        if (!is_name(element->name) || (element->n && !element->n_properties))
            return -SEEP_EINVAL;
        for (size_t k = 0; k < element->n_properties; k++) {
            const struct seep_ply_property *p = &element->properties[k];
            if (!is_name(p->name) || (p->is_list && !seep_ply_type_holds(p->count_type, 0)))
                return -SEEP_EINVAL;
            for (size_t j = 0; p->is_list && j < element->n; j++) {
                /* A list whose end lies before its beginning has a negative length. */
                int64_t length = (int64_t)(p->starts[j + 1] - p->starts[j]);
                if (length < 0 || !seep_ply_type_holds(p->count_type, length))
                    return -SEEP_EINVAL;
            }
        }
    }
    return 0;
}

static void print_header(FILE *out, const struct seep_ply *ply)
{
    static const char *const encodings[] = {
        [SEEP_PLY_ASCII] = "ascii",
        [SEEP_PLY_LITTLE] = "binary_little_endian",
        [SEEP_PLY_BIG] = "binary_big_endian",
    };

    fprintf(out, "ply\nformat %s 1.0\n", encodings[ply->encoding]);
    for (size_t i = 0; i < ply->n_elements; i++) {
        const struct seep_ply_element *element = &ply->elements[i];
        fprintf(out, "element %s %zu\n", element->name, element->n);
        for (size_t k = 0; k < element->n_properties; k++) {
            const struct seep_ply_property *p = &element->properties[k];
            if (p->is_list)
                fprintf(out, "property list %s %s %s\n", seep_ply_type_name(p->count_type),
                        seep_ply_type_name(p->type), p->name);
            else
                fprintf(out, "property %s %s\n", seep_ply_type_name(p->type), p->name);
        }
    }
    fputs("end_header\n", out);
}

static void print_ascii(FILE *out, enum seep_ply_type type, const void *values, size_t i)
{
    switch (type) {
    case SEEP_PLY_I8:
        fprintf(out, "%d", ((const int8_t *)values)[i]);
        break;
    case SEEP_PLY_U8:
        fprintf(out, "%u", ((const uint8_t *)values)[i]);
        break;
    case SEEP_PLY_I16:
        fprintf(out, "%d", ((const int16_t *)values)[i]);
        break;
    case SEEP_PLY_U16:
        fprintf(out, "%u", ((const uint16_t *)values)[i]);
        break;
    case SEEP_PLY_I32:
        fprintf(out, "%" PRId32, ((const int32_t *)values)[i]);
        break;
    case SEEP_PLY_U32:
        fprintf(out, "%" PRIu32, ((const uint32_t *)values)[i]);
        break;
    case SEEP_PLY_F32:
        seep_text_print(out, (double)((const float *)values)[i], 9);
        break;
    case SEEP_PLY_F64:
        seep_text_print(out, ((const double *)values)[i], 17);
        break;
    }
}

static void put_binary(FILE *out, size_t size, const void *value, bool swap)
{
    const uint8_t *bytes = value;
    uint8_t turned[8];

    for (size_t i = 0; i < size; i++)
        turned[i] = bytes[swap ? size - 1 - i : i];
    fwrite_unlocked(turned, 1, size, out);
}

static void put_length(FILE *out, enum seep_ply_type type, size_t length, bool swap)
{
    uint8_t one = (uint8_t)length;
    uint16_t two = (uint16_t)length;
    uint32_t four = (uint32_t)length;
    size_t size = seep_ply_type_bytes(type);

    put_binary(out, size,
               size == 1   ? (const void *)&one
               : size == 2 ? (const void *)&two
                           : &four,
               swap);
}

/* One property of one item; `first`: nothing stands on its line yet. */
static void print_property(FILE *out, enum seep_ply_encoding encoding,
                           const struct seep_ply_property *p, size_t item, bool first)
{
    bool ascii = encoding == SEEP_PLY_ASCII;
    bool swap = encoding != (BYTE_ORDER == LITTLE_ENDIAN ? SEEP_PLY_LITTLE : SEEP_PLY_BIG);
    size_t from = p->is_list ? p->starts[item] : item, size = seep_ply_type_bytes(p->type);
    size_t to = p->is_list ? p->starts[item + 1] : item + 1;

    if (p->is_list && ascii)
        fprintf(out, first ? "%zu" : " %zu", to - from);
    else if (p->is_list)
        put_length(out, p->count_type, to - from, swap);
    for (size_t i = from; i < to; i++) {
        if (!ascii) {
            put_binary(out, size, (const uint8_t *)p->values + i * size, swap);
            continue;
        }
        if (!first || p->is_list)
            putc_unlocked(' ', out);
        print_ascii(out, p->type, p->values, i);
    }
}

int seep_ply_print(FILE *out, const struct seep_ply *ply)
{
    int rc = check(ply);

    if (rc)
        return rc;
    print_header(out, ply);
    for (size_t i = 0; i < ply->n_elements; i++) {
        const struct seep_ply_element *element = &ply->elements[i];
        for (size_t k = 0; k < element->n; k++) {
            for (size_t j = 0; j < element->n_properties; j++)
                print_property(out, ply->encoding, &element->properties[j], k, j == 0);
            if (ply->encoding == SEEP_PLY_ASCII)
                putc_unlocked('\n', out);
        }
    }
    return 0;
}
