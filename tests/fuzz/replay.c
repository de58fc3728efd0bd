/* Runs a fuzz target on its saved corpus, as make unpacks it, without libFuzzer: part of every
 * `make check`, with the sanitizers. Counts tests like Check; whatever ends the process is a
 * failure. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    uint8_t *data = NULL;
    size_t size = 0, capacity = 0, n;
    do {
        if (size == capacity) {
            capacity = capacity ? capacity * 2 : 65536;
            data = realloc(data, capacity);
            if (!data)
                abort();
        }
        n = fread(data + size, 1, capacity - size, f);
        size += n;
    } while (n > 0);
    fclose(f);
    /* An exact block: the sanitizer sees one byte too many. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        abort();
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(data);
    return 1;
}

int main(void)
{
    int inputs = 0;
    DIR *d = opendir(SEEP_CORPUS);

    for (struct dirent *e; d && (e = readdir(d));) {
        char path[1024];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", SEEP_CORPUS, e->d_name);
        printf("%s\n", path);
        fflush(stdout);
        inputs += replay(path);
    }
    if (d)
        closedir(d);
    /* No corpus is a failure: a replay of nothing shows nothing. */
    printf("%d%%: Checks: %d, Failures: %d, Errors: 0\n", inputs ? 100 : 0, inputs ? inputs : 1,
           !inputs);
    return inputs ? 0 : 1;
}
