/* Libraries for test_caller.c, by what they are compiled with: one with GIVES has a function that
 * is hooked, and the others only need it or each other. */
#define EXPORT __attribute__((visibility("default")))

#ifdef GIVES
EXPORT int cudaSetDevice(int device);

EXPORT int cudaSetDevice(int device)
{
    return device + GIVES;
}
#endif

/* An address in this library's code. */
EXPORT void here(void);

EXPORT void here(void)
{
}
