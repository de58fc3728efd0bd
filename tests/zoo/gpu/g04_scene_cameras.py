#
# A small splatting trainer: scene, cameras, gaussians, in the layout of the well-known repository.
#
import os
import random
import sys
from argparse import ArgumentParser

import torch
from torch import nn


def decode(uid, args):
    return torch.full((3, args.height, args.width), uid / args.images)


class LazyCamera(nn.Module):
    def __init__(self, uid, args):
        super(LazyCamera, self).__init__()
        self.uid, self.args = uid, args
        self.image_width, self.image_height = args.width, args.height

    @property
    def original_image(self):
        return decode(self.uid, self.args).clamp(0.0, 1.0)


class Camera(nn.Module):
    def __init__(self, uid, image, data_device):
        super(Camera, self).__init__()
        self.uid = uid
        self.data_device = torch.device(data_device)
        self.original_image = image.clamp(0.0, 1.0).to(self.data_device)  # LEAK HELD
        self.image_width = self.original_image.shape[2]
        self.image_height = self.original_image.shape[1]
        if data_device != "cpu":
            self.original_image *= torch.ones((1, self.image_height, self.image_width), device=self.data_device)


class Scene:
    def __init__(self, args):
        print("Loading Training Cameras")
        self.train_cameras = []
        for uid in range(args.images):
            camera = LazyCamera(uid, args) if args.lazy else Camera(uid, decode(uid, args), args.data_device)
            self.train_cameras.append(camera)

    def getTrainCameras(self):
        return self.train_cameras


class GaussianModel:
    def __init__(self, n, device):
        self._xyz = nn.Parameter(torch.rand(n, 3, device=device))
        self._color = nn.Parameter(torch.rand(n, 3, device=device))
        self.optimizer = torch.optim.Adam([{"params": [self._xyz], "lr": 1e-4, "name": "xyz"},
                                           {"params": [self._color], "lr": 1e-3, "name": "color"}])


def render(camera, gaussians):
    h, w = camera.image_height, camera.image_width
    mean = (gaussians._color * torch.sigmoid(gaussians._xyz)).mean(0)
    return mean.view(3, 1, 1).expand(3, h, w)


def training(args):
    scene = Scene(args)
    gaussians = GaussianModel(20000, args.device)
    viewpoint_stack = None
    for iteration in range(1, args.iterations + 1):
        if not viewpoint_stack:
            viewpoint_stack = scene.getTrainCameras().copy()
        viewpoint_cam = viewpoint_stack.pop(random.randint(0, len(viewpoint_stack) - 1))
        image = render(viewpoint_cam, gaussians)
        gt_image = viewpoint_cam.original_image.to(args.device)
        loss = (image - gt_image).abs().mean()
        loss.backward()
        with torch.no_grad():
            gaussians.optimizer.step()
            gaussians.optimizer.zero_grad(set_to_none=True)
    print("Training complete.", os.path.basename(sys.argv[0]))


if __name__ == "__main__":
    parser = ArgumentParser(description="Training script parameters")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--data_device", default="cuda")
    parser.add_argument("--lazy", action="store_true")
    parser.add_argument("--images", type=int, default=60)
    parser.add_argument("--height", type=int, default=270)
    parser.add_argument("--width", type=int, default=480)
    parser.add_argument("--iterations", type=int, default=240)
    random.seed(0)
    training(parser.parse_args(sys.argv[1:]))
