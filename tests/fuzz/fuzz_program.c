/* Any bytes as a program that is about to run: judges and describes it, and parses its first line.
 * The first inputs of the corpus are images of tests/program_builder.h. */
#include "libprof/program/program_entry_words.h"
#include "libprof/runtime/program/program_elf.h"
#include "libprof/runtime/program/program_entry.h"
#include "tests/fuzz/memory_file.h"

#include <fcntl.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_program_entry entry;
    char line[SEEP_ENTRY_LINE_BYTES] = "", text[256], *argument;
    size_t n;

    if (seep_entry_of_file(AT_FDCWD, memory_file(data, size), &entry, line) < 0 ||
        entry.entry > SEEP_ENTRY_DAMAGED || !memchr(entry.detail, 0, sizeof entry.detail))
        abort();
    if (entry.entry != SEEP_ENTRY_OK && !*seep_entry_describe(&entry, text, sizeof text))
        abort();
    memset(line, 0, sizeof line);
    memcpy(line, data, size < sizeof line ? size : sizeof line);
    char *name = seep_entry_interpreter(line, &argument);
    if (name && (!*name || strlen(name) >= sizeof line || (argument && !*argument)))
        abort();
    line[sizeof line - 1] = '\0';
    (void)seep_entry_sanitizer_in(line, &n);
    return 0;
}
