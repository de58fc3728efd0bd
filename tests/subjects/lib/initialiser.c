/* A library whose initialiser keeps a block, of a size that its name ends with. Found by Python, it
 * is an extension module that is loaded and then rejected. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *seep_kept;

__attribute__((constructor)) static void initialise(void)
{
    Dl_info info;
    if (dladdr(&seep_kept, &info) != 0 && strrchr(info.dli_fname, '_') != NULL)
        seep_kept = malloc((size_t)atol(strrchr(info.dli_fname, '_') + 1));
}
