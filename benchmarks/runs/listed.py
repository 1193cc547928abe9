"""The scripts: where each comes from, how it is started, and the changes that check its report."""

from __future__ import annotations

from tclint.records import record

LINE, COMPILE = "line", "compile"


@record(frozen=True)
class Change:
    """A change by hand: what its author would write, as texts that stand in the file once.

    ``at`` is a text in the line that the report should name for it. ``kind`` is ``line``, or
    ``compile`` for what compiling the model brings; ``setting`` where a class of kernels is meant,
    whose name begins with ``at``. ``loss`` makes the module that gives the loss, if there is one:
    that is compiled as well where the report says so.
    """

    name: str
    at: str
    edits: tuple[tuple[str, str], ...]
    kind: str = LINE
    loss: str = ""


@record(frozen=True)
class Script:
    """One script. ``path`` is in the repository, whose ``folder`` it needs, and nothing else.

    ``arguments`` are for both devices, ``cpu`` and ``cuda`` are added; None: not for this device.
    ``finished`` is for those that an expert has nothing to change in; ``by_hand`` are the changes
    that make it one, where its author left it as it was.
    """

    name: str
    kind: str
    repository: str
    commit: str
    path: str
    arguments: str = ""
    cpu: str | None = ""
    cuda: str | None = ""
    data: str = ""
    steps: int = 120
    changes: tuple[Change, ...] = ()
    launcher: str = ""
    finished: bool = False
    by_hand: tuple[Change, ...] = ()

    @property
    def public(self) -> bool:
        """Whether it is somebody else's, and unmodified."""
        return bool(self.repository)


def fused(at: str, call: str) -> Change:
    """The optimizer's step in one kernel."""
    return Change("fused", at, ((call, call.removesuffix(")") + ", fused=True)"),))


def compiled(made: str, model: str, loss: str = "") -> Change:
    """The model compiled by the line behind the one that makes it."""
    return Change("compile", made, ((made, f"{made}; {model}.compile()"),), COMPILE, loss)


def kept(loader: str, at: str, anchor: str) -> Change:
    """All batches made before the loop, at a line behind the loader's: what loading takes."""
    made = f"{loader} = type('Kept', (list,), {{'dataset': {loader}.dataset}})({loader})"
    return Change("loading", at, ((anchor, f"{made}; {anchor}"),))


def _without_evaluation(every: int) -> Change:
    """The loop without the losses that it works out every so many steps."""
    edit = f"eval_interval = {every}", "eval_interval = 10**9"
    return Change("evaluation", "losses = estimate_loss()", (edit,))


_EXAMPLES = "pytorch/examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8"
_LECTURE = "karpathy/ng-video-lecture", "52201428ed7b46804849dea0b3ccf0de9df1a5c3"
_NANO = "karpathy/nanoGPT", "3adf61e154c3fe3fca428ad6bc3818b27a3b8291"
_GANS = "eriklindernoren/PyTorch-GAN", "36d3c77e5ff20ebe0aeefd322326a134a279b93e"
_TF32 = Change(
    "TF32",
    "matmul float32",
    (("import torch\n", "import torch; torch.set_float32_matmul_precision('high')\n"),),
    "setting",
)
_BOTH = "discriminator = Discriminator(); generator.compile(); discriminator.compile()"
_LOADED = kept("dataloader", "in enumerate(dataloader)", "# Optimizers\n")
_MASKED = '        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))\n'
_MODEL = "model = Net().to(device)"
_ATTENTION = Change(
    "attention",
    "attention by hand",
    (
        (_MASKED, ""),
        ("        att = F.softmax(att, dim=-1)\n", ""),
        ("        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))\n", ""),
        ("(att @ v)", "F.scaled_dot_product_attention(q, k, v, is_causal=True)"),
    ),
    "setting",
)
_LOSS = Change(
    "loss",
    "loss = criterion(outputs, labels)",
    (("loss = criterion(outputs, labels)", "loss = F.cross_entropy(outputs, labels)"),),
)
_GRAPHS = Change(
    "CUDA graphs",
    "torch.compile(model)",
    (
        ("torch.compile(model)", "torch.compile(model, mode='reduce-overhead')"),
        ("losses.append(loss.detach())", "losses.append(loss.detach().clone())"),
    ),
)
_IMAGES = "model = Net().cuda(device)"
_COMPILED_LAST = (
    f"{_IMAGES}.to(memory_format=torch.channels_last); model.compile(mode='reduce-overhead')"
)
_COMPILED_IMAGES = Change("compile", _IMAGES, ((_IMAGES, _COMPILED_LAST),))

SCRIPTS = (
    Script(
        "lecture_gpt",
        "training",
        *_LECTURE,
        "gpt.py",
        data="input",
        cpu=None,
        steps=560,
        changes=(
            _without_evaluation(500),
            fused("optimizer.step()", "torch.optim.AdamW(model.parameters(), lr=learning_rate)"),
            compiled("m = model.to(device)", "m"),
            _TF32,
        ),
    ),
    Script(
        "lecture_bigram",
        "training",
        *_LECTURE,
        "bigram.py",
        data="input",
        steps=700,
        changes=(
            _without_evaluation(300),
            fused("optimizer.step()", "torch.optim.AdamW(model.parameters(), lr=learning_rate)"),
            compiled("m = model.to(device)", "m"),
        ),
    ),
    Script(
        "makemore",
        "training",
        "karpathy/makemore",
        "988aa59e4d8fefa526d06f3b453ad116258398d4",
        "makemore.py",
        arguments="-i names.txt -o out --num-workers 0",
        cuda="--device cuda",
        data="names",
        steps=300,
        changes=(
            Change(
                "loading",
                "batch = batch_loader.next()",
                (
                    ("        batch = batch_loader.next()\n", "        batch = kept\n"),
                    (
                        "    best_loss = None\n",
                        "    best_loss = None; kept = batch_loader.next()\n",
                    ),
                ),
            ),
            fused("optimizer.step()", "betas=(0.9, 0.99), eps=1e-8)"),
            compiled("    model.to(args.device)", "model"),
        ),
    ),
    Script(
        "nanoGPT",
        "training",
        *_NANO,
        "train.py",
        arguments="config/train_shakespeare_char.py --eval_interval=1000 --eval_iters=2 "
        "--compile=False",
        cpu="--device=cpu --block_size=64 --batch_size=4 --n_layer=2 --n_head=2 --n_embd=64",
        cuda="--log_interval=10",
        data="characters",
        steps=200,
        changes=(compiled("model.to(device)", "model"),),
    ),
    Script(
        "mnist",
        "training",
        *_EXAMPLES,
        "mnist/main.py",
        arguments="--epochs=2",
        cpu="--no-accel",
        data="",
        steps=180,
        changes=(
            kept("train_loader", "in enumerate(train_loader)", _MODEL),
            compiled(_MODEL, "model"),
        ),
    ),
    Script(
        "vae",
        "training",
        *_EXAMPLES,
        "vae/main.py",
        arguments="--epochs=2",
        cpu="--no-accel",
        data="",
        steps=180,
        changes=(
            kept("train_loader", "in enumerate(train_loader)", "model = VAE().to(device)"),
            fused("optimizer.step()", "optim.Adam(model.parameters(), lr=1e-3)"),
            compiled("model = VAE().to(device)", "model"),
        ),
    ),
    Script(
        "mnist_rnn",
        "training",
        *_EXAMPLES,
        "mnist_rnn/main.py",
        arguments="--epochs=2",
        cpu=None,
        cuda="--accel",
        steps=180,
        changes=(
            kept("train_loader", "in enumerate(train_loader)", _MODEL),
            compiled(_MODEL, "model"),
        ),
    ),
    Script(
        "dcgan",
        "GAN",
        *_EXAMPLES,
        "dcgan/main.py",
        arguments="--dataset=fake --manualSeed=0 --outf=out --niter=12",
        cpu="--batchSize=16 --ngf=8 --ndf=8 --workers=0",
        cuda="--accel --workers=4",
        steps=120,
        changes=(
            kept("dataloader", "in enumerate(dataloader, 0)", "criterion = nn.BCELoss()"),
            fused(
                "optimizerD.step()",
                "optim.Adam(netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))",
            ),
            Change(
                "compile",
                "netG(noise)",
                (
                    (
                        "netG = Generator(ngpu).to(device)",
                        "netG = Generator(ngpu).to(device); netG.compile()",
                    ),
                    (
                        "netD = Discriminator(ngpu).to(device)",
                        "netD = Discriminator(ngpu).to(device); netD.compile()",
                    ),
                ),
                COMPILE,
            ),
        ),
    ),
    Script(
        "word_language_model",
        "training",
        *_EXAMPLES,
        "word_language_model/main.py",
        arguments="--model=LSTM --epochs=1 --use-optimizer --lr=0.001",
        cpu="--emsize=64 --nhid=64",
        cuda="--accel",
        data="texts",
        steps=150,
        changes=(
            fused("optimizer.step()", "torch.optim.AdamW(model.parameters(), lr=args.lr)"),
            Change(
                "read",
                "total_loss += loss.item()",
                (("total_loss += loss.item()", "total_loss += loss.detach()"),),
            ),
        ),
    ),
    Script("regression", "training", *_EXAMPLES, "regression/main.py", steps=2000),
    Script(
        "time_sequence",
        "training",
        *_EXAMPLES,
        "time_sequence_prediction/train.py",
        arguments="--steps=4",
        cuda=None,
        data="waves",
        steps=0,
    ),
    Script("actor_critic", "RL", *_EXAMPLES, "reinforcement_learning/actor_critic.py", steps=150),
    Script("reinforce", "RL", *_EXAMPLES, "reinforcement_learning/reinforce.py", steps=150),
    Script(
        "gan",
        "GAN",
        *_GANS,
        "implementations/gan/gan.py",
        arguments="--n_epochs=3",
        steps=180,
        changes=(
            _LOADED,
            fused(
                "optimizer_G.step()",
                "torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))",
            ),
            Change(
                "compile",
                "generator(z)",
                (
                    (
                        "discriminator = Discriminator()",
                        _BOTH,
                    ),
                ),
                COMPILE,
                "adversarial_loss = torch.nn.BCELoss()",
            ),
        ),
    ),
    Script(
        "wgan_gp",
        "GAN",
        *_GANS,
        "implementations/wgan_gp/wgan_gp.py",
        arguments="--n_epochs=3",
        steps=150,
        changes=(
            _LOADED,
            fused(
                "optimizer_D.step()",
                "torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))",
            ),
        ),
    ),
    Script(
        "dlrm",
        "recommender",
        "facebookresearch/dlrm",
        "090956ee2319ddd349a42232958aefccfe3f7b0a",
        "dlrm_s_pytorch.py",
        arguments="--arch-sparse-feature-size=16 --arch-mlp-bot=13-64-16 --arch-mlp-top=64-32-1 "
        "--arch-embedding-size=1000-1000-1000-1000-1000-1000-1000-1000 --data-generation=random "
        "--mini-batch-size=128 --num-batches=160 --print-freq=20",
        cuda="--use-gpu",
        steps=150,
    ),
    Script(
        "cifar",
        "training",
        "kuangliu/pytorch-cifar",
        "49b7aa97b0c12fe0d4054e670403a16b6b834ddd",
        "main.py",
        cpu=None,
        data="terminal",
        steps=90,
        changes=(
            compiled("net = net.to(device)", "net", "criterion = nn.CrossEntropyLoss()"),
            Change(
                "channels_last",
                "convolution channels-first",
                (
                    (
                        "net = net.to(device)",
                        "net = net.to(device, memory_format=torch.channels_last)",
                    ),
                ),
                "setting",
            ),
        ),
    ),
    Script(
        "ppo",
        "RL",
        "vwxyzjn/cleanrl",
        "fe8d8a03c41a7ef5b523e2e354bd01c363e786bb",
        "cleanrl/ppo.py",
        arguments="--total-timesteps 20000",
        steps=400,
        changes=(
            fused(
                "optimizer.step()",
                "optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)",
            ),
        ),
    ),
    Script(
        "tiny_diffusion",
        "diffusion",
        "tanelp/tiny-diffusion",
        "726b6bbbf2c9e3d23dff9eaea2fda10d0af6a78c",
        "ddpm.py",
        arguments="--dataset=line --num_epochs=2 --save_images_step=1",
        cuda=None,
        steps=400,
        changes=(
            Change(
                "fused",
                "optimizer.step()",
                (("lr=config.learning_rate,", "lr=config.learning_rate, fused=True,"),),
            ),
        ),
    ),
    Script(
        "ddp",
        "DDP",
        *_EXAMPLES,
        "distributed/ddp-tutorial-series/multigpu_torchrun.py",
        arguments="4 10",
        cpu=None,
        launcher="-m torch.distributed.run --standalone --nproc-per-node=1",
        steps=200,
    ),
    Script(
        "gpt_plain",
        "training",
        "",
        "",
        "gpt_plain.py",
        cpu=None,
        steps=75,
        changes=(
            _TF32,
            _ATTENTION,
            Change("fused", "opt.step()", (('fused=VARIANT == "hand")', "fused=True)"),)),
            compiled("    model = GPT().to(device)", "model"),
        ),
    ),
    Script(
        "loss_article",
        "training",
        "",
        "",
        "loss_article.py",
        cpu=None,
        steps=58,
        changes=(
            _LOSS,
            compiled(_IMAGES, "model", "criterion = CrossEntropyLoss().cuda(device)"),
        ),
    ),
    Script(
        "nanoGPT_compiled",
        "training",
        *_NANO,
        "train.py",
        arguments="config/train_shakespeare_char.py --eval_interval=1000 --eval_iters=2",
        cpu=None,
        data="characters",
        steps=200,
        finished=True,
    ),
    Script(
        "nanoGPT_bench",
        "training",
        *_NANO,
        "bench.py",
        arguments="--real_data=False",
        cpu=None,
        steps=100,
        finished=True,
        by_hand=(
            Change("longer", "num_steps", (("enumerate([10, 20])", "enumerate([10, 120])"),)),
        ),
    ),
    Script(
        "airbench94",
        "training",
        "KellerJordan/cifar10-airbench",
        "f1c599c4af24aca803e3e65a6a7e52a502e09d0e",
        "airbench94_muon.py",
        cpu=None,
        data="images",
        steps=120,
        finished=True,
    ),
    Script(
        "gpt_by_hand",
        "training",
        "",
        "",
        "gpt_plain.py",
        arguments="hand",
        cpu=None,
        steps=75,
        finished=True,
        by_hand=(_ATTENTION, _GRAPHS),
    ),
    Script(
        "loss_by_hand",
        "training",
        "",
        "",
        "loss_article.py",
        cpu=None,
        steps=58,
        finished=True,
        by_hand=(_LOSS, _COMPILED_IMAGES),
    ),
)
