"""The training loop of timm's users, with its model, Mixup, optimizer, schedule and averaged weights: leaky gives the
loss itself to AverageMeter, whose sum so keeps the graph of every batch."""
import argparse

import timm
import timm.data
import timm.loss
import timm.optim
import timm.scheduler
import timm.utils
import torch


def train_epoch(variant, epoch, model, loader, optimizer, scheduler, loss_of, mixup, averaged):
    losses = timm.utils.AverageMeter()
    model.train()
    for i, (images, labels) in enumerate(loader):
        images, labels = mixup(images, labels)
        output = model(images)  # LEAK
        loss = loss_of(output, labels)  # LEAK
        losses.update(loss if variant == "leaky" else loss.item(), images.size(0))  # LEAK
        optimizer.zero_grad()
        loss.backward()
        timm.utils.dispatch_clip_grad(model.parameters(), 1.0)
        optimizer.step()
        averaged.update(model)
        scheduler.step_update(epoch * len(loader) + i, metric=losses.avg)
    scheduler.step(epoch + 1)
    return losses.avg


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--images", type=int, default=640)
    args = parser.parse_args()
    torch.manual_seed(0)
    # healthy is another network, whose normalisation keeps running means.
    model = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, depth=4, num_classes=10) \
        if args.variant != "healthy" else timm.create_model("resnet10t", num_classes=10)
    images, labels = torch.rand(args.images, 3, 32, 32), torch.randint(0, 10, (args.images,))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), 8, shuffle=True)
    optimizer = timm.optim.create_optimizer_v2(model, "adamw", lr=1e-3, weight_decay=0.05)
    scheduler, epochs = timm.scheduler.create_scheduler_v2(optimizer, "cosine", num_epochs=2, step_on_epochs=False,
                                                           updates_per_epoch=len(loader))
    mixup = timm.data.Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=10)
    averaged = timm.utils.ModelEmaV3(model, decay=0.99)
    for epoch in range(epochs):
        average = train_epoch(args.variant, epoch, model, loader, optimizer, scheduler,
                              timm.loss.SoftTargetCrossEntropy(), mixup, averaged)
    print("loss", float(average))


main()
