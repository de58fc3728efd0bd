/* Shared by the files of libcuda.so.1. */
#ifndef SEEP_STANDIN_INSIDE_H
#define SEEP_STANDIN_INSIDE_H

#include "tests/standin/core.h"

/* conduct.c */
int standin_begin(int *slot, const char *name);
void standin_note(const char *change);
void standin_note_context(int device);
void standin_wait_a_little(void); /* STANDIN_DELAY_US */
bool standin_visible(void);
uint64_t standin_number_of(const char *variable, uint64_t otherwise); /* from the environment */

/* ledger.c: what each process uses of each device */
void standin_use(int device, int64_t bytes);
uint64_t standin_used(int device, int pid);         /* 0: all */
int standin_users(int device, int *pids, int room); /* returns how many */

/* blocks.c */
int standin_take(enum standin_kind kind, int device, uint64_t bytes, void **at);
int standin_give(unsigned kinds, const void *at);
bool standin_find(const void *at, struct standin_block *block);
int standin_registers(void *at, uint64_t bytes);
int standin_map(void *at, uint64_t bytes, uint64_t physical);
int standin_unmap(void *at, uint64_t bytes);
void standin_copy(void *to, const void *from, uint64_t bytes, int value);
void standin_context(int device);
bool standin_has_context(int device);
void standin_reset(int device);
uint64_t standin_capacity(void);
int standin_devices(void);
void standin_forget(void); /* in a child that starts afresh */

#endif
