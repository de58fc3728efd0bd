/* The manual page is the help: the very file, taken in by the assembler (which looks where the
 * compiler was started, the root of the sources). */
#include "kernels/lab/lab.h"

#include <stdio.h>

__asm__(".section .rodata\n"
        "seep_lab_page:\n"
        "\t.incbin \"docs/man/seep-lab.txt\"\n"
        "seep_lab_page_end:\n"
        "\t.previous\n");

/* Hidden: no table of addresses lies between, whose entries linkers for Arm make one of. */
extern __attribute__((visibility("hidden"))) const char seep_lab_page[], seep_lab_page_end[];

int seep_lab_help(void)
{
    fwrite(seep_lab_page, 1, (size_t)(seep_lab_page_end - seep_lab_page), stdout);
    return fflush(stdout) || ferror(stdout) ? SEEP_LAB_UNUSABLE : 0;
}
