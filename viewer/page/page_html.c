/* make (viewer/page/page.awk) generates the page's parts, and the assembler includes them from the
 * folder of generated files. */
#include "viewer/page/page_html.h"

#include <string.h>

__asm__(".section .rodata\n"
        "seep_page_head:\n"
        "\t.incbin \"page_head.html\"\n"
        "seep_page_head_end:\n"
        "seep_page_middle:\n"
        "\t.incbin \"page_middle.html\"\n"
        "seep_page_middle_end:\n"
        "seep_page_tail:\n"
        "\t.incbin \"page_tail.html\"\n"
        "seep_page_tail_end:\n"
        "seep_page_look:\n"
        "\t.incbin \"page_look.html\"\n"
        "seep_page_look_end:\n"
        "\t.previous\n");

/* Hidden: no table of addresses lies between, whose entries linkers for Arm make one of. */
extern __attribute__((visibility("hidden"))) const char seep_page_head[], seep_page_head_end[],
    seep_page_middle[], seep_page_middle_end[], seep_page_tail[], seep_page_tail_end[],
    seep_page_look[], seep_page_look_end[];

/* Names are untrusted: without a '<' none of them can end the data's element or begin another. In
 * JSON '<' occurs only in strings, where it may be escaped. */
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

static int put_part(const char *begin, const char *end, FILE *out)
{
    const size_t n = (size_t)(end - begin);

    return fwrite(begin, 1, n, out) == n ? 0 : -SEEP_EIO;
}

int seep_page_put_begin(bool served, FILE *out)
{
    if (put_part(seep_page_head, seep_page_head_end, out) < 0 ||
        fprintf(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n",
                served ? SEEP_PAGE_POLICY_SERVED : SEEP_PAGE_POLICY) < 0)
        return -SEEP_EIO;
    return put_part(seep_page_middle, seep_page_middle_end, out);
}

int seep_page_put_data(const struct seep_page *page, FILE *out)
{
    return seep_page_write(page, put_harmless, out);
}

int seep_page_put_end(bool look, FILE *out)
{
    return look ? put_part(seep_page_look, seep_page_look_end, out)
                : put_part(seep_page_tail, seep_page_tail_end, out);
}

int seep_page_html(const struct seep_page *page, FILE *out)
{
    int r = seep_page_put_begin(false, out);
    if (!r)
        r = seep_page_put_data(page, out);
    return r ? r : seep_page_put_end(json_object_get(page->parts, "look"), out);
}
