"""LaProp and adaptive clipping against a plain transcription."""

import numpy as np
import torch

from wiser.train.optimiser import LaProp, clip_adaptively


def test_against_plain_numpy() -> None:
    rng = np.random.default_rng(0)
    start = [rng.normal(size=(4, 3)), rng.normal(size=5) * 1e-4]
    params = [torch.nn.Parameter(torch.tensor(value)) for value in start]
    optimiser = LaProp(params, lr=0.01, warmup=4)
    values = [value.copy() for value in start]
    squares, momenta = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
    for step in range(1, 11):
        grads = [rng.normal(size=v.shape) * 10 ** rng.uniform(-3, 3) for v in values]
        for p, g in zip(params, grads, strict=True):
            p.grad = torch.tensor(g)
        optimiser.step()
        for i, grad in enumerate(grads):
            bound = 0.3 * max(1e-3, np.linalg.norm(values[i]))
            grad = grad / max(1.0, np.linalg.norm(grad) / bound)
            squares[i] = 0.999 * squares[i] + 0.001 * grad**2
            grad = grad / (np.sqrt(squares[i] / (1 - 0.999**step)) + 1e-20)
            momenta[i] = 0.9 * momenta[i] + 0.1 * grad
            values[i] = values[i] - 0.01 * min(1, step / 4) * momenta[i] / (1 - 0.9**step)
            np.testing.assert_allclose(params[i].detach().numpy(), values[i], rtol=1e-9)


def test_clipping_bounds_every_tensor_by_its_own_size_and_leaves_small_gradients_alone() -> None:
    params = [torch.nn.Parameter(torch.full((4,), 2.0)), torch.nn.Parameter(torch.zeros(3))]
    params[0].grad, params[1].grad = torch.full((4,), 100.0), torch.full((3,), 1e-5)
    clipped = clip_adaptively(params, 0.3)
    assert clipped[0].norm().item() == np.float32(0.3 * 4.0)
    assert torch.equal(clipped[1], params[1].grad)


def test_parameters_without_gradients_stay() -> None:
    params = [torch.nn.Parameter(torch.ones(2)) for _ in range(2)]
    params[0].grad = torch.ones(2)
    LaProp(params, lr=0.1, warmup=0).step()
    assert not torch.equal(params[0], torch.ones(2))
    assert torch.equal(params[1], torch.ones(2))
