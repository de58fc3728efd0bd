/* Any bytes as a picture. The first byte says how the rest is changed: bit 0: a PNG's checksums are
 * corrected, so that the code behind them is reached. */
#include "kernels/formats/image.h"

#include <stdlib.h>
#include <string.h>

/* CRC-32 of PNG's appendix D, a bit at a time. */
static uint32_t crc_of(const uint8_t *bytes, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void heal(uint8_t *bytes, size_t n)
{
    for (size_t at = 8; n >= 12 && at <= n - 12;) {
        uint32_t length = big_endian(bytes + at);
        if (length > n - 12 - at)
            return;
        uint32_t crc = crc_of(bytes + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            bytes[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += 12 + (size_t)length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_error err = {.text = ""};
    struct seep_image *image = NULL;

    if (!size)
        return 0;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        heal(bytes, size - 1);
    int rc = seep_image_from_bytes(bytes, size - 1, &image, &err);
    if (!rc != !err.text[0])
        abort();
    free(bytes);
    if (rc)
        return 0;
    if (!image->width || !image->height || image->width > SEEP_IMAGE_MAX_SIDE ||
        image->height > SEEP_IMAGE_MAX_SIDE ||
        (image->channels != 1 && image->channels != 3 && image->channels != 4))
        abort();
    volatile uint8_t last =
        image->pixels[(size_t)image->width * image->height * image->channels - 1];
    (void)last;
    seep_image_free(image);
    return 0;
}
