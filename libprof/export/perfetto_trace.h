/* A Perfetto trace while it is written, packet by packet. Only perfetto*.c include it. */
#ifndef SEEP_LIBPROF_EXPORT_PERFETTO_TRACE_H
#define SEEP_LIBPROF_EXPORT_PERFETTO_TRACE_H

#include "libprof/export/export_formats.h"

#include <perfetto.pb-c.h>
#include <stdbool.h>
#include <stdint.h>

struct seep_trace {
    ProtobufCBuffer buffer; /* the first: what protobuf-c writes to */
    FILE *out;
    uint64_t start_ns; /* when the job began, in Unix time, which serves for all clocks */
    uint64_t end_ns;
    bool failed; /* for lack of memory */
};

/* Writes a packet. All packets belong to one sequence. */
void seep_trace_put(struct seep_trace *trace, Seep__Perfetto__TracePacket *packet);

/* Writes the sites as heap profiles, as at the end of the job: one for each process and space. */
void seep_trace_put_heap(struct seep_trace *trace, const json_t *report,
                         struct seep_json_stream *sites, enum seep_measure measure);

#endif
