import argparse
import warnings

import torch
import torch.nn as nn

warnings.filterwarnings("ignore", category=FutureWarning)
torch.backends.cudnn.enabled = False


def get_model():
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 100))


class AverageMeter(object):
    def __init__(self):
        self.sum = self.count = 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n


def train(args):
    model = get_model().cuda()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True)
    scaler = torch.cuda.amp.GradScaler(growth_interval=20)
    losses = AverageMeter()
    optimizer.zero_grad()
    for i in range(args.steps):
        images = torch.rand(8, 3, 40, 40).cuda(non_blocking=True)
        target = torch.randint(100, (8,)).cuda(non_blocking=True)
        with torch.cuda.amp.autocast():
            loss = criterion(model(images), target) / args.accumulate
        scaler.scale(loss).backward()
        if (i + 1) % args.accumulate == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        losses.update(loss.item(), images.size(0))
    print("images", losses.count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--accumulate", type=int, default=2)
    train(parser.parse_args())
