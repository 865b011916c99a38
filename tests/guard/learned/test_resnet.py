"""ResNet-18: the same numbers as a maintained implementation with the same weights, and torchvision's names."""

import pytest
import torch
from torch import nn

from wiser.guard.learned import ResNet18


def disturbed(network: nn.Module) -> nn.Module:
    """Every weight and every statistic of a batch norm matters."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for value in network.state_dict().values():
            if value.is_floating_point():
                value += 0.1 * torch.rand(value.shape, generator=generator)  # variances stay positive
    return network.eval()


def renamed(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Our weights by the names that transformers gives them."""
    found = {}
    for name, value in weights.items():
        stage, *rest = name.split(".")
        place = {"conv1": "convolution", "bn1": "normalization", "0": "convolution", "1": "normalization"}
        if stage in ("conv1", "bn1"):
            new = f"resnet.embedder.embedder.{place[stage]}.{rest[0]}"
        elif stage == "fc":
            new = f"classifier.1.{rest[0]}"
        else:
            block, part, *last = rest
            home = f"resnet.encoder.stages.{int(stage[-1]) - 1}.layers.{block}"
            if part == "downsample":
                new = f"{home}.shortcut.{place[last[0]]}.{last[1]}"
            else:
                new = f"{home}.layer.{int(part[-1]) - 1}.{place[part[:-1] + '1']}.{last[0]}"
        found[new] = value
    return found


def test_logits_are_those_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.ResNetConfig(
        embedding_size=64, hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2], layer_type="basic", num_labels=2
    )
    peer, ours = transformers.ResNetForImageClassification(config).eval(), disturbed(ResNet18())
    peer.load_state_dict(renamed(ours.state_dict()))
    images = torch.randint(0, 256, (3, 64, 96, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = peer(images.permute(0, 3, 1, 2).float()).logits
        scale = float(expected.abs().max())
        torch.testing.assert_close(ours(images) / scale, expected / scale, atol=1e-5, rtol=0)
        torch.testing.assert_close(ours(images / 255) / scale, expected / scale, atol=1e-5, rtol=0)
    assert not torch.allclose(expected[0], expected[1])


def test_it_has_as_many_weights_as_torchvisions_by_the_same_names() -> None:
    """11,689,512 of them with 1,000 classes, in 122 entries: two of the names of every kind."""
    weights = ResNet18().state_dict()
    assert len(weights) == 122
    trained = sum(value.numel() for value in ResNet18().parameters())
    assert trained == 11_689_512 - 998 * 513
    assert {"conv1.weight", "bn1.running_var", "layer2.0.downsample.0.weight", "layer4.1.bn2.bias"} <= set(weights)
    assert "layer1.0.downsample.0.weight" not in weights


def test_rows_do_not_matter_to_each_other() -> None:
    network = disturbed(ResNet18(channels=1, width=4))
    images = torch.rand((4, 32, 32, 1), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(network(images)[2:3], network(images[2:3]))
