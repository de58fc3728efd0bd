"""`seep export --format perfetto`, read by descriptors that are made here, of the names and numbers that Perfetto
publishes (protos/perfetto/trace), and not of our own description."""
import collections
import shutil
import sys
import unittest

from tests.cli.test_export import VALUES, ExportCase
from tests.e2e.support import ROOT, needs

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    descriptor_pb2 = None

PUBLISHED = {
    "Trace": "packet=1:TracePacket*",
    "TracePacket": "clock_snapshot=6:ClockSnapshot timestamp=8:uint64 trusted_packet_sequence_id=10:uint32"
                   " track_event=11:TrackEvent sequence_flags=13:uint32 profile_packet=37:ProfilePacket"
                   " track_descriptor=60:TrackDescriptor",
    "ClockSnapshot": "clocks=1:Clock*",
    "Clock": "clock_id=1:uint32 timestamp=2:uint64",
    "TrackDescriptor": "uuid=1:uint64 name=2:string process=3:ProcessDescriptor parent_uuid=5:uint64"
                       " counter=8:CounterDescriptor",
    "ProcessDescriptor": "pid=1:int32 cmdline=2:string* process_name=6:string",
    "CounterDescriptor": "unit=3:int32",
    "TrackEvent": "type=9:int32 track_uuid=11:uint64 name=23:string counter_value=30:int64",
    "InternedString": "iid=1:uint64 str=2:bytes",
    "Mapping": "iid=1:uint64 path_string_ids=7:uint64*",
    "Frame": "iid=1:uint64 function_name_id=2:uint64 mapping_id=3:uint64 rel_pc=4:uint64",
    "Callstack": "iid=1:uint64 frame_ids=2:uint64*",
    "ProfilePacket": "strings=1:InternedString* frames=2:Frame* callstacks=3:Callstack* mappings=4:Mapping*"
                     " process_dumps=5:ProcessHeapSamples* continued=6:bool index=7:uint64",
    "HeapSample": "callstack_id=1:uint64 self_allocated=2:uint64 self_freed=3:uint64 alloc_count=5:uint64"
                  " free_count=6:uint64 self_max=8:uint64",
    "ProcessHeapSamples": "pid=1:uint64 samples=2:HeapSample* from_startup=3:bool timestamp=9:uint64"
                          " heap_name=11:string",
}
INSTANT, COUNTER, BYTES = 3, 4, 3
SEVERAL = (1 << 22) + 1

JOB = """
import os, seep
kept = []
def step():
    kept.append(bytearray(100000))
    seep.step()
if os.fork():
    for i in range(20): step()
    os.wait()
else:
    for i in range(20): step()
"""


def reader():
    """The class Trace of the published messages (proto2, so that what is absent is told from 0)."""
    file = descriptor_pb2.FileDescriptorProto(name="published.proto", package="published", syntax="proto2")
    for name, fields in PUBLISHED.items():
        message = file.message_type.add(name=name)
        for field in fields.split():
            (key, number), kind = field.split(":")[0].split("="), field.split(":")[1]
            added = message.field.add(name=key, number=int(number))
            added.label = added.LABEL_REPEATED if kind.endswith("*") else added.LABEL_OPTIONAL
            kind = kind.rstrip("*")
            if kind in PUBLISHED:
                added.type, added.type_name = added.TYPE_MESSAGE, ".published." + kind
            else:
                added.type = getattr(added, "TYPE_" + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName("published.Trace")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(pool).GetPrototype(found)


@needs(descriptor_pb2, "no python3-protobuf here")
class Perfetto(ExportCase):
    def trace(self, *args, folder=None):
        data = self.export("perfetto", *args, folder=folder)
        trace = reader().FromString(data)
        trace.DiscardUnknownFields()
        self.assertEqual(trace.ByteSize(), len(data), "fields that are not published")
        return trace.packet

    def two_processes(self):
        return self.run_seep([sys.executable, "-c", JOB], ["--no-report", "--holders", "off"]).folder

    def test_the_clocks_stand_before_all_else(self):
        packets = self.trace()
        self.assertEqual({c.clock_id for c in packets[0].clock_snapshot.clocks}, {1, 3, 4, 6})
        start = packets[0].timestamp
        report = self.seep("report", self.leak, "--format", "json").json()
        self.assertAlmostEqual(start / 1e9, report["job"]["started_unix_s"], delta=0.001)
        for packet in packets:
            self.assertEqual(packet.trusted_packet_sequence_id, 1)
            self.assertLessEqual(start, packet.timestamp)
            self.assertLess(packet.timestamp - start, 600e9)

    def test_every_processs_memory_is_a_counter_over_time(self):
        folder = self.two_processes()
        packets = self.trace(folder=folder)
        tracks, values = {}, collections.defaultdict(list)
        for packet in packets:
            if packet.HasField("track_descriptor"):
                self.assertNotIn(packet.track_descriptor.uuid, tracks)
                tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            event = packet.track_event
            if packet.HasField("track_event"):
                self.assertIn(event.track_uuid, tracks, "described after it was used")
            if event.type == COUNTER:
                self.assertTrue(event.HasField("counter_value"), "0 is a value")
                self.assertEqual(tracks[event.track_uuid].counter.unit, BYTES)
                values[event.track_uuid].append(event.counter_value)
        report = self.seep("report", folder, "--series", "--format", "json").json()
        self.assertEqual(len(report["processes"]), 2)
        wanted = {}
        for process in report["processes"]:
            course = process["timeline"]
            wanted[process["pid"], "rss"] = course["rss_bytes"]
            for space, live in course["spaces"].items():
                wanted[process["pid"], "live " + space] = live["live_bytes"]
        said = {(tracks[tracks[uuid].parent_uuid].process.pid, tracks[uuid].name): list(v)
                for uuid, v in values.items() if tracks[uuid].HasField("parent_uuid")}
        self.assertEqual(said, wanted)

    def test_steps_are_marked_in_their_order(self):
        steps = [int(p.track_event.name[5:]) for p in self.trace()
                 if p.track_event.type == INSTANT and p.track_event.name.startswith("step ")]
        seen = self.seep("report", self.leak, "--series", "--format", "json").json()["timeline"]["step"]
        self.assertEqual(steps, sorted(set(seen) - {0}))
        self.assertGreater(len(steps), 0)

    def heap(self, packets):
        """[(pid, space, stack of titles, sample)], and that the profile is whole."""
        strings, frames, stacks, found = {}, {}, {}, []
        parts = [p.profile_packet for p in packets if p.HasField("profile_packet")]
        self.assertEqual([p.index for p in parts], list(range(len(parts))))
        self.assertEqual([p.continued for p in parts], [True] * (len(parts) - 1) + [False])
        for part in parts:
            strings.update({s.iid: s.str.decode() for s in part.strings})
            frames.update({f.iid: strings[f.function_name_id] for f in part.frames})
            stacks.update({s.iid: [frames[i] for i in s.frame_ids] for s in part.callstacks})
            for dump in part.process_dumps:
                found += [(dump.pid, dump.heap_name, stacks[s.callstack_id], s) for s in dump.samples]
        return found

    def test_sites_are_heap_profiles_of_their_processes(self):
        folder = self.two_processes()
        wanted = collections.Counter()
        for site in self.sites(folder):
            pids = site["processes"]
            wanted[pids[0] if len(pids) == 1 else SEVERAL, site["space"]] += VALUES["retained"](site)
        said = collections.Counter()
        for pid, space, _, sample in self.heap(self.trace(folder=folder)):
            said[pid, space] += sample.self_allocated - sample.self_freed
        self.assertEqual(+said, +wanted)
        self.assertIn(SEVERAL, {pid for pid, _ in said}, "sites of both")

    def test_every_measure_can_be_had(self):
        kept = lambda s: s.self_allocated - s.self_freed  # noqa: E731
        for measure, value in (("live", kept), ("allocated", lambda s: s.self_allocated), ("retained", kept),
                               ("peak", lambda s: s.self_max), ("growth", lambda s: s.self_max)):
            samples = [s for _, _, _, s in self.heap(self.trace("--measure", measure))]
            self.assertEqual(sum(map(value, samples)), sum(map(VALUES[measure], self.sites())), measure)

    def test_the_leaks_stack_begins_outermost(self):
        found = self.heap(self.trace())
        _, space, stack, _ = max(found, key=lambda f: f[3].self_allocated - f[3].self_freed)
        self.assertEqual(space, "host")
        names = [title.split(" (")[0] for title in stack]
        self.assertLess(names.index("main"), names.index("load"))

    @needs(shutil.which("protoc"), "no protoc here")
    def test_our_description_is_the_published_one(self):
        compiled = self.path("perfetto.set")
        done = self.command(["protoc", "-I", ROOT / "libprof/export", "--descriptor_set_out", compiled,
                             "perfetto.proto"])
        self.assertEqual(done.status, 0, repr(done))
        with open(compiled, "rb") as f:
            messages = list(descriptor_pb2.FileDescriptorSet.FromString(f.read()).file[0].message_type)
        for message in messages:  # those within others come behind
            messages.extend(message.nested_type)
        ours = {m.name: {(f.name, f.number) for f in m.field} for m in messages}
        published = {name: {(f.split("=")[0], int(f.split("=")[1].split(":")[0])) for f in fields.split()}
                     for name, fields in PUBLISHED.items()}
        self.assertEqual(ours, published)


if __name__ == "__main__":
    unittest.main()
