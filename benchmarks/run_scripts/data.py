"""Small made data for the scripts, so that none of them downloads anything.

Runs in the environment of the scripts: ``python data.py KIND FOLDER`` writes one kind below FOLDER.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import struct
import sys
from collections.abc import Callable
from pathlib import Path

WORDS = "the cat sat on a mat and saw that dog run for food under old red tree by day".split()


def prose(words: int, seed: int = 0) -> str:
    """Text in which a small model finds something to learn."""
    draw = random.Random(seed)
    return " ".join(draw.choice(WORDS) for _ in range(words))


def characters(folder: Path) -> None:
    """nanoGPT's: tokens of two bytes and the alphabet."""
    import numpy

    text = prose(20_000)
    alphabet = sorted(set(text))
    numbers = {letter: n for n, letter in enumerate(alphabet)}
    place = folder / "data" / "shakespeare_char"
    for name, part in (("train", text[:80_000]), ("val", text[80_000:])):
        numpy.array([numbers[letter] for letter in part], dtype=numpy.uint16).tofile(
            place / f"{name}.bin"
        )
    about = {"vocab_size": len(alphabet), "itos": dict(enumerate(alphabet)), "stoi": numbers}
    (place / "meta.pkl").write_bytes(pickle.dumps(about))


def texts(folder: Path) -> None:
    """The files of a corpus, in the place of wikitext-2."""
    place = folder / "word_language_model" / "data" / "wikitext-2"
    place.mkdir(parents=True, exist_ok=True)
    for seed, (name, words) in enumerate((("train", 40_000), ("valid", 4_000), ("test", 4_000))):
        (place / f"{name}.txt").write_text(prose(words, seed) + "\n")


def digits(place: Path, train: int, test: int) -> None:
    """Torchvision's files of MNIST, with noise on them."""
    place.mkdir(parents=True)
    draw = random.Random(0)
    for name, count in (("train", train), ("t10k", test)):
        pixels = draw.randbytes(28 * 28 * 64) * (count // 64 + 1)
        images = struct.pack(">IIII", 0x803, count, 28, 28) + pixels[: 28 * 28 * count]
        labels = struct.pack(">II", 0x801, count) + bytes(draw.randrange(10) for _ in range(count))
        (place / f"{name}-images-idx3-ubyte").write_bytes(images)
        (place / f"{name}-labels-idx1-ubyte").write_bytes(labels)


def few_digits(folder: Path) -> None:
    """What the examples of MNIST read: ``../data``."""
    digits(folder / "data" / "MNIST" / "raw", 640, 64)


def all_digits(folder: Path) -> None:
    """As many digits as Lightning's example divides."""
    digits(folder / "examples" / "Datasets" / "MNIST" / "raw", 60_000, 10_000)
    # Lightning itself looks here whether there are any.
    (folder / "data").symlink_to(folder / "examples" / "Datasets")


def _noise(path: Path, size: int, seed: int) -> None:
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = random.Random(seed).randbytes(size * size * 3)
    Image.frombytes("RGB", (size, size), pixels).save(path)


def photographs(folder: Path) -> None:
    """Two folders of classes, as torchvision's ``ImageFolder`` reads them."""
    for split, count in (("train", 60), ("val", 4)):
        for n in range(count * 2):
            _noise(folder / "photographs" / split / f"class{n % 2}" / f"{n}.png", 256, n)


def photographs_and_hub(folder: Path) -> None:
    """Photographs, and the repository whose models DINO lists when it starts, without any."""
    photographs(folder)
    place = folder / "torch_home" / "hub" / "facebookresearch_xcit_main"
    place.mkdir(parents=True)
    (place / "hubconf.py").touch()


def pictures(folder: Path) -> None:
    """A folder of small pictures, and a small UNet's configuration."""
    for n in range(240):
        _noise(folder / "pictures" / "train" / f"{n}.png", 32, n)
    unet = {
        "_class_name": "UNet2DModel",
        "sample_size": 16,
        "layers_per_block": 1,
        "block_out_channels": [32, 64],
        "down_block_types": ["DownBlock2D", "AttnDownBlock2D"],
        "up_block_types": ["AttnUpBlock2D", "UpBlock2D"],
    }
    place = folder / "unet"
    place.mkdir()
    (place / "config.json").write_text(json.dumps(unet))


def shards(folder: Path) -> None:
    """nanochat's: a tokenizer of bytes, and two files of documents."""
    import pyarrow
    import pyarrow.parquet
    import tiktoken
    import torch

    base = folder / "base"
    (base / "tokenizer").mkdir(parents=True)
    special = ("bos", "user_start", "user_end", "assistant_start", "assistant_end")
    special += ("python_start", "python_end", "output_start", "output_end")
    coding = tiktoken.Encoding(
        name="bytes",
        pat_str=r"\s?\w+|\s|.",
        mergeable_ranks={bytes([n]): n for n in range(256)},
        special_tokens={f"<|{name}|>": 256 + n for n, name in enumerate(special)},
    )
    (base / "tokenizer" / "tokenizer.pkl").write_bytes(pickle.dumps(coding))
    sizes = torch.tensor([1] * 256 + [0] * len(special), dtype=torch.int32)
    torch.save(sizes, base / "tokenizer" / "token_bytes.pt")
    place = base / "base_data_climbmix"
    place.mkdir()
    for shard in range(2):
        documents = [prose(60, seed=shard * 1000 + n) for n in range(400)]
        table = pyarrow.table({"text": documents})
        pyarrow.parquet.write_table(table, place / f"shard_{shard:05d}.parquet", row_group_size=50)


def instructions(folder: Path) -> None:
    """A small model with its tokenizer, and examples to follow."""
    import torch
    import transformers
    from transformers.models.gpt2.tokenization_gpt2 import bytes_to_unicode

    torch.manual_seed(0)
    place = folder / "model"
    place.mkdir()
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>", *bytes_to_unicode().values()]
    numbers = {token: n for n, token in enumerate(vocabulary)}
    (folder / "vocab.json").write_text(json.dumps(numbers))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    transformers.GPT2Tokenizer(
        str(folder / "vocab.json"),
        str(folder / "merges.txt"),
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
    ).save_pretrained(place)
    transformers.OPTForCausalLM(
        transformers.OPTConfig(
            vocab_size=len(vocabulary),
            hidden_size=64,
            word_embed_proj_dim=64,
            ffn_dim=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=512,
        )
    ).save_pretrained(place)
    examples = [
        {"instruction": prose(6, n), "input": prose(n % 3 * 4, n), "output": prose(12, -n)}
        for n in range(240)
    ]
    (folder / "examples.json").write_text(json.dumps(examples))


def citations(folder: Path) -> None:
    """A graph in the place of Cora, as torch_geometric keeps it."""
    import torch
    from torch_geometric.data import Data, InMemoryDataset

    torch.manual_seed(0)
    nodes = 300
    masks = torch.arange(nodes) % 3
    one = Data(
        x=torch.rand(nodes, 64),
        edge_index=torch.randint(nodes, (2, 1200)),
        y=torch.randint(7, (nodes,)),
        train_mask=masks == 0,
        val_mask=masks == 1,
        test_mask=masks == 2,
    )
    place = folder / "data" / "Planetoid" / "Cora"
    (place / "processed").mkdir(parents=True)
    (place / "raw").mkdir()
    for name in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"):
        (place / "raw" / f"ind.cora.{name}").touch()
    InMemoryDataset.save([one], str(place / "processed" / "data.pt"))


def latents(folder: Path) -> None:
    """Photographs, and a small autoencoder under the name by which DiT asks for it."""
    import diffusers
    import torch

    torch.manual_seed(0)
    photographs(folder)
    diffusers.AutoencoderKL(
        block_out_channels=(8, 8, 8, 8),
        norm_num_groups=4,
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        latent_channels=4,
    ).save_pretrained(folder / "stabilityai" / "sd-vae-ft-ema")


def nothing(folder: Path) -> None:
    """The script makes its data itself."""
    del folder


KINDS: dict[str, Callable[[Path], None]] = {
    made.__name__: made
    for made in (
        characters,
        texts,
        few_digits,
        all_digits,
        photographs,
        photographs_and_hub,
        pictures,
        shards,
        instructions,
        citations,
        latents,
        nothing,
    )
}

if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    KINDS[sys.argv[1]](Path(sys.argv[2]))
