/* The page's parts are made by make (viewer/page/page.awk) and taken in by the assembler, which
 * finds them in the folder of generated files. */
#include "viewer/page/page_html.h"

#include <string.h>

__asm__(".section .rodata\n"
        "seep_page_head:\n"
        "\t.incbin \"page_head.html\"\n"
        "seep_page_head_end:\n"
        "seep_page_tail:\n"
        "\t.incbin \"page_tail.html\"\n"
        "seep_page_tail_end:\n"
        "\t.previous\n");

extern const char seep_page_head[], seep_page_head_end[], seep_page_tail[], seep_page_tail_end[];

/* Names are anybody's: without a '<' none of them ends the data's element, nor begins another. In
 * JSON '<' stands in strings alone, where it may be written so. */
static int put_harmless(const char *bytes, size_t n, void *stream)
{
    const char *end = bytes + n;

    while (bytes < end) {
        const char *mark = memchr(bytes, '<', (size_t)(end - bytes));
        const size_t plain = (size_t)((mark ? mark : end) - bytes);
        if (fwrite(bytes, 1, plain, stream) < plain)
            return -1;
        if (mark && fputs("\\u003c", stream) < 0)
            return -1;
        bytes += plain + (mark != NULL);
    }
    return 0;
}

int seep_page_html(const json_t *document, FILE *out, bool colour)
{
    const size_t head = (size_t)(seep_page_head_end - seep_page_head),
                 tail = (size_t)(seep_page_tail_end - seep_page_tail);

    (void)colour;
    return fwrite(seep_page_head, 1, head, out) == head &&
                   !json_dump_callback(document, put_harmless, out,
                                       JSON_COMPACT | JSON_REAL_PRECISION(12)) &&
                   fwrite(seep_page_tail, 1, tail, out) == tail
               ? 0
               : -SEEP_EIO;
}
