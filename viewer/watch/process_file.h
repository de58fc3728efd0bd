/* What the kernel says of a process in the files of /proc/PID. */
#ifndef SEEP_VIEWER_WATCH_PROCESS_FILE_H
#define SEEP_VIEWER_WATCH_PROCESS_FILE_H

#include <stdint.h>
#include <sys/types.h>

enum { SEEP_PROCESS_FILE_BYTES = 4096 };

/* Reads a file such as "status", up to its first 4 KiB; "" if it cannot be read. */
void seep_process_file(pid_t pid, const char *name, char text[SEEP_PROCESS_FILE_BYTES]);

/* The number behind `key` ("wchar:") at the start of a line; 0 if it is not there. */
uint64_t seep_process_file_number(const char *text, const char *key);

/* The same of one that is given in KiB ("VmHWM:"), in bytes. */
uint64_t seep_process_file_kib(const char *text, const char *key);

#endif
