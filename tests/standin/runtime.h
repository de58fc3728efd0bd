/* Shared by the files of libcudart: how each of its functions begins and ends. CUDA_MAJOR is 11,
 * 12 or 13. */
#ifndef SEEP_STANDIN_RUNTIME_H
#define SEEP_STANDIN_RUNTIME_H

#include "tests/standin/core.h"

#define EXPORT __attribute__((visibility("default")))

/* The driver, opened at the first call; NULL where there is none. */
const struct standin_core *standin_driver(void);
void *standin_driver_function(const char *name);

/* 0, or the error with which the function named so returns at once. */
int standin_enter(int *slot, const char *name);
/* An error is kept as the thread's last. */
int standin_leave(int error);
int standin_device(void);
bool standin_is_device(int device);

/* A function of the runtime begins: CALL() where it makes a context, ASK() where it does not. */
#define ASK()                                                                                      \
    static int slot_of_call;                                                                       \
    int error_of_call = standin_enter(&slot_of_call, __func__);                                    \
    if (error_of_call)                                                                             \
    return error_of_call
#define CALL()                                                                                     \
    ASK();                                                                                         \
    standin_driver()->context(standin_device())

/* Functions that only have to be there. */
#define NOTHING(name, ...)                                                                         \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)                                                                   \
    {                                                                                              \
        ASK();                                                                                     \
        return 0;                                                                                  \
    }

#endif
