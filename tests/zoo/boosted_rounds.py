"""Round after round a model is made of copies of the last one's parts and one more; it is used for some batches, then
replaced. leaky: each round's model stays in a list, for an average that nobody takes. fixed: only the last one stays,
and so memory grows as the model does.

usage: boosted_rounds.py {leaky,fixed}"""
import sys
import time

ROUNDS, BATCHES, LEAVES = 20, 10, 60000


class Model:
    def __init__(self, last):
        self.trees = [bytearray(tree) for tree in (last.trees if last else [])]  # LEAK
        self.trees.append(bytearray(LEAVES))  # LEAK

    def predict(self, batch):
        return sum(tree[len(batch)] for tree in self.trees)


def main():
    models = []
    for _ in range(ROUNDS):
        model = Model(models[-1] if models else None)
        if sys.argv[1] == "fixed":
            models.clear()
        models.append(model)
        for _ in range(BATCHES):
            batch = bytearray(1000) + bytearray(1000)
            model.predict(batch)
            time.sleep(0.01)


main()
