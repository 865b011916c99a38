"""The picture for people: it shows what an unbroken bird's-eye view shows, finer, and moves with the world."""

import cv2
import gymnasium
import numpy as np

import wiser.envs  # noqa: F401 - registers the environments
from wiser.envs.driving.outlook import SIZE, Outlook


def test_it_is_the_birds_eye_view_in_fine():
    env = gymnasium.make("wiser/FourLane-v0", sensors=["birdeye_gt"])
    obs, _ = env.reset(seed=0)
    outlook = Outlook(env.unwrapped.batch.world)
    for _ in range(2):
        before, picture = obs["birdeye_gt"], outlook.draw()
        assert picture.shape == (SIZE, SIZE, 3)
        coarse = cv2.resize(picture, before.shape[:2], interpolation=cv2.INTER_AREA).astype(float)
        assert np.abs(coarse - before).mean() < 12
        assert np.abs(coarse - coarse.mean()).mean() > 20  # there is something to see
        for _ in range(4):
            obs = env.step(env.action_space.n // 2)[0]
        assert (picture != outlook.draw()).any()
