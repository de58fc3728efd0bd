"""Photographs loaded up front, the way Gaussian splatting does it: eager-retention on the tensor's line."""
import os
import pathlib
import re
import subprocess
import unittest

from tests.e2e.support import ROOT, SYSTEM_PYTHON, ZOO, SeepCase, has_module, job_env, marked_line, needs

SCENE = pathlib.Path(os.environ.get("SEEP_SCENE", str(ROOT.parent / "shared/data/colmap-scene")))
READY = has_module(SYSTEM_PYTHON, "torch", "PIL", "numpy")
SCRIPT = ZOO / "cameras.py"


@needs(READY, "needs torch and PIL")
class Cameras(SeepCase):
    def sizes(self, scene):
        script = ("import sys, os\nfrom PIL import Image\nfor n in sorted(os.listdir(sys.argv[1])):\n"
                  "    print(*Image.open(os.path.join(sys.argv[1], n)).size)\n")
        out = subprocess.run([SYSTEM_PYTHON, "-c", script, os.path.join(scene, "images")], stdout=subprocess.PIPE,
                             check=True, text=True, env=job_env()).stdout
        return [tuple(map(int, line.split())) for line in out.splitlines()]

    def check_eager(self, scene):
        sizes = self.sizes(scene)
        profile = self.run_seep([SYSTEM_PYTHON, str(SCRIPT), str(scene), "eager"], timeout=120)
        self.assertEqual(int(re.search(rb"cameras (\d+)", profile.done.stdout).group(1)), len(sizes))
        report = profile.written
        line = marked_line(SCRIPT, "KEPT: camera")
        hits = [f for f in report["findings"] if f["frame"].get("line") == line
                and os.path.basename(f["frame"].get("file") or "") == "cameras.py"]
        self.assertEqual([f["pattern"] for f in hits], ["eager-retention"], report["findings"])
        finding = hits[0]
        self.assertEqual(finding["count"], len(sizes))
        want = sum(3 * w * h * 4 for w, h in sizes)
        self.assertTrue(0.99 * want <= finding["live_bytes"] <= 1.01 * want, (finding["live_bytes"], want))
        self.assertEqual(report["findings"][0]["id"], finding["id"])
        self.assertEqual(report["job"]["steps"], 120)
        others = [f for f in report["findings"] if f is not finding and f["severity"] in ("leak", "retention")]
        self.assertFalse(others, "somebody else is accused")

    def check_lazy(self, scene):
        profile = self.run_seep([SYSTEM_PYTHON, str(SCRIPT), str(scene), "lazy"], timeout=120)
        self.assertEqual(profile.written["findings"], [])
        self.assertEqual(profile.written["job"]["steps"], 120)

    def synthetic(self):
        scene = self.path("scene")
        os.makedirs(os.path.join(scene, "images"))
        script = ("import sys\nimport numpy as np\nfrom PIL import Image\n"
                  "for i in range(17):\n"
                  "    y, x = np.mgrid[0:300 + i, 0:420]\n"
                  "    a = np.stack([x * (i + 1) // 5, y, x + y], 2).astype(np.uint8)\n"
                  "    Image.fromarray(a).save('%s/images/%02d.jpg' % (sys.argv[1], i), quality=85)\n")
        subprocess.run([SYSTEM_PYTHON, "-c", script, scene], check=True, env=job_env())
        return scene

    @needs(SCENE.exists(), "no COLMAP scene at %s" % SCENE)
    def test_a_real_scene_kept_up_front_is_eager_retention(self):
        self.check_eager(SCENE)

    @needs(SCENE.exists(), "no COLMAP scene at %s" % SCENE)
    def test_a_real_scene_loaded_camera_by_camera_is_not_accused(self):
        self.check_lazy(SCENE)

    def test_a_generated_scene_kept_up_front_is_eager_retention(self):
        self.check_eager(self.synthetic())

    def test_a_generated_scene_loaded_camera_by_camera_is_not_accused(self):
        self.check_lazy(self.synthetic())


if __name__ == "__main__":
    unittest.main()
