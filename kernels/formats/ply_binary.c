#include "kernels/formats/ply.h"
#include "kernels/formats/ply_parts.h"

#include <byteswap.h>
#include <endian.h>
#include <string.h>

static bool is_foreign(enum seep_ply_encoding encoding)
{
    return encoding != (BYTE_ORDER == LITTLE_ENDIAN ? SEEP_PLY_LITTLE : SEEP_PLY_BIG);
}

/* `n` values of `size` bytes, `stride` bytes apart, into a row. */
static void gather(const uint8_t *from, size_t stride, size_t size, size_t n, bool swap,
                   uint8_t *to)
{
    for (size_t i = 0; i < n; i++, from += stride, to += size) {
        uint16_t two;
        uint32_t four;
        uint64_t eight;

        switch (size) {
        case 1:
            *to = *from;
            break;
        case 2:
            memcpy(&two, from, 2);
            two = swap ? bswap_16(two) : two;
            memcpy(to, &two, 2);
            break;
        case 4:
            memcpy(&four, from, 4);
            four = swap ? bswap_32(four) : four;
            memcpy(to, &four, 4);
            break;
        default:
            memcpy(&eight, from, 8);
            eight = swap ? bswap_64(eight) : eight;
            memcpy(to, &eight, 8);
            break;
        }
    }
}

/* A list's length in host byte order; false where it is negative. */
static bool length_of(const uint8_t *bytes, enum seep_ply_type type, bool swap, uint32_t *length)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;

    switch (seep_ply_type_bytes(type)) {
    case 1:
        memcpy(&one, bytes, 1);
        *length = one;
        return type == SEEP_PLY_U8 || one <= INT8_MAX;
    case 2:
        gather(bytes, 2, 2, 1, swap, (uint8_t *)&two);
        *length = two;
        return type == SEEP_PLY_U16 || two <= INT16_MAX;
    default:
        gather(bytes, 4, 4, 1, swap, (uint8_t *)&four);
        *length = four;
        return type == SEEP_PLY_U32 || four <= INT32_MAX;
    }
}

static int parse_list(struct seep_ply_source *source, struct seep_ply_property *list, size_t item,
                      bool swap)
{
    size_t size = seep_ply_type_bytes(list->type), used = list->starts[item];
    const uint8_t *at = seep_bytes_take(&source->bytes, seep_ply_type_bytes(list->count_type));
    uint32_t length = 0;

    if (!at || !length_of(at, list->count_type, swap, &length) ||
        length > seep_bytes_left(&source->bytes) / size)
        return seep_ply_error(source, SEEP_EFORMAT, "a list has an impossible length");
    uint8_t *room = seep_ply_list_room(list, used, length);
    if (!room)
        return seep_ply_error(source, SEEP_ENOMEM, "no memory");
    gather(seep_bytes_take(&source->bytes, length * size), size, size, length, swap, room);
    list->starts[item + 1] = used + length;
    return 0;
}

/* The least that an item takes: a list of nothing is its length. */
static size_t least_bytes(const struct seep_ply_element *element, bool *has_lists)
{
    size_t bytes = 0;

    *has_lists = false;
    for (size_t i = 0; i < element->n_properties; i++) {
        const struct seep_ply_property *p = &element->properties[i];
        bytes += seep_ply_type_bytes(p->is_list ? p->count_type : p->type);
        *has_lists |= p->is_list;
    }
    return bytes;
}

static void parse_scalars(struct seep_ply_source *source, struct seep_ply_element *element,
                          size_t stride, bool swap)
{
    const uint8_t *from = seep_bytes_take(&source->bytes, element->n * stride);

    for (size_t i = 0; i < element->n_properties; i++) {
        size_t size = seep_ply_type_bytes(element->properties[i].type);
        gather(from, stride, size, element->n, swap, element->properties[i].values);
        from += size;
    }
}

static int parse_mixed(struct seep_ply_source *source, struct seep_ply_element *element, bool swap)
{
    for (size_t i = 0; i < element->n; i++) {
        for (size_t k = 0; k < element->n_properties; k++) {
            struct seep_ply_property *p = &element->properties[k];
            size_t size = seep_ply_type_bytes(p->type);
            if (p->is_list) {
                int rc = parse_list(source, p, i, swap);
                if (rc)
                    return rc;
                continue;
            }
            const uint8_t *at = seep_bytes_take(&source->bytes, size);
            if (!at)
                return seep_ply_error(source, SEEP_EFORMAT, "values are missing at the end");
            gather(at, size, size, 1, swap, (uint8_t *)p->values + i * size);
        }
    }
    return 0;
}

int seep_ply_parse_binary(struct seep_ply_source *source, struct seep_ply *ply)
{
    bool swap = is_foreign(ply->encoding);

    for (size_t i = 0; i < ply->n_elements; i++) {
        struct seep_ply_element *element = &ply->elements[i];
        bool has_lists;
        size_t least = least_bytes(element, &has_lists);
        int rc = 0;

        if (element->n && element->n > seep_bytes_left(&source->bytes) / least)
            return seep_ply_error(source, SEEP_EFORMAT,
                                  "the header claims more items than the file holds");
        if (seep_ply_allocate(element))
            return seep_ply_error(source, SEEP_ENOMEM, "no memory");
        if (has_lists)
            rc = parse_mixed(source, element, swap);
        else if (element->n)
            parse_scalars(source, element, least, swap);
        if (rc)
            return rc;
    }
    if (seep_bytes_left(&source->bytes))
        return seep_ply_error(source, SEEP_EFORMAT, "there are more bytes than the header says");
    return 0;
}
