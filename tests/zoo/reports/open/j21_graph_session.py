"""Batch inference with a static-graph library's API (graph, session, placeholders, constants), simulated.

  --input constant      wraps each batch as a constant of the graph
  --input placeholder   feeds it"""
import argparse

import numpy as np


class Node:
    def __init__(self, graph, op, inputs=(), value=None):
        self.op, self.inputs, self.value = op, inputs, value
        self.name = "%s_%d" % (op, len(graph.nodes))
        graph.nodes[self.name] = self  # HELD


class Graph:
    def __init__(self):
        self.nodes = {}

    def constant(self, array):
        return Node(self, "Const", value=np.array(array, dtype=np.float32))  # LEAK

    def placeholder(self):
        return Node(self, "Placeholder")

    def variable(self, array):
        return Node(self, "Variable", value=np.asarray(array, np.float32))

    def matmul(self, a, b):
        return Node(self, "MatMul", (a, b))

    def relu(self, a):
        return Node(self, "Relu", (a,))


class Session:
    def __init__(self, graph):
        self.graph = graph

    def run(self, node, feed=None):
        if node.value is not None:
            return node.value
        if node.op == "Placeholder":
            return np.asarray(feed[node.name], np.float32)
        inputs = [self.run(n, feed) for n in node.inputs]
        return inputs[0] @ inputs[1] if node.op == "MatMul" else np.maximum(inputs[0], 0)


class Embedder:
    def __init__(self, how):
        r = np.random.RandomState(0)
        self.how, self.graph = how, Graph()
        self.session = Session(self.graph)
        self.w = [self.graph.variable(r.randn(256, 128) / 20), self.graph.variable(r.randn(128, 32) / 16)]
        if how == "placeholder":
            self.x = self.graph.placeholder()
            self.out = self.build(self.x)

    def build(self, x):
        return self.graph.matmul(self.graph.relu(self.graph.matmul(x, self.w[0])), self.w[1])

    def predict(self, batch):
        if self.how == "placeholder":
            return self.session.run(self.out, {self.x.name: batch})
        return self.session.run(self.build(self.graph.constant(batch)))


parser = argparse.ArgumentParser()
parser.add_argument("--input", choices=("constant", "placeholder"), default="constant")
opt = parser.parse_args()
embedder, rng = Embedder(opt.input), np.random.RandomState(1)
mean = np.zeros(32)
for i in range(260):
    mean += embedder.predict(rng.randn(64, 256)).mean(0)
print("260 batches, norm of the mean embedding %.4f" % np.linalg.norm(mean / 260))
