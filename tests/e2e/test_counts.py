"""Counts are exact to the byte, on programs that print what they did."""
import os
import pathlib
import re
import shutil
import unittest

from tests.e2e.support import SOURCES, WRAPPED, SeepCase, compile_c, functions, job_env, needs, sum_sites

KEYS = ("allocations", "frees", "allocated_bytes", "live_bytes")


class Counts(SeepCase):
    def profiled(self, subject, *args, **kw):
        profile = self.run_seep([self.subject(subject), *args], **kw)
        return profile, profile.done.json()

    def check(self, subject, *args, only=None, lines=True, **kw):
        """Holds each of the subject's functions against the sites below it."""
        profile, did = self.profiled(subject, *args, **kw)
        self.assertTrue(did, "the subject did nothing")
        report = profile.report
        for function, said in did.items():
            seen = sum_sites(report, function, said["space"])
            keys = only.get(function, KEYS) if only else KEYS
            self.assertEqual({k: seen[k] for k in keys}, {k: said[k] for k in keys},
                             "%s %s: %s" % (subject, " ".join(args), function))
            if not lines:
                continue
            for site in report["sites"]:
                for frame in site["stack"]:
                    if frame.get("function") == function:
                        self.assertEqual((os.path.basename(frame["file"]), frame["line"]),
                                         (subject + ".c", said["line"]), "the line a user would open")
        self.assertEqual(report["job"]["dropped_events"], 0)
        self.assertIs(report["job"]["complete"], True)
        self.totals_agree(report)
        return profile, did

    def totals_agree(self, report):
        """The sites of a space add up to the space, and its processes too."""
        for space, totals in report["spaces"].items():
            for key in KEYS:
                over_sites = sum(s[key] for s in report["sites"] if s["space"] == space)
                over_processes = sum(p["spaces"].get(space, {}).get(key, 0) for p in report["processes"])
                self.assertEqual(over_sites, totals[key], "sites of %s: %s" % (space, key))
                self.assertEqual(over_processes, totals[key], "processes' %s: %s" % (space, key))
            self.assertGreaterEqual(totals["peak_bytes"], totals["live_bytes"], space)


class HeapCounts(Counts):
    def test_malloc_and_free(self):
        self.check("counts_heap", "malloc")

    def test_calloc_counts_n_times_size_and_ignores_overflow(self):
        self.check("counts_heap", "calloc")

    def test_realloc_grows_shrinks_moves_fails_and_frees(self):
        self.check("counts_heap", "realloc")

    def test_reallocarray(self):
        self.check("counts_heap", "reallocarray")

    def test_aligned_blocks_count_the_bytes_asked_for(self):
        self.check("counts_heap", "aligned")

    def test_blocks_freed_with_their_size(self):
        """By C23's functions: the C library's where it has them, its free() where it has not, or an allocator's own."""
        own = compile_c(self, SOURCES / "lib/sized_free.c", self.path("sized.so"), "-fPIC", "-shared")
        for library in (None, own):
            profile, _ = self.check("counts_heap", "sized", env=job_env(LD_PRELOAD=library))
            self.assertLessEqual({"free_sized", "free_aligned_sized"}, set(profile.report["coverage"]["hooks"]))
            lines = profile.done.err.splitlines()
        self.assertEqual(lines, ["free_sized 100", "free_aligned_sized 64 640"] * 10)

    def test_blocks_that_libc_makes_for_the_caller(self):
        self.check("counts_heap", "libc", only={"subject_asprintf": ("live_bytes",),
                                                "subject_getline": ("live_bytes",)})

    def test_operator_new(self):
        self.check("counts_heap", "new")

    def test_blocks_of_size_zero(self):
        self.check("counts_heap", "zero")

    def test_failed_allocations_are_not_counted(self):
        self.check("counts_heap", "failure")

    def test_realloc_storm(self):
        self.check("counts_heap", "storm", "500000")

    def test_a_million_events(self):
        self.check("counts_heap", "events", "1000000")

    def test_peak_of_a_site_and_of_its_space(self):
        profile, _ = self.check("counts_heap", "peak")
        ten = 10 << 20
        peaks = [s["peak_bytes"] for s in profile.report["sites"] if "subject_malloc" in functions(s)]
        # Two loops make the blocks: the compiler may give each a call of its own, a site of its own.
        self.assertEqual(max(peaks), ten)
        host = profile.report["spaces"]["host"]["peak_bytes"]
        self.assertTrue(ten <= host < ten + (1 << 20), host)

    def test_nothing_is_counted_twice_or_besides(self):
        """The whole process: a run that does more counts exactly that much more than one that does less."""
        none, _ = self.profiled("counts_heap", "none")
        some, did = self.profiled("counts_heap", "events", "30000")
        said = did["subject_malloc"]
        before = none.report["spaces"].get("host", dict.fromkeys(KEYS, 0))
        for key in KEYS:
            self.assertEqual(some.report["spaces"]["host"][key] - before[key], said[key], key)
        self.assertNotIn("shm", none.report["spaces"], "a space that the job did not touch is left out")

    def test_no_frame_of_seep_itself_in_a_stack(self):
        profile, _ = self.profiled("counts_heap", "malloc")
        for site in profile.report["sites"]:
            for frame in site["stack"]:
                self.assertNotIn("libseep", frame.get("module") or "", site)
                self.assertFalse((frame.get("function") or "").startswith("seep_"), site)

    def test_stack_reaches_main(self):
        profile, _ = self.profiled("counts_heap", "malloc")
        stacks = [functions(s) for s in profile.report["sites"] if "subject_malloc" in functions(s)]
        self.assertTrue(stacks)
        for names in stacks:
            self.assertEqual(names[0], "subject_malloc", "the innermost frame is the caller of malloc")
            self.assertIn("main", names)

    def test_same_counts_without_the_launcher(self):
        from tests.e2e.support import SHIM, job_env
        folder = self.fresh()
        done = self.command([self.subject("counts_heap"), "events", "20000"],
                            env=job_env(LD_PRELOAD=SHIM, SEEP_OUT=folder))
        self.assertEqual(done.status, 0, repr(done))
        report = self.report(folder, "--all")
        said = done.json()["subject_malloc"]
        self.assertEqual(sum_sites(report, "subject_malloc"), {k: said[k] for k in KEYS})


class MapCounts(Counts):
    def test_anonymous_maps(self):
        self.check("counts_maps", "anonymous")

    def test_private_file_maps(self):
        self.check("counts_maps", "file")

    def test_partial_unmaps_leave_the_rest_live(self):
        self.check("counts_maps", "partial", only={"subject_map": ("allocations", "allocated_bytes", "live_bytes")})

    def test_an_unmap_across_several_maps(self):
        self.check("counts_maps", "across")

    def test_fixed_maps_replace_what_was_there(self):
        self.check("counts_maps", "fixed", only={"subject_map": ("allocations", "allocated_bytes", "live_bytes")})

    def test_mremap_grows_and_moves(self):
        self.check("counts_maps", "mremap",
                   only={"subject_map64": ("allocations", "allocated_bytes", "live_bytes")})

    def test_mremap_shrinks(self):
        profile, did = self.profiled("counts_maps", "shrink")
        live = did["subject_map"]["live_bytes"]
        self.assertEqual(sum(s["live_bytes"] for s in profile.report["sites"] if s["space"] == "mmap"), live)
        self.assertEqual(profile.report["spaces"]["mmap"]["live_bytes"], live)

    def test_maps_of_odd_pieces(self):
        self.check("counts_maps", "pieces")

    def test_named_segments_of_shared_memory_outlive_their_maps(self):
        name = "seep-subject-%d" % os.getpid()
        for i in range(6):
            self.addCleanup(pathlib.Path("/dev/shm", "%s-%d" % (name, i)).unlink, missing_ok=True)
        self.check("counts_maps", "named", name)

    def test_shared_maps_are_a_space_of_their_own(self):
        profile, _ = self.check("counts_maps", "shared")
        self.assertFalse([s for s in profile.report["sites"]
                          if s["space"] == "mmap" and "subject_map_shared" in functions(s)])

    def test_a_shared_map_of_a_disks_file_is_no_memory(self):
        folder = self.dir
        if self.command(["stat", "-f", "-c", "%T", folder]).stdout.strip() in (b"tmpfs", b"ramfs"):
            self.skipTest("%s is no disk" % folder)
        profile, did = self.check("counts_maps", "disk", folder)
        for key in ("allocations", "allocated_bytes", "live_bytes"):
            self.assertEqual(profile.report["spaces"]["shm"][key], did["subject_map_shared"][key])

    def test_many_maps(self):
        self.check("counts_maps", "many")


class MemoryCounts(Counts):
    """What of the address space is memory, and so is counted."""

    def test_address_space_is_not_counted_before_it_may_be_used(self):
        profile, _ = self.check("counts_memory", "reserved")
        self.assertLess(profile.report["spaces"]["mmap"]["peak_bytes"], 2 << 20, "256 GiB were reserved")

    def test_maps_without_reserve_count_by_what_is_touched(self):
        self.check("counts_memory", "untouched")

    def test_what_counts_by_touch_is_what_is_resident_at_the_end(self):
        profile, did = self.profiled("counts_memory", "touched")
        if "rss" not in profile.report["coverage"]:
            self.skipTest("this version does not look at resident memory")
        for function, said in did.items():
            seen = sum_sites(profile.report, function, "mmap")
            for key in ("allocations", "frees", "live_bytes"):
                self.assertEqual(seen[key], said[key], "%s %s" % (function, key))

    def test_what_counts_by_touch_has_nothing_of_what_lies_beside_it(self):
        self.check("counts_memory", "beside", only=dict.fromkeys(("subject_map_lazily", "subject_map_beside"), ("live_bytes",)))

    def test_pages_given_back_are_no_longer_counted(self):
        self.check("counts_memory", "given-back")

    def test_shared_pages_stay_in_their_file_but_when_they_are_removed(self):
        self.check("counts_memory", "shared")

    def test_system_v_segments_are_shared_memory(self):
        self.check("counts_memory", "segments")

    def test_the_end_of_the_heap_as_the_job_moves_it(self):
        self.check("counts_memory", "heap-end")

    def test_calls_by_number_count_as_those_by_name(self):
        self.check("counts_memory", "by-number")

    def test_calls_by_number_are_the_kernels(self):
        profile = self.run_seep([self.subject("counts_memory"), "passed-on"])
        self.assertEqual(profile.done.json(), {})

    def test_mremap_takes_its_hint_and_may_leave_the_old_addresses_mapped(self):
        self.check("counts_memory", "dontunmap")

    def test_sixty_thousand_live_maps(self):
        self.check("counts_memory", "crowd")

    def test_a_handler_may_jump_out_of_mmap_and_munmap(self):
        self.check("counts_memory", "jumps")


class AnnouncedCounts(Counts):
    """Blocks that an allocator of the job's own announces through seep.h."""

    def test_tensors_at_the_addresses_of_their_segment_and_of_the_heap(self):
        profile, _ = self.check("counts_announced", "overlap")
        self.assertEqual(profile.report["spaces"]["pool"]["live_bytes"], 0)
        self.assertEqual(profile.report["spaces"]["pool"]["allocated_bytes"], 1000)

    def test_no_block_no_name_and_spaces_that_are_seen_anyway(self):
        profile, _ = self.check("counts_announced", "refused")
        self.assertEqual([s for s in profile.report["spaces"] if s not in ("host", "mmap", "shm")], ["device:0"])
        self.assertEqual(profile.report["spaces"]["device:0"]["allocations"], 1)

    def test_an_address_announced_again_replaces_its_block(self):
        self.check("counts_announced", "again")

    def test_a_forked_childs_blocks_lie_in_the_same_spaces(self):
        profile, _ = self.profiled("counts_announced", "forked")
        parent, child = (p["spaces"] for p in profile.report["processes"])
        self.assertEqual((parent["device:0"]["live_bytes"], child["device:0"]["live_bytes"]), (4096, 8192))
        self.assertEqual(child["device:1"]["live_bytes"], 16384)

    def test_more_names_than_spaces_leave_the_rest_out(self):
        profile, _ = self.profiled("counts_announced", "crowd")
        pools = [s for s in profile.report["spaces"] if s.startswith("pool-")]
        self.assertTrue(20 <= len(pools) < 32, pools)
        self.assertTrue(all(profile.report["spaces"][s]["live_bytes"] == 64 for s in pools))
        self.assertEqual(profile.report["job"]["dropped_events"], 100 - len(pools))
        self.assertIn("more spaces", " ".join(profile.report["coverage"]["not_seen"]))


class ThreadCounts(Counts):
    def test_threads_that_free_each_others_blocks(self):
        self.check("counts_threads", "cross")

    def test_two_thousand_short_threads(self):
        self.check("counts_threads", "churn")

    def test_eight_threads_a_million_events(self):
        self.check("counts_threads", "storm")

    def test_peak_of_a_site_that_many_threads_share_covers_what_lives(self):
        profile, _ = self.profiled("counts_threads", "cross")
        for site in profile.report["sites"]:
            self.assertLessEqual(site["live_bytes"], site["peak_bytes"], site)

    def test_more_threads_than_counters_is_said_or_exact(self):
        profile, did = self.profiled("counts_threads", "crowd")
        said, seen = did["thread_malloc"], sum_sites(profile.report, "thread_malloc", "host")
        missing = sum(said[k] - seen[k] for k in ("allocations", "frees"))
        dropped = profile.report["job"]["dropped_events"]
        self.assertTrue(missing == 0 or dropped > 0, "%s events missing, %s said to be dropped" % (missing, dropped))
        self.assertLessEqual(seen["frees"], seen["allocations"])
        self.assertLess(seen["live_bytes"], WRAPPED)


@needs(shutil.which("heaptrack"), "heaptrack is not installed")
class AgainstHeaptrack(Counts):
    def heaptrack(self, *argv):
        """Allocations, and how many of them were still there at the end."""
        stem = self.path("ht%d" % len(os.listdir(self.dir)))
        done = self.command(["heaptrack", "-o", stem, *argv], timeout=120)
        self.assertEqual(done.status, 0, repr(done))
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        made = re.search(r"^\s*allocations:\s+(\d+)", said, re.M)
        left = re.search(r"^\s*leaked allocations:\s+(\d+)", said, re.M)
        if made is None or left is None:
            self.skipTest("this heaptrack does not print its totals")
        return int(made.group(1)), int(left.group(1))

    def test_as_many_allocations_and_live_blocks_as_heaptrack_sees(self):
        subject = self.subject("counts_heap")
        few, many = "20000", "220000"
        made, left = {}, {}
        for n in (few, many):
            profile, did = self.profiled("counts_heap", "common", n)
            host = profile.report["spaces"]["host"]
            made[n], left[n] = host["allocations"], host["allocations"] - host["frees"]
            said = sum(x["allocations"] for x in did.values())
            self.assertEqual(sum(sum_sites(profile.report, f)["allocations"] for f in did), said)
        made_few, left_few = self.heaptrack(subject, "common", few)
        made_many, left_many = self.heaptrack(subject, "common", many)
        self.assertEqual(made[many] - made[few], made_many - made_few)
        self.assertEqual(left[many] - left[few], left_many - left_few)


if __name__ == "__main__":
    unittest.main()
