/* Shared by the stand-in for CUPTI and the made-up runtime that it listens to. */
#ifndef SEEP_TESTS_CUPTI_LIKE_H
#define SEEP_TESTS_CUPTI_LIKE_H

#include <stdint.h>

enum { DRIVER = 1, RUNTIME = 2, BEGINS = 0, ENDS = 1 };

/* Laid out as CUpti_CallbackData. */
struct told {
    int site;
    const char *function;
    const void *parameters;
    const int *result;
    const char *symbol;
    void *context; /* here it points to the device's number */
    uint32_t context_number;
    uint64_t *correlation_data;
    uint32_t correlation;
};

/* What the runtime and driver do at the begin and end of a call. */
typedef void cupti_like_tell(int domain, const char *name, const struct told *told);

#endif
