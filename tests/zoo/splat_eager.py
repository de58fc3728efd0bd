"""Gaussian splatting's cameras, fitted by a small renderer. Modelled on 3DGS's Scene: readColmapCameras and loadCam
make a Camera of every photograph, with its pixels as floats, before the first iteration (20 GB with 600 images).

leaky: scene.train_cameras owns all the images from the start.
fixed: cameras are made when used, from a list that is built anew when it has run empty: one image at a time.

usage: splat_eager.py leaky|fixed [--iterations N]"""
import argparse
import os
import random
import tempfile

import numpy as np
import torch
from PIL import Image

N_CAMERAS, WIDTH, HEIGHT, N_GAUSSIANS, FOCAL = 50, 320, 240, 24, 300.0


def write_photographs(root):
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH] / float(HEIGHT)
    for i in range(N_CAMERAS):
        waves = [np.sin(6 * u + 0.1 * i + k) * np.cos(5 * v - k) for k in range(3)]
        Image.fromarray(((np.stack(waves, 2) + 1) * 127).astype(np.uint8)).save(os.path.join(root, "%05d.jpg" % i))


class Camera(torch.nn.Module):
    def __init__(self, uid, image_path, data_device="cpu"):
        super().__init__()
        self.uid, self.image_name = uid, os.path.basename(image_path)
        with Image.open(image_path) as photograph:
            image = torch.from_numpy(np.array(photograph)).permute(2, 0, 1) / 255.0
        self.original_image = image.clamp(0.0, 1.0).to(data_device)  # LEAK
        self.image_height, self.image_width = self.original_image.shape[1:]
        self.camera_center = torch.tensor([0.02 * (uid - N_CAMERAS / 2), 0.0, -3.0])


class LazyLoader:
    """Makes its instance at the first look at it."""

    def __init__(self, cls, *args):
        self.cls, self.args, self.instance = cls, args, None

    def __getattr__(self, name):
        if self.instance is None:
            self.instance = self.cls(*self.args)
        return getattr(self.instance, name)


class Scene:
    def __init__(self, root, lazy):
        self.cam_infos = [(i, os.path.join(root, name)) for i, name in enumerate(sorted(os.listdir(root)))]
        self.train_cameras = None if lazy else [Camera(*info) for info in self.cam_infos]

    def getTrainCameras(self):
        if self.train_cameras is None:
            return [LazyLoader(Camera, *info) for info in self.cam_infos]
        return self.train_cameras.copy()


class GaussianModel:
    """Isotropic Gaussians: their footprint is a product of one over columns and one over rows."""

    def __init__(self, n):
        self.xyz = torch.nn.Parameter(torch.rand(n, 3) * torch.tensor([3.0, 2.0, 1.0]) - torch.tensor([1.5, 1.0, 0.5]))
        self.scaling = torch.nn.Parameter(torch.full((n,), -1.5))
        self.opacity = torch.nn.Parameter(torch.zeros(n))
        self.features = torch.nn.Parameter(torch.randn(n, 3) * 0.1)
        self.optimizer = torch.optim.Adam([self.xyz, self.scaling, self.opacity, self.features], lr=0.01, eps=1e-15)


def render(camera, pc, background):
    at = pc.xyz - camera.camera_center
    depth = at[:, 2].clamp(min=0.2)
    u, v = FOCAL * at[:, 0] / depth + camera.image_width / 2, FOCAL * at[:, 1] / depth + camera.image_height / 2
    spread = (FOCAL * pc.scaling.exp() / depth).square() + 0.3
    columns = torch.exp(-0.5 * (torch.arange(camera.image_width) - u[:, None]).square() / spread[:, None])
    rows = torch.exp(-0.5 * (torch.arange(camera.image_height) - v[:, None]).square() / spread[:, None])
    rows = rows * torch.sigmoid(pc.opacity)[:, None]
    colours = torch.sigmoid(pc.features)
    image = torch.stack([(rows * colours[:, c:c + 1]).t() @ columns for c in range(3)]) + background[:, None, None]
    return {"render": image, "radii": 3 * spread.detach().sqrt()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--iterations", type=int, default=160)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        write_photographs(root)
        scene = Scene(root, args.variant == "fixed")
        gaussians = GaussianModel(N_GAUSSIANS)
        background = torch.zeros(3)
        viewpoint_stack, ema_loss_for_log = None, 0.0
        for iteration in range(1, args.iterations + 1):
            if not viewpoint_stack:
                viewpoint_stack = scene.getTrainCameras()
            viewpoint_cam = viewpoint_stack.pop(random.randint(0, len(viewpoint_stack) - 1))
            render_pkg = render(viewpoint_cam, gaussians, background)
            image, radii = render_pkg["render"], render_pkg["radii"]
            gt_image = viewpoint_cam.original_image
            loss = (image - gt_image).abs().mean()
            loss.backward()
            ema_loss_for_log = 0.4 * loss.item() + 0.6 * ema_loss_for_log
            gaussians.optimizer.step()
            gaussians.optimizer.zero_grad(set_to_none=True)
            del viewpoint_cam, render_pkg, image, radii, gt_image, loss
    print("cameras %d iterations %d loss %.4f" % (N_CAMERAS, args.iterations, ema_loss_for_log))


if __name__ == "__main__":
    main()
