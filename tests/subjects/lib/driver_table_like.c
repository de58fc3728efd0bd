/* What libc10_cuda of PyTorch 2.4 to 2.7 looks like to code that intercepts the driver: a table of
 * its functions, looked up in the driver's library itself, which an exported function, called
 * through the dynamic symbol, returns. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"), noipa))

static const char *const names[] = {"cuMemAddressReserve", "cuMemRelease", "cuMemMap",
                                    "cuMemAddressFree",    "cuMemCreate",  "cuMemUnmap"};
enum { N = sizeof names / sizeof names[0] };

EXPORT void **driver_api(void) __asm__("_ZN3c104cuda9DriverAPI3getEv");
void **driver_api(void)
{
    static void *table[N];
    static int is_filled;
    if (!is_filled) {
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        for (int i = 0; driver && i < N; i++)
            table[i] = dlsym(driver, names[i]);
        is_filled = 1;
    }
    return table;
}

EXPORT void *table_function(const char *name)
{
    void **table = driver_api();
    for (int i = 0; i < N; i++)
        if (strcmp(names[i], name) == 0)
            return table[i];
    return NULL;
}
