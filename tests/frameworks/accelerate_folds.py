"""Cross-validation with accelerate: leaky prepares a new model for each fold with one Accelerator, which keeps the
models, optimizers and loaders of all folds; fixed calls free_memory() between them."""
import argparse

import accelerate
import torch


def network():
    return torch.nn.Sequential(  # LEAK
        torch.nn.Linear(256, 512),  # LEAK
        torch.nn.ReLU(),
        torch.nn.Linear(512, 256),  # LEAK
        torch.nn.ReLU(),
        torch.nn.Linear(256, 4))


def train(accelerator, network, optimizer, loader):
    total, seen = 0.0, []
    for images, labels in loader:
        with accelerator.accumulate(network):
            logits = network(images)
            loss = torch.nn.functional.cross_entropy(logits, labels)
            accelerator.backward(loss)  # LEAK
            optimizer.step()  # LEAK
            optimizer.zero_grad()
        total += loss.item()
        seen.append(accelerator.gather_for_metrics(logits.argmax(1) == labels))
    return total, torch.cat(seen).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--folds", type=int, default=16)
    args = parser.parse_args()
    torch.manual_seed(0)
    images, labels = torch.rand(512, 256), torch.randint(0, 4, (512,))
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = network()
    for fold in range(args.folds):
        if args.variant != "healthy" and fold:
            model = network()
        if args.variant == "fixed":
            accelerator.free_memory()
        if args.variant != "healthy" or not fold:
            optimizer = torch.optim.Adam(model.parameters(), 1e-3)
            loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), 16, shuffle=True)
            model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        total, accuracy = train(accelerator, model, optimizer, loader)
    accelerator.print("loss", total, "accuracy", accuracy)


main()
