"""The public scripts, unmodified: where each comes from, and how it is started on made data."""

from __future__ import annotations

from tclint.records import record


@record(frozen=True)
class Script:
    """One script of a public repository.

    ``arguments`` go to Python, in ``folder`` of the checkout; ``{data}`` in them and in
    ``environment`` is the checkout's own folder, into which the data are written. ``cpu`` and
    ``cuda`` are added for the device; None where it does not run there. ``losses`` finds the
    numbers that the script prints, ``saved`` the weights that it writes. What is not ``seeded``
    gets a seed from outside, or no two runs would be alike.
    """

    name: str
    repository: str
    arguments: str
    data: str = "nothing"
    folder: str = "."
    cpu: str | None = ""
    cuda: str | None = ""
    environment: tuple[tuple[str, str], ...] = ()
    stubs: tuple[str, ...] = ()
    losses: str = r"[Ll]oss\D{0,4}(\d+\.\d+)"
    saved: str = ""
    seeded: bool = True

    @property
    def checkout(self) -> str:
        """The name of its folder among the checkouts."""
        return self.repository.rpartition("/")[2]


SCRIPTS = (
    Script(
        "nanoGPT",
        "karpathy/nanoGPT",
        "train.py config/train_shakespeare_char.py --eval_iters=2 --log_interval=1 "
        "--always_save_checkpoint=True --out_dir=out",
        data="characters",
        cpu="--device=cpu --block_size=64 --batch_size=4 --n_layer=2 --n_head=2 "
        "--n_embd=64 --max_iters=60 --eval_interval=60",
        cuda="--max_iters=120 --eval_interval=120",
        saved="out/ckpt.pt",
    ),
    Script(
        "minGPT",
        "karpathy/minGPT",
        "projects/adder/adder.py --data.ndigit=1 --model.model_type=gpt-nano",
        cpu="--trainer.max_iters=80 --trainer.num_workers=0",
        cuda="--trainer.max_iters=200",
        environment=(("PYTHONPATH", "{data}"),),
        saved="out/adder/model.pt",
    ),
    Script(
        "nanochat",
        "karpathy/nanochat",
        "-m scripts.base_train --num-iterations=80 --eval-every=-1 "
        "--core-metric-every=-1 --sample-every=-1 --window-pattern=L",
        data="shards",
        cpu="--depth=2 --max-seq-len=64 --device-batch-size=2 --head-dim=32 "
        "--total-batch-size=128 --device-type=cpu",
        cuda="--depth=4 --max-seq-len=512 --device-batch-size=16 --total-batch-size=8192",
        environment=(("NANOCHAT_BASE_DIR", "{data}/base"), ("PYTHONPATH", "{data}")),
        stubs=("wandb", "rustbpe"),
        saved="base/base_checkpoints/*/model_*.pt",
    ),
    Script(
        "DiT",
        "facebookresearch/DiT",
        "-m torch.distributed.run --standalone --nproc-per-node=1 train.py --model=DiT-S/4 "
        "--data-path=photographs/train --num-classes=2 --global-batch-size=8 "
        "--epochs=6 --log-every=1 --ckpt-every=60",
        data="latents",
        cpu=None,
        environment=(("HF_HUB_OFFLINE", "1"),),
        saved="results/*/checkpoints/*.pt",
    ),
    Script(
        "dino",
        "facebookresearch/dino",
        "main_dino.py --arch=vit_tiny --out_dim=1024 --data_path={data}/photographs/train "
        "--output_dir=out --epochs=2 --warmup_epochs=0 --batch_size_per_gpu=2 --clip_grad=0 "
        "--local_crops_number=2 --num_workers=8",
        data="photographs_and_hub",
        cpu=None,
        environment=(("TORCH_HOME", "{data}/torch_home"),),
        losses=r"  loss: (\d+\.\d+)",
        saved="out/checkpoint.pth",
    ),
    Script(
        "mnist",
        "pytorch/examples",
        "main.py --epochs=1 --batch-size=8 --log-interval=1 --save-model",
        data="few_digits",
        folder="mnist",
        cpu="--no-accel",
        saved="mnist/mnist_cnn.pt",
    ),
    Script(
        "imagenet",
        "pytorch/examples",
        "main.py {data}/photographs -a=resnet18 --epochs=1 -b=2 -p=1 --seed=0",
        data="photographs",
        folder="imagenet",
        cpu="-j=0 --no-accel",
        cuda="-j=2 --gpu=0",
        losses="Loss (\\d\\.\\d+e[+-]\\d+)",
        saved="imagenet/checkpoint.pth.tar",
    ),
    Script(
        "vae",
        "pytorch/examples",
        "main.py --epochs=1 --batch-size=8 --log-interval=1",
        data="few_digits",
        folder="vae",
        cpu="--no-accel",
    ),
    Script(
        "dcgan",
        "pytorch/examples",
        "main.py --dataset=fake --manualSeed=0 --outf=out",
        folder="dcgan",
        cpu="--niter=1 --batchSize=16 --ngf=8 --ndf=8 --workers=0",
        cuda="--niter=8 --accel",
        saved="dcgan/out/*.pth",
    ),
    Script(
        "word_language_model",
        "pytorch/examples",
        "main.py --model=Transformer --use-optimizer --lr=0.001 --epochs=1 --log-interval=1 "
        "--batch_size=4",
        data="texts",
        folder="word_language_model",
        cpu="--nlayers=2",
        cuda="--accel --nlayers=6",
        losses=r"loss +(\d+\.\d+)",
        saved="word_language_model/model.pt",
    ),
    Script(
        "alpaca",
        "tatsu-lab/stanford_alpaca",
        "train.py --model_name_or_path=model --data_path=examples.json --model_max_length=96 "
        "--output_dir=out --max_steps=60 --per_device_train_batch_size=4 "
        "--logging_steps=1 --report_to=none --save_strategy=no",
        data="instructions",
        cpu="--use_cpu=True --torch_compile=True",
        cuda=None,
        environment=(("HF_HUB_OFFLINE", "1"),),
        stubs=("openai",),
        losses="'loss': '?(\\d+\\.\\d+)",
        saved="out/model.safetensors",
    ),
    Script(
        "lightning",
        "Lightning-AI/pytorch-lightning",
        "examples/pytorch/basics/backbone_image_classifier.py --trainer.max_steps=80 "
        "--trainer.limit_val_batches=2 --trainer.limit_test_batches=2 "
        "--trainer.limit_predict_batches=2 --trainer.default_root_dir=out "
        "--trainer.log_every_n_steps=1",
        data="all_digits",
        cpu="--trainer.accelerator=cpu",
        cuda="--trainer.accelerator=gpu --trainer.devices=1",
        saved="out/**/*.ckpt",
    ),
    Script(
        "diffusers",
        "huggingface/diffusers",
        "examples/unconditional_image_generation/train_unconditional.py "
        "--resolution=16 --train_data_dir=pictures --model_config_name_or_path=unet "
        "--output_dir=out --train_batch_size=4 --num_epochs=1 --use_ema "
        "--ddpm_num_inference_steps=2 --save_images_epochs=100 "
        "--checkpointing_steps=1000 --cache_dir=cache",
        data="pictures",
        cuda=None,
        environment=(("HF_HUB_OFFLINE", "1"), ("TQDM_MININTERVAL", "0")),
        losses="loss=(\\d\\.[\\de-]+)",
        saved="out/unet/*.safetensors",
        seeded=False,
    ),
    Script(
        "torch_geometric",
        "pyg-team/pytorch_geometric",
        "examples/compile/gcn.py",
        data="citations",
        seeded=False,
    ),
)
