#include "libprof/torch/torch_page.h"

#include <string.h>

size_t seep_torch_page_begins(const char *bytes, size_t n)
{
    static const char key[] = "\"base64\": \"";
    const char *at = memmem(bytes, n, key, sizeof key - 1);

    return at && (*bytes == '<' || *bytes == '[' || *bytes == '\n')
               ? (size_t)(at - bytes) + sizeof key - 1
               : 0;
}

static bool fill(struct seep_torch_page *p)
{
    const int64_t got =
        p->at < p->end ? 0 : p->from->read(p->from->context, p->text, sizeof p->text);

    if (got > 0) {
        p->at = 0;
        p->end = (size_t)got;
    }
    return p->at < p->end;
}

bool seep_torch_page_open(struct seep_torch_page *p, const struct seep_pickle_source *from)
{
    *p = (struct seep_torch_page){.from = from};
    while (p->end < SEEP_TORCH_PAGE_BYTES) {
        const int64_t got = from->read(from->context, p->text + p->end, sizeof p->text - p->end);
        if (got <= 0)
            break;
        p->end += (size_t)got;
    }
    p->at = seep_torch_page_begins(p->text, p->end);
    return p->at > 0;
}

/* Of a sign of base64; −1: of none. */
static int value_of(char sign)
{
    return sign >= 'A' && sign <= 'Z'   ? sign - 'A'
           : sign >= 'a' && sign <= 'z' ? sign - 'a' + 26
           : sign >= '0' && sign <= '9' ? sign - '0' + 52
           : sign == '+'                ? 62
           : sign == '/'                ? 63
                                        : -1;
}

int64_t seep_torch_page_read(void *page, void *buffer, size_t n)
{
    struct seep_torch_page *p = page;
    uint8_t *to = buffer;
    size_t done = 0;

    while (done < n && !p->has_ended && fill(p)) {
        const int value = value_of(p->text[p->at++]);
        p->has_ended = value < 0;
        p->bits = p->bits << 6 | (uint32_t)value;
        p->n_bits += 6;
        if (!p->has_ended && p->n_bits >= 8) {
            p->n_bits -= 8;
            to[done++] = (uint8_t)(p->bits >> p->n_bits);
        }
    }
    return (int64_t)done;
}
