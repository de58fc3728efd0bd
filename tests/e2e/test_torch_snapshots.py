"""PyTorch's memory snapshots, of each version's layout, as every command takes them."""
import base64
import gzip
import json
import os
import pickle
import unittest

from tests import torch_snapshots as made, torch_versions
from tests.e2e.support import SeepCase, said_of

MIB = 1 << 20


class Calls:
    """A pickle of it would call something."""

    def __reduce__(self):
        return os.system, ("touch /tmp/seep-was-here",)


class TorchSnapshots(SeepCase):
    def file(self, name, snapshot, protocol=4, folder=None):
        path = os.path.join(folder or self.fresh(), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = snapshot if isinstance(snapshot, bytes) else pickle.dumps(snapshot, protocol=protocol)
        with (gzip.open if name.endswith(".gz") else open)(path, "wb") as f:
            f.write(data)
        return path

    def of_line(self, report, line):
        return [f for f in report["findings"] if f["frame"] and f["frame"]["line"] == line]

    def assert_found(self, report, rate=MIB):
        self.assertEqual(len(self.of_line(report, 30)), 1, report["findings"])
        found = self.of_line(report, 30)[0]
        self.assertEqual(found["pattern"], "unbounded-growth")
        self.assertAlmostEqual(found["growth_bytes_per_step"]["value"], rate, delta=rate / 100)

    def test_each_version_with_a_history_is_judged(self):
        for torch in made.VERSIONS[1:]:
            with self.subTest(torch=torch):
                report = self.report(self.file("s.pickle", made.of_version(torch)))
                self.assertEqual((report["job"]["steps"], report["job"]["step_source"]), (30, "optimizer"))
                self.assert_found(report)

    def test_what_is_live_is_the_same_to_the_byte(self):
        for torch in made.VERSIONS:
            with self.subTest(torch=torch):
                allocator = made.Allocator(torch)
                made.train(allocator, 5)
                report = self.report(self.file("s.pickle", made.snapshot(allocator)))
                asked = sum(size for size, _, _ in allocator.live.values())
                self.assertEqual(report["spaces"]["tensor:0"]["live_bytes"], asked)
                self.assertEqual(report["spaces"]["device:0"]["live_bytes"],
                                 sum(s["total_size"] for s in allocator.segments()))

    def test_a_made_up_snapshot_has_all_keys_of_its_version_and_no_others(self):
        def without_words(rows):
            return {(place, what, type_.rstrip("?")) for place, what, type_ in rows if type_ != "word"}

        for torch in made.VERSIONS:
            with self.subTest(torch=torch):
                device, host = made.Allocator(torch), made.Allocator(torch)
                made.train(device, 2)
                made.train(host, 2)
                device.event("oom", MIB, MIB, made.STEP)
                whole = made.snapshot(device, host=host, marks=[device.mark("START", "a step")])
                self.assertEqual(without_words(torch_versions.rows_in([whole])), without_words(torch_versions.rows_of(torch)))

    def test_what_a_version_writes_that_the_table_does_not_have_is_told(self):
        allocator = made.Allocator("2.2")
        made.train(allocator, 2)
        whole = made.snapshot(allocator)
        whole["device_traces"][0][0]["colour"] = "blue"
        told = "\n".join(torch_versions.differences("2.2", [whole]))
        self.assertIn("event.colour (str?) is not in the table", told)
        self.assertIn("the table has action.oom (word), which is not written", told)

    def test_each_protocol_and_packing_is_read(self):
        for protocol, name in ((2, "s.pkl"), (3, "s.pickle"), (4, "memory"), (5, "s.pickle.gz")):
            with self.subTest(protocol=protocol):
                self.assert_found(self.report(self.file(name, made.of_version("2.15"), protocol)))

    def test_a_healthy_training_is_not_accused(self):
        report = self.report(self.file("s.pickle", made.of_version("2.15", kept=0)))
        self.assertEqual([f for f in report["findings"] if f["severity"] in ("leak", "retention")], [])

    def test_a_ring_buffer_says_what_it_lost(self):
        allocator = made.Allocator("2.15")
        made.train(allocator, 60)
        report = self.report(self.file("s.pickle", made.snapshot(allocator, entries=1000)))
        self.assert_found(report)
        self.assertLess(report["job"]["steps"], 40)
        self.assertEqual(report["spaces"]["tensor:0"]["live_bytes"], sum(size for size, _, _ in allocator.live.values()))
        self.assertIn("_record_memory_history", said_of(report))

    def ring(self, before, kept=MIB, freed=0, lost=0):
        """A history of the last three steps, of a training of `before` steps more; `freed` of the older blocks go in it, and
        `lost` is how much of the three is not in it."""
        allocator = made.Allocator("2.15")
        made.train(allocator, before, kept)
        recorded = len(allocator.events)
        for addr in [addr for addr, its in allocator.live.items() if its[2] == made.KEPT][:freed]:
            allocator.free(addr, [])
        made.train(allocator, 3, kept, parameters=0)
        entries = len(allocator.events) - recorded - lost
        return self.report(self.file("ring.pickle", made.snapshot(allocator, entries=entries)))

    def test_the_pace_of_three_steps_tells_how_old_the_rest_is(self):
        report = self.ring(60)
        found = self.of_line(report, 30)[0]
        self.assertEqual((report["job"]["steps"], found["pattern"], found["severity"]), (63, "undetermined", "pressure"))
        self.assertAlmostEqual(found["growth_bytes_per_step"]["value"], MIB, delta=MIB / 100)
        self.assertIn("in 60 steps before", said_of(report))

    def test_a_full_queue_of_sizes_that_vary_is_no_growth(self):
        a, queue = made.Allocator("2.15"), []
        for step in range(60):
            if len(queue) == 40:
                a.free(queue.pop(0), [])
            recorded = len(a.events) if step == 57 else recorded if step > 57 else 0
            queue.append(a.alloc(MIB + step % 7 * 50_000, made.KEPT))
            made.train(a, 1, kept=0, parameters=0)
        report = self.report(self.file("queue.pickle", made.snapshot(a, entries=len(a.events) - recorded)))
        self.assertLess(report["job"]["steps"], 4)

    def test_a_history_may_begin_within_a_step(self):
        report = self.ring(60, lost=20)  # the block that the first step keeps is older than the history
        self.assertEqual(report["job"]["steps"], 64)
        self.assertAlmostEqual(self.of_line(report, 30)[0]["growth_bytes_per_step"]["value"], MIB, delta=MIB / 50)

    def test_the_pace_tells_nothing_of_few_blocks_or_of_those_that_go(self):
        for before, kept, freed, steps in ((8, MIB, 0, 11), (7, MIB, 0, 3), (60, MIB, 1, 3), (60, 0, 0, 3)):
            with self.subTest(before=before, kept=kept, freed=freed):
                report = self.ring(before, kept, freed)
                self.assertEqual(report["job"]["steps"], steps)
                self.assertEqual([f for f in report["findings"] if f["severity"] in ("leak", "retention")], [])

    def test_marks_of_the_profiler_are_steps(self):
        allocator = made.Allocator("2.15")
        marks = []
        for i in range(12):
            marks.append(allocator.mark("START", "ProfilerStep#%d" % i))
            made.train(allocator, 1)
            made.train(allocator, 1, kept=0)
            marks.append(allocator.mark("END", "ProfilerStep#%d" % i))
        report = self.report(self.file("s.pickle", made.snapshot(allocator, marks=marks)))
        self.assertEqual((report["job"]["steps"], report["job"]["step_source"]), (12, "api"))

    def test_pinned_memory_is_there(self):
        host, device = made.Allocator("2.15"), made.Allocator("2.15")
        host.device = -1
        made.train(device, 3)
        host.alloc(5 * MIB, made.STEP)
        report = self.report(self.file("s.pickle", made.snapshot(device, host=host)))
        self.assertEqual(report["spaces"]["pinned"]["live_bytes"], 64 * MIB)

    def test_an_out_of_memory_is_one(self):
        allocator = made.Allocator("2.15")
        made.train(allocator, 30)
        allocator.event("oom", 3 * MIB, 512 * MIB, made.FORWARD)
        path = self.file("s.pickle", made.snapshot(allocator))
        report = self.report(path)
        found = [f for f in report["findings"] if f["pattern"] == "out-of-memory"]
        self.assertEqual(len(found), 1)
        self.assertEqual(report["out_of_memory"][0]["asked_bytes"], 512 * MIB)
        self.assertEqual({layout["reason"] for layout in report["layouts"]}, {"peak", "failed"})
        self.assertEqual(self.seep("check", path).status, 1)

    def test_a_folder_of_them_is_a_job_of_ranks(self):
        folder = self.fresh()
        for rank in range(8, 12):
            self.file("rank%d_snapshot.pickle" % rank, made.of_version("2.8", kept=8 * MIB if rank == 10 else MIB),
                      folder=folder)
        report = self.report(folder)
        self.assertEqual({p["pid"]: p["rank"] for p in report["processes"]}, {1: 8, 2: 9, 3: 10, 4: 11})
        self.assertEqual({p["role"] for p in report["processes"]}, {"rank"})
        self.assertEqual(report["job"]["torch_snapshots"], 4)
        self.assert_found(report, 11 * MIB)
        text = self.seep("report", folder).stdout.decode()
        self.assertIn("4 with steps\n", text)
        self.assertIn("4 memory snapshots", text)

    def test_a_process_without_a_gpu_is_nothing_among_others(self):
        folder, empty = self.fresh(), {"segments": [], "device_traces": [[], []], "external_annotations": []}
        self.file("rank0.pickle", empty, folder=folder)
        done = self.seep("report", folder)
        self.assertEqual(done.status, 2)
        self.assertIn("an empty memory snapshot", done.err)
        self.file("rank1.pickle", made.of_version("2.15"), folder=folder)
        report = self.report(folder)
        self.assert_found(report)
        self.assertEqual((report["job"]["torch_snapshots"], report["job"]["complete"]), (1, True))

    def test_a_page_of_memory_viz_is_a_snapshot(self):
        data = pickle.dumps(made.of_version("2.15"))
        data += b"\0" * (3 - len(data) % 3)
        listed = json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(data).decode()}])
        page = "\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\nconst local_files = %s\n" % listed
        for name, text in (("plot.html", page), ("plot.json", listed), ("cut.html", page[:len(page) * 9 // 10])):
            with self.subTest(name=name):
                self.assert_found(self.report(self.file(name, text.encode())))

    def test_a_file_that_ends_early_is_read_as_far_as_it_goes(self):
        data = pickle.dumps(made.of_version("2.15"), protocol=4)
        report = self.report(self.file("s.pickle", data[:len(data) * 9 // 10]))
        self.assert_found(report)
        self.assertIn("ends early", said_of(report))
        packed = gzip.compress(data)
        self.assert_found(self.report(self.file("t.pickle", packed[:len(packed) * 9 // 10])))

    def test_the_other_commands_take_it(self):
        leaks = self.file("leaks.pickle", made.of_version("2.15"))
        fixed = self.file("fixed.pickle", made.of_version("2.15", kept=0))
        digest, page = self.fresh() + ".digest", self.fresh() + ".html"
        for argv, status, says in ((("check", leaks), 1, "train.py:30"), (("check", fixed), 0, "holds"),
                                   (("verify", leaks, fixed), 0, "fixed"), (("diff", fixed, leaks), 0, "train.py:30"),
                                   (("digest", leaks, "-o", digest), 0, ""), (("report", digest), 0, "train.py:30"),
                                   (("export", leaks, "--format", "collapsed", "--tensors"), 0, "remember"),
                                   (("view", leaks, "-o", page), 0, "")):
            with self.subTest(argv=argv[0]):
                done = self.seep(*argv)
                self.assertEqual((done.status, done.err), (status, ""), repr(done))
                self.assertIn(says, done.stdout.decode())

    def test_a_table_that_was_there_from_the_start_is_not_accused(self):
        """Nothing tells whether its blocks were copied to the GPU or made there: operators have no names."""
        a = made.Allocator("2.15")
        for _ in range(60):
            a.alloc(4 * made.MIB, [made.frame("/job/bank.py", 7, "fill")] + made.MAIN)
        made.train(a, 30, kept=0)
        findings = self.report(self.file("bank.pickle", made.snapshot(a)))["findings"]
        self.assertEqual([f for f in findings if f["severity"] in ("leak", "retention")], [])

    def test_a_hostile_one_is_one_line_and_calls_nothing(self):
        for name, data in (("calls", pickle.dumps({"segments": [], "x": Calls()}, protocol=4)),
                           ("calls-2", pickle.dumps({"segments": [], "x": Calls()}, protocol=2)),
                           ("empty", pickle.dumps({"segments": [], "device_traces": []})),
                           ("noise", b"\x80\x04segments" + bytes(range(256)) * 9),
                           ("unfinished", b"\x80\x04segments")):
            with self.subTest(name=name):
                done = self.seep("report", self.file(name + ".pickle", data))
                self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
                self.one_line_error(done)
        self.assertFalse(os.path.exists("/tmp/seep-was-here"))

    def test_text_says_where_it_is_from(self):
        text = self.seep("report", self.file("s.pickle", made.of_version("2.15"))).stdout.decode()
        self.assertIn("its snapshot does not say how it ended", text)
        self.assertNotIn("RSS", text)
        self.assertNotIn("\ncommand", text)

    def test_settings_are_tried_on_the_recorded_requests(self):
        """Each step's batch is larger than what is free, so the driver gives another segment for it."""
        a, sizes = made.Allocator("2.15"), [(12 + 2 * i) * MIB for i in range(30)]
        small, at = made.BASE, made.BASE + (1 << 36)
        a.event("segment_alloc", small, 2 * MIB, made.FORWARD)
        for size in sizes:
            a.event("segment_alloc", at, size, made.FORWARD)
            a.event("alloc", at, size - 100, made.FORWARD)
            for frames in (made.BACKWARD, made.OPTIMIZER):
                a.event("alloc", small, 4, frames)
                a.event("free_completed", small, 4, frames)
            a.event("free_completed", at, size - 100, made.FORWARD)
            at += size
        segments = [(small, 2 * MIB, "small")] + [(at - sum(sizes[i:]), sizes[i], "large") for i in range(30)]
        snapshot = made.snapshot(a)
        snapshot["segments"] = [
            {"device": 0, "address": start, "total_size": size, "allocated_size": 0, "active_size": 0, "requested_size": 0,
             "stream": 0, "segment_type": kind, "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
             "blocks": [{"address": start, "size": size, "requested_size": 0, "state": "inactive", "frames": []}]}
            for start, size, kind in segments]
        report = self.report(self.file("growing.pickle", snapshot))
        tried = {t["change"]: t["peak_bytes"] for t in report["what_if"]}
        self.assertEqual(tried[""], report["spaces"]["device:0"]["peak_bytes"])
        self.assertEqual(tried[""], sum(sizes) + 2 * MIB)
        self.assertEqual(tried["expandable_segments:True"], 82 * MIB)  # 70 in pages of 20
        found = [f for f in report["findings"] if f["pattern"] == "allocator-cache"]
        self.assertEqual(len(found), 1, report["findings"])
        self.assertIn("with expandable_segments:True PyTorch would have reserved at most 82.0 MiB", str(found[0]["evidence"]))

    def test_a_private_pool_from_before_the_history_is_one(self):
        """What a graph's pool had is given back after the history began; then the pool of all takes as much."""
        a, private, common = made.Allocator("2.15"), made.BASE, made.BASE + (1 << 36)
        a.event("segment_free", private, 40 * MIB, made.FORWARD)
        a.events[-1]["pool_id"] = (1, 0)
        for i in range(20):
            a.event("segment_alloc", common + i * (64 * MIB), (12 + 2 * i) * MIB, made.FORWARD)
            a.event("alloc", common + i * (64 * MIB), (12 + 2 * i) * MIB, made.FORWARD)
            a.event("free_completed", common + i * (64 * MIB), (12 + 2 * i) * MIB, made.FORWARD)
        snapshot = made.snapshot(a)
        snapshot["segments"] = [
            {"device": 0, "address": common + i * (64 * MIB), "total_size": (12 + 2 * i) * MIB, "stream": 0,
             "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": []}
            for i in range(20)]
        first = self.report(self.file("private.pickle", snapshot))["what_if"][0]
        self.assertEqual((first["change"], first["private_bytes"]), ("", 0))
        self.assertEqual(first["peak_bytes"], sum((12 + 2 * i) * MIB for i in range(20)))

    def test_what_another_allocator_did_is_not_tried_again(self):
        """These segments are larger than PyTorch's own would have been."""
        report = self.report(self.file("s.pickle", made.of_version("2.15")))
        self.assertEqual(report["what_if"], [])


if __name__ == "__main__":
    unittest.main()
