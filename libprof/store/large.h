/* Places the recorder's tables in its library. */
#ifndef SEEP_LIBPROF_STORE_LARGE_H
#define SEEP_LIBPROF_STORE_LARGE_H

/* For tables: places them after all small data, which then takes only a few pages. A forked child
 * and its parent copy each page that they write to. */
#define SEEP_LARGE __attribute__((section(".bss.large")))

#endif
