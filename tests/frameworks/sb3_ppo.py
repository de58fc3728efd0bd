"""PPO of stable-baselines3 on pictures: leaky has a callback that keeps every observation."""
import argparse
import collections

import gymnasium
import numpy as np
import stable_baselines3
from stable_baselines3.common.callbacks import BaseCallback


class Catch(gymnasium.Env):
    """A ball falls, a paddle catches it."""

    observation_space = gymnasium.spaces.Box(0, 255, (1, 36, 36), np.uint8)
    action_space = gymnasium.spaces.Discrete(3)

    def picture(self):
        picture = np.zeros((1, 36, 36), np.uint8)
        picture[0, self.y:self.y + 3, self.x:self.x + 3] = 255
        picture[0, 33:, self.paddle:self.paddle + 6] = 128
        return picture

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.y, self.paddle = int(self.np_random.integers(33)), 0, 15
        return self.picture(), {}

    def step(self, action):
        self.paddle = int(np.clip(self.paddle + (int(action) - 1) * 3, 0, 30))
        self.y += 3
        done = self.y >= 30
        reward = float(done and self.paddle - 3 <= self.x <= self.paddle + 6)
        return self.picture(), reward, done, False, {}


class Recorder(BaseCallback):
    """What the agent saw, for a film."""

    def __init__(self, bound):
        super().__init__()
        self.seen = collections.deque(maxlen=bound)

    def _on_step(self):
        self.seen.append(np.repeat(self.locals["new_obs"], 3, axis=1))  # LEAK
        return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--steps", type=int, default=1500)
    args = parser.parse_args()
    network = {"features_extractor_class": stable_baselines3.common.torch_layers.FlattenExtractor}
    model = stable_baselines3.PPO("MlpPolicy", Catch(), n_steps=128, batch_size=64, n_epochs=2, policy_kwargs=network,
                                  seed=0, device="cpu")
    recorder = None if args.variant == "healthy" else Recorder(None if args.variant == "leaky" else 100)
    model.learn(args.steps, callback=recorder)
    print("steps", model.num_timesteps)


main()
