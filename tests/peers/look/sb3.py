"""A training of stable-baselines3 whose replay buffer holds most; says so by NumPy's own count."""
import gymnasium
import stable_baselines3

model = stable_baselines3.DQN("MlpPolicy", gymnasium.make("CartPole-v1"), buffer_size=200000, learning_starts=100)
model.learn(500)
buffer = model.replay_buffer
for array in vars(buffer).values():
    if hasattr(array, "fill"):
        array.fill(0)
print(sum(array.nbytes for array in vars(buffer).values() if hasattr(array, "nbytes")), flush=True)
input()
