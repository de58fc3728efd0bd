"""Mask R-CNN fine-tuned on one's own annotations. Modelled on the complaint of a user of torchvision's
maskrcnn_resnet50_fpn whose memory rose throughout the first epoch: __getitem__ returns the data set's own annotation
dict, and the collate function writes the mask tensors that it has made into it.

leaky: the data set comes to own the masks of every image it has handed out.
fixed: __getitem__ returns a shallow copy of the dict.

usage: maskrcnn_masks.py leaky|fixed [--epochs N] [--images N]"""
import argparse
import copy
import os
import tempfile

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch.utils.data import DataLoader, Dataset
from torchvision.models.detection import maskrcnn_resnet50_fpn
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor

WIDTH, HEIGHT, NET_SIDE, N_CLASSES = 640, 480, 32, 3


def write_masks(root, n_images):
    """One PNG an instance, as annotation tools export them; 2 to 4 instances an image."""
    annotations = {}
    rng = np.random.RandomState(0)
    for i in range(n_images):
        boxes, masks = [], []
        for k in range(2 + i % 3):
            x0, y0 = rng.randint(0, WIDTH // 2), rng.randint(0, HEIGHT // 2)
            boxes.append([x0, y0, x0 + WIDTH // 3, y0 + HEIGHT // 3])
            mask = Image.new("L", (WIDTH, HEIGHT))
            ImageDraw.Draw(mask).ellipse(boxes[-1], fill=255)
            masks.append(os.path.join(root, "%06d_%d.png" % (i, k)))
            mask.save(masks[-1], compress_level=1)
        annotations["%06d.jpg" % i] = {"boxes": boxes, "labels": [1 + k % 2 for k in range(len(boxes))],
                                       "mask_files": masks}
    return annotations


class Instances(Dataset):
    def __init__(self, anns, shallow):
        self.anns, self.shallow = anns, shallow
        self.img_list = sorted(anns)

    def __len__(self):
        return len(self.img_list)

    def __getitem__(self, item):
        img_name = self.img_list[item]
        img = np.full((NET_SIDE * HEIGHT // WIDTH, NET_SIDE, 3), item % 251, dtype=np.uint8)
        return img, copy.copy(self.anns[img_name]) if self.shallow else self.anns[img_name]


def collate_fn(datas):
    imgs, targets = [], []
    for img, target in datas:
        imgs.append(torch.from_numpy(img).permute(2, 0, 1).float() / 255)
        target["boxes"] = torch.as_tensor(target["boxes"], dtype=torch.float)
        target["labels"] = torch.as_tensor(target["labels"], dtype=torch.int64)
        masks = [np.asarray(Image.open(name)) for name in target["mask_files"]]
        masks = np.stack(masks, axis=0)
        masks = masks / 255
        masks = masks.astype(np.uint8)  # LEAK
        target["masks"] = torch.from_numpy(masks)
        targets.append(target)
    return imgs, targets


def small_maskrcnn():
    """The real one, its proposals few and its heads narrow; the backbone is frozen."""
    model = maskrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=N_CLASSES, min_size=24, max_size=32,
                                  rpn_pre_nms_top_n_train=30, rpn_post_nms_top_n_train=8, rpn_batch_size_per_image=16,
                                  box_batch_size_per_image=8, box_head=TwoMLPHead(256 * 7 * 7, 32),
                                  mask_head=MaskRCNNHeads(256, (16,), 1))
    model.roi_heads.box_predictor = FastRCNNPredictor(32, N_CLASSES)
    model.roi_heads.mask_predictor = MaskRCNNPredictor(16, 16, N_CLASSES)
    for parameter in model.backbone.parameters():
        parameter.requires_grad_(False)
    model.backbone.eval()
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--images", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        dataset = Instances(write_masks(root, args.images), args.variant == "fixed")
        loader = DataLoader(dataset, batch_size=2, shuffle=True, collate_fn=collate_fn)
        model = small_maskrcnn()
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.SGD(trained, lr=0.0005, momentum=0.9)
        for epoch in range(args.epochs):
            for imgs, targets in loader:
                loss = sum(model(imgs, targets).values())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)


if __name__ == "__main__":
    main()
