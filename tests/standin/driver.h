/* Shared by the driver's own functions. */
#ifndef SEEP_STANDIN_DRIVER_H
#define SEEP_STANDIN_DRIVER_H

#include "tests/standin/inside.h"

#define EXPORT __attribute__((visibility("default")))

/* A function of the driver begins. */
#define DRIVER_CALL()                                                                              \
    static int slot_of_call;                                                                       \
    int error_of_call = standin_begin(&slot_of_call, __func__);                                    \
    if (error_of_call)                                                                             \
    return error_of_call

#endif
