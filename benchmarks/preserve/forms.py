"""Whole bodies in the forms that single rules look for; see grammar.py for the notation.

The pieces of phrases.py meet by chance. What takes several of them in one order seldom does: a mask
and what it selects, a draw that is written and then compared, a count and a long sum that it
divides. These bodies put them there, and leave the rest to chance.
"""

from __future__ import annotations

from collections.abc import Sequence

_MASKS: dict[str, Sequence[str]] = {
    "op": ["-", "-", "+", "*", "/"],
    "reduced": [
        ".argmax()",
        ".argmax()",
        ".argmin()",
        ".count_nonzero()",
        ".long().sum()",
        ".count_nonzero()",
        ".lt(5).sum()",
        ".long().sum()",
        ".bool().sum()",
        ".round().long().amin()",
        ".mean()",
        ".mean()",
        ".sum()",
        ".norm()",
        ".median()",
        ".std()",
        ".var()",
        ".prod()",
        ".max()",
        ".amax()",
        ".min()",
        ".nanmean()",
        ".logsumexp(0)",
        ".cumsum(0)",
        ".softmax(0)",
        ".sort().values",
        ".flip(0)",
        ".roll(1)",
        ".shape[0]",
        ".numel()",
        ".size(0)",
        "[0]",
        ".mean().item()",
        ".any()",
        ".all().long()",
        ".cummax(0).values",
        ".topk(1).values",
        ".new_ones(())",
        ".nonzero().sum()",
        ".square().mean().sqrt()",
        ".abs().max().detach()",
        ".unique().sum()",
        ".dim()",
        ".log_softmax(0)",
        ".sum(0, keepdim=True)",
        ".argsort()",
        ".diff().sum()",
    ],
    "pointwise": [
        ".abs()",
        ".exp()",
        ".clamp(max=1)",
        ".relu()",
        ".square()",
        ".detach()",
        ".clone()",
        ".to(torch.float32)",
        ".reshape(-1)",
        ".nan_to_num()",
        ".float()",
        ".contiguous()",
        "",
    ],
    "selection": [
        "<H1>[<B1>] = <H1>[<B1>] <op> <H1>[<B1>]<reduced>",
        "<H1>[<B1>] <op>= <H1>[<B1>]<reduced>",
        "<H1>[<H1> > 1] <op>= <H1>[<H1> > 1]<reduced>",
        "<H1>[<H1> > 1] = <H1>[<H1> > 1] <op> <H1>[<H1> > 1]<pointwise><reduced>",
        "<H1>[<B1>] = (<H1>[<B1>] - <H1>[<B1>]<reduced>) / <H1>[<B1>]<reduced>",
        "<+S1> = <H1>[<B1>]<reduced>\n<H1>[<B1>] <op>= <S1>",
        "<H1>[<B1>] = <H1>[<B1>] <op> <V>[<B1>]<reduced>",
        "<H1>[<B1>] = <H1>[<B1>]<reduced>",
        "<H1>[<B1>] = <H1>[<B1>]<pointwise> <op> <H1>[<B1>]<pointwise>",
        "<H1>[<B1>] <op>= (<H1> * <B1>)<reduced>",
        "<H1>[<B1>] = <H1>[<B1>] <op> torch.argmax(<H1>[<B1>])",
        "<H1>[<B1>] -= <H1>[<B1>].sum() / <B1>.sum()",
        "<H1>[<B1>] = F.normalize(<H1>[<B1>], dim=0)",
        "<H1>[<B1>] = F.layer_norm(<H1>[<B1>], <H1>[<B1>].shape)",
        "<H1>[<B1>] = same(<H1>[<B1>]) <op> 2",
        "<H1>[<B1>] = torch.rand_like(<H1>[<B1>])",
        "<H1>[<B1>] = torch.cat([<H1>[<B1>]]) <op> 1",
        "<H1>[<B1>] <op>= <H1>[<B1>].reshape(1, -1)<reduced>",
        "<M1>[<M1> > 1] <op>= <M1>[<M1> > 1]<reduced>",
        "<+M1> = <M>.float() * 2\n<M1>[<M1> > 1] <op>= <M1>[<M1> > 1]<reduced>",
        "<+M1> = <M>.float() * 2\n<M1>[<B>] <op>= <V>",
        "<+S1> = <S> * 1\n<S1>[<S1> < 0] = 0\n<H> = <H> * <S1>",
        "<+S1> = <V>.sum()\n<S1>[<S1> < 0] <op>= 2\n<H> = <H> * <S1>",
        "<H1>[<H1> < 0] = 0",
        "<H1>[<H1> > 1] *= 3",
    ],
    "fresh": [
        "<+H> = <V>.float() * 2",
        "<+H> = <V>.float() + 1",
        "<+H> = <V>.double() * 2",
        "<+H> = <V>.half() * 2",
        "<+H> = <V>.bfloat16() + 1",
        "<+H> = <V> * 2",
        "<+H> = <V> * 2",
        "<+H> = <V>.clone()",
        "<+H> = <V>.long() * 3",
        "<+H> = torch.zeros_like(<V>) + <V>",
    ],
}

_COUNTS: dict[str, Sequence[str]] = {
    "counted": [
        "<+N> = int(<B1>.sum())",
        "<+N> = <B1>.sum().item()",
        "<+N> = int(<B1>.count_nonzero())",
        "<+N> = float(<B1>.sum())",
        "<+N> = <B1>.sum().tolist()",
        "<+N> = max(int(<B1>.sum()), 1)",
        "<+N> = <V1>.max().item()",
        "<+N> = <V1>.abs().float().mean().item()",
        "<+N> = float(<V1>.sum())",
        "<+N> = <V1>.float().abs().max().item()",
        "<+N> = int((<V1> > 0).sum())",
        "<+N> = <V1>.float().sum().tolist()",
        "<+N> = <S>.item()",
        "<+N> = float(<S>)",
        "<+N> = <V1>[0].item()",
    ],
    "long": [
        "<+V1> = <V>.repeat(20000)\n<+B1> = <V1> > 0",
        "<+V1> = <V>.repeat(20000) * 1\n<+B1> = <V1> == <V1>",
        "<+V1> = <V>.half().repeat(20000)\n<+B1> = <V1> > 0",
        "<+V1> = <V>.expand(20000, 4).reshape(-1)\n<+B1> = <V1> != 0",
        "<+V1> = <V> * 2\n<+B1> = <V1> > 0",
        "<+V1> = <V>.half() * 2\n<+B1> = <V1> > 0",
        "<+V1> = <V>.float() * 2\n<+B1> = <V1> > 0",
    ],
    "met": [
        "<+V1> = <V>.float() * 2\n<+N> = int((<V1> > 0).sum())\nreturn <V1> <op> <N>",
        "<+V1> = <V>.float() + 1\n<+N> = float(<V1>.mean())\nreturn <V1> <op> <N>",
        "<+V1> = <V>.float()\n<+N> = float(<V1>.abs().max())\nreturn <V1> <op> <N>, <V1> > <N>",
        "<+V1> = <V>.double() * 2\n<+N> = float(<V1>.sum())\n<write>\nreturn <V1> - <N>",
        "<+N> = int((<V> > 0).sum())\nreturn <V> <op> <N>",
        "<+N> = float(<V>.float().mean())\nreturn <V>.float() <op> <N>",
        "<+N> = int(<B>.sum())\nreturn <B> * <N>",
    ],
    "divided": [
        "return (<V1> * <B1>).sum() / <N>",
        "return <V1>.sum() / <N>",
        "return <V1> / <N>",
        "return <V1> * <N>",
        "return <V1> - <N>",
        "return <N> / (<V1> + 1)",
        "return (<V1> - <N>) / <N>",
        "return torch.where(<V1> > <N>, <V1>, <N>)",
        "return torch.where(<B1>, <V1>, <V1> * <N>)",
        "return <V1>.abs().cpu() / <N>",
        "return <V1>.float().to('cpu').sum() / <N>",
        "return <V1>.cpu() * <N>",
        "return <V1>.to(<D>) * <N>",
        "return <V>.half() * <N>",
        "return <V>.bfloat16() / <N>, <V>.double() / <N>",
        "return <V> * <N>, <M> * <N>",
        "return <S> * <N>",
        "return <V1> * <N>, <N>",
        "return torch.clamp(<V1>, max=<N>)",
        "return <V1> > <N>",
        "return (<V1>.long() * <N>).sum()",
        "return torch.add(<V1>, <N>)",
        "return (<V1> <op> <N>).sum(), <V1>.dtype",
        "<+H> = <V1> <op> <N>\n<write>\nreturn <H>",
        "<+P> = <V1>\n<P>.mul_(2)\nreturn <V1> <op> <N>",
        "return <V> <op> <N>, <V> <op> <N>",
        "return sum([<V1> * <N>])",
        "return torch.ones(4) * <N>",
        "return <V1> // <N>",
        "return <V1> ** <N>",
        "return <V1> % <N>",
    ],
}

_DRAWS: dict[str, Sequence[str]] = {
    "drawn": [
        "p = torch.rand([])",
        "p = torch.rand([])",
        "p = torch.rand(())",
        "p = torch.rand(1)",
        "p = torch.rand(1).item()",
        *["p = np.random.uniform(0, 1)"] * 6,
        "p = np.random.rand()",
        "p = random.random()",
        "p = torch.rand([])\nq = p",
    ],
    "redrawn": [
        "",
        "",
        "",
        "p.sub_(0.5)",
        "p -= 0.5",
        "center(p)",
        "p[...] = -1.0",
        "nn.init.normal_(p)",
        "q = p\nq -= 0.5",
        "q = p\nq.sub_(0.5)",
        "p.data.fill_(-1.0)",
        "bump(p)",
        "kept_list.append(p)",
        "Box(p).bump()",
        "p = p - 0.5",
        "torch.sub(p, 0.5, out=p)",
        "p.__isub__(0.5)",
        "p.uniform_(-1, 0)",
        "print(p)",
    ],
    "rate_of_module": [
        "self.rate", "self.rate", "self.layerdrop", "self.cfg.layerdrop", "self.cfg.rate", "<N>",
    ],
    "rate_of_function": ["<N>", "0.0", "rate0"],
    "gated_module": [
        "p = <uniform>\nif self.training and p < <rate_of>:\n    return <V>\nreturn <V> * 2",
        "p = <uniform>\nif self.training and p < self.rate:\n    return <V>\nreturn <V> * p",
        "p = <uniform>\nif self.training and p < self.rate:\n    return <V>\n<result>",
        (
            "for _ in range(2):\n    p = <uniform>\n    if self.training and p < <rate_of>:\n"
            "        continue\n    <H> = <H> + 1\nreturn <H>"
        ),
        (
            "<drawn>\nif self.training and p < <rate_of>:\n    <H> = <H> * 0\n"
            "<redrawn>\nreturn <H> * 2"
        ),
    ],
    "skipping_module": [
        (
            "for _ in range(2):\n    if self.training:\n        p = <uniform_tensor>\n"
            "        <redrawn>\n        if p < <rate_of>:\n            continue\n"
            "    <H> = <H> + 1\nreturn <H>"
        ),
        (
            "for _ in range(2):\n    if self.training:\n        p = <uniform_tensor>\n"
            "        if p < <rate_of>:\n            continue\n    <H> = <H> + 1\nreturn <H>"
        ),
        "p = <uniform_tensor>\nif self.training and p < <rate_of>:\n    <H> = <H> * 0\nreturn <H>",
        "p = <uniform_tensor>\nif p < <rate_of>:\n    return <H> * 0\nreturn <H>",
    ],
    "skipping_function": ["<drawn>\n<redrawn>\n<gate>\nreturn <H> * 2"],
    "uniform_tensor": ["torch.rand([])", "torch.rand(())", "torch.rand(1)"],
    "gated_function": ["<drawn>\n<redrawn>\n<gate>\nreturn <H> * 2"],
    "uniform": [
        "np.random.uniform(0, 1)", "np.random.uniform()", "np.random.rand()", "random.random()",
        "np.random.uniform(0, 1)", "np.random.rand()",
    ],
    "gate": [
        "if self.training and p < <rate_of>:\n    return <V>",
        "if p < <rate_of>:\n    return <V>",
        "if p < <rate_of>:\n    return <V>",
        "if <rate_of> > p:\n    <H> = <H> * 0",
        "if p <= <rate_of>:\n    <H> = <H> * 0",
        ("for _ in range(2):\n    p = torch.rand([])\n    if p < <rate_of>:\n        continue\n"
        "    <H> = <H> + 1"),
        ("for _ in range(2):\n    if self.training:\n        p = torch.rand([])\n"
        "        <redrawn>\n        if p < <rate_of>:\n            continue\n    <H> = <H> + 1"),
        ("for _ in range(2):\n    p = np.random.uniform(0, 1)\n"
        "    if self.training and (p < <rate_of>):\n        continue\n    <H> = <H> + 1"),
        "if self.training and p < <rate_of>:\n    return <V>\nkept_list.append(p)",
    ],
}  # fmt: skip

_CHECKED: dict[str, Sequence[str]] = {
    "plain_test": [
        "(<V> >= -9).all()", "(<V> == <V>).all()", "<V>.min() > -1e9", "torch.isfinite(<V>).all()",
        "<V>.sum() > -1e9", "not torch.isnan(<V>).any()", "(<V>.abs() < 1e9).all()", "<B>.any()",
    ],
    "read_test": [
        "bool(<plain_test>)",
        "<V>.max().item() < 10",
        "<V>.max().item() < 0.1",
        "float(<V>.sum()) > 1",
        "float(<V>.abs().max()) <= 1e4",
        "int(<V>.max()) < 9",
        *["torch.allclose(<V>, <V>)", "torch.equal(<V>, <V>)"] * 2,
        "torch.allclose(<V>, <V>.round(), atol=0.1)",
        "(<V> > -9).all().item()",
        "0 <= <V>.abs().max().item() < 9",
        "<V>.dim() == 1 and <V>.max().item() < 10",
    ],
    "held": [
        "assert <V>.split(2), 'none'",
        "parts = <V>.split(2)\nassert parts, 'none'",
        "parts = list(<V>.chunk(2))\nassert parts",
        "assert <V>.shape, 'a number'",
        "assert [<V>], 'none'",
        "assert <V>.dim() == 1 and <V>.shape",
        "parts = {'a': <V>}\nassert parts",
        "assert kept_list or <V>.dim()",
        "parts = [t for t in <V>.unbind()]\nassert parts, 'none'",
        "assert same",
        "assert str(<V>.dtype), 'no name'",
    ],
    "combined": [
        "assert not torch.isnan(<V>).any()<message>",
        "assert not (<V> > 1e9).any(), 'high'",
        "assert not (<V> > 1e9).sum()",
        "assert <V>.dim() == 1 and not (<V> > 1e9).sum()",
        "assert not torch.any(<V> == -77), 'missing'",
        "assert <plain_test> and <plain_test>, 'out of range'",
        "assert <plain_test> or <plain_test>",
        "assert -9 <= <V>.min() < 9",
        "assert (<V> > 5).any() or <plain_test>, 'neither'",
        "assert <plain_test> and <V>.dim() == 1 and <plain_test>",
    ],
    "told": ["('low', 1)", "42", "('low', <K>)", "1.5", "['low']", "<K>", "None", "b'low'"],
    "guarded": [
        "if not (<V> >= -9).all():\n    raise ValueError('low')",
        "if (<V> < -9).any():\n    raise ValueError('low')",
        "if torch.isnan(<V>).any():\n    raise RuntimeError('nan')",
        "if <V>.min() < -1e9:\n    raise ValueError(f'low {<V>.min()}')",
    ],
    "checked": [
        "<guarded>",
        "<guarded>",
        "assert <V>.max().item() < 10<message>",
        "assert bool((<V> >= -9).all())",
        "assert <plain_test>, <told>",
        "assert <plain_test>, <told>",
        "assert <read_test><message>",
        "assert <read_test>",
        "<held>",
        "<held>",
        "<held>",
        "<held>",
        "assert <plain_test> and <plain_test><message>",
        "assert <plain_test> or <plain_test>",
    ],
}  # fmt: skip

_OTHERS: dict[str, Sequence[str]] = {
    "listed": [
        "<+L> = <V>.tolist()\nreturn <V> + 1",
        "<V>.tolist()\nreturn <V> + 1",
        "_ = <V>.tolist()\n<result>",
        "return <V>.sum(dim=torch.arange(<V>.dim()).tolist())",
        "dims = torch.arange(1, <M>.dim()).tolist()\nreturn <M>.sum(dims)",
        "<+N> = <V>.float().sum().tolist()\nreturn <V>.float() - <N>",
        "<+N> = <V>.abs().max().tolist()\nreturn <V> * <N>",
        "<+L> = <H>.tolist()\n<write>\nreturn <H>",
    ],
    "formatted": [
        "<+H> = torch.zeros(4) + <V>.sum()\nreturn <H>, str(<H>)",
        "<+H> = <V> * 2\nreturn <H>, str(<H>)",
        "<+H> = <V>.float()\nreturn <H>, '%s' % <H>",
        "<+H> = torch.relu(<V>)\nreturn <H>, '{}'.format(<H>)",
        "<+H> = <V>.abs()\nreturn repr(<H>), <H>",
        "<+H> = <V> + 1\nmessage = 'x ' + str(<H>)\nreturn <H>, message",
    ],
    "hidden": [
        "n = torch.IntTensor([2])\nreturn <V>[: n[0]] * 2",
        "n = torch.tensor([1, 2])\nreturn <V>[n[0] : n[1]]",
        "n = torch.LongTensor([1, 3])\nreturn <V>[n[0]] * <V>[: n[1]].sum()",
        "<+H1> = <V> * 2\n<H1>[: (<H1> > 1).sum()] = 0\nreturn <H1>",
        "<+H1> = <V>.float().reshape(-1) * 2\n<H1>[: (<H1> > 1).sum()] = <N>\nreturn <H1>",
        "<+M1> = <M>.float() * 2\n<M1>[:, : (<M1> > 1).sum()] = 0\nreturn <M1>",
        "<+H1> = <V>[:1].expand(4)\n<H1>[: (<H1> > 1).sum()] = 0\nreturn <H1>",
        "<+H1> = <V> * 2\n<H1>[(<H1> > 1).sum() :] = 1\nreturn <H1>",
        "for k in range(torch.tensor(3)):\n    <H> = <H> + k\nreturn <H>",
    ],
    "sized": [
        "return <V> / np.sqrt(<V>.shape[0])",
        "return <V> / np.sqrt(<V>.shape[-1])",
        "return <V>.abs() * np.sqrt(<V>.shape[0]) + 1",
        "return <M> @ <M> / np.sqrt(<M>.shape[-1])",
        "<+N> = np.sqrt(<V>.shape[-1])\nreturn <V> / <N>",
        "<+K> = int(np.prod(<M>.shape[1:]))\nreturn <M>.reshape(-1, <K>) * 2",
        "if np.sqrt(<V>.shape[0]) > 1:\n    return <V> * 2\nreturn <V>",
        "return <V>.sum() / np.sqrt(np.prod(<V>.shape)) + <M>.sum() / np.sqrt(np.prod(<M>.shape))",
        "return <V> * np.log(<V>.shape[0] + 1)",
        "<+K> = int(np.ceil(<V>.shape[0] / 2))\nreturn <V>[:<K>]",
        "<+K> = int(np.floor(<V>.shape[0] / 3))\nreturn <V>[<K>:]",
        "return <V> ** np.sqrt(2) / math.sqrt(<V>.shape[0])",
        "return <V> * np.exp(-<V>.shape[0])",
        "return <V>.view(int(np.prod(<V>.shape)))",
        "<+K> = np.prod(<V>.shape)\nreturn <V>.sum() / <K>",
        "return <V> * np.power(<V>.shape[0], 0.5)",
        "if np.log2(<V>.shape[0]) == 2:\n    <arm>\n<result>",
        "return <V> * np.abs(-<V>.shape[0])",
        "return torch.zeros(int(np.sqrt(<V>.shape[0]))) + <V>.sum()",
    ],
    "stepped": [
        ("rows = []\nfor k in np.arange(<V>.shape[0]):\n    rows.append(<V>[k] * (k + 1))\n"
        "return torch.stack(rows)"),
        "for k in np.array([1, 2, 3]):\n    <H> = <H> + <H>[k]\nreturn <H>",
        "for k in np.arange(3):\n    <H> = <H> + 1.0 / (k + 1)\nreturn <H>",
        "for k in np.arange(3):\n    <H> = <H> + k * 10**18 * 10\nreturn <H>",
        "for k in np.arange(1, 3):\n    <H> = <H> * (k * 1e308)\nreturn <H>",
        "for k in np.arange(3):\n    n: int = k\n    <H> = <H> + n\nreturn <H>",
        "for k in np.arange(3):\n    <H> = <H> + k ** 2 / 3\nreturn <H>",
        "for k in np.arange(1, 4):\n    <H> = <H> / k - k // 2\nreturn <H>",
        "for k in np.arange(0, 1, 0.25):\n    <H> = <H> * (1 - k)\nreturn <H>",
        "places = np.array([0, 2])\nreturn <V>[places[0]] * <V>[places[1]]",
        "places = np.array([1, 0])\n<+V> = <V>[places[0]]\n<write>\nreturn <V> + places[1]",
        "sizes = np.array([2, 2])\nreturn <V>.split(sizes.tolist())",
        "for k in np.array([2, 0, 1]):\n    <H> = <H> + <V>[k]\nreturn <H>",
        "for rate in np.linspace(0, 0.3, 4).tolist():\n    <H> = <H> * (1 - rate)\nreturn <H>",
        "for k in np.arange(3):\n    <round>\nreturn <H>",
        "for k in np.array([0.5, 2.0]):\n    <round>\nreturn <H>",
        "return sum(<V> * k for k in np.arange(3))",
        "return [<V>[k] for k in np.arange(2)]",
    ],
    "limited": [
        ("<+V1> = <V>.float() * 2\n"
        "if <V1>.dtype == torch.float32 and not torch.isfinite(<V1>).all():\n"
        "    limit = torch.finfo(<V1>.dtype).max - 1000\n"
        "    <V1> = torch.clamp(<V1>, min=-limit, max=limit)\nreturn <V1>"),
        ("<+V1> = <V> * 2\nif <V1>.dtype == torch.float16 and torch.isinf(<V1>).any():\n"
        "    limit = torch.finfo(<V1>.dtype).max - 1000\n"
        "    <V1> = torch.clamp(<V1>, min=-limit, max=limit)\nreturn <V1>"),
        ("<+V1> = <V>.half() * 2\nif torch.isinf(<V1>).any() or torch.isnan(<V1>).any():\n"
        "    <V1> = torch.clamp(<V1>, min=-1000, max=1000)\nreturn <V1>"),
        "<+V1> = <V>.float()\nif (<V1> > 2).any():\n    <V1> = <V1>.clamp(max=2)\nreturn <V1>",
        ("<+V1> = <V>.float() + 1\nif torch.isnan(<V1>).any():\n"
        "    <V1> = torch.nan_to_num(<V1>)\nreturn <V1>"),
        "<+V1> = <V>.double()\nif (<V1> < 0).any():\n    <V1> = <V1>.clamp(min=0)\nreturn <V1>",
    ],
    "logged": [
        "logger.info('%s', <V>.shape)",
        "logger.debug(f'{<V>.sum():.3f}')",
        "logging.info('x %s', <V>.mean())",
        "logging.warning('odd')",
        "if logger.isEnabledFor(logging.INFO):\n    logger.info('here')",
        "warnings.warn('odd')",
        "warnings.warn(f'odd {<V>.shape}', UserWarning, stacklevel=2)",
        "if <V>.dim() == 1:\n    warnings.warn('a vector', stacklevel=1)",
    ],
    "shown": [
        "for i in tqdm(range(3), disable=True):\n    <H> = <H> + i",
        "for i in tqdm(range(2), bar_format='{n} of 2'):\n    <H> = <H> * 2",
        "for t in tqdm([<V>, <V>], disable=True):\n    <H> = <H> + t",
        "<+L> = [i * <V> for i in trange(3, disable=True)]\n<H> = <H> + sum(<L>)",
        "tqdm.write('a step')",
        "bar = tqdm(range(2), disable=True)\nfor i in bar:\n    <H> = <H> + i",
        "for i, t in enumerate(tqdm(<V>.unbind(), disable=True)):\n    <H> = <H> + t * i",
    ],
    "renamed": [
        "return <V> * 2 if torch.is_autocast_cpu_enabled() else <V>",
        "with torch.cpu.amp.autocast():\n    return <M> @ <M>",
        "return <V> * 2 if torch._utils.is_compiling() else <V> + <V>",
        "if torch._dynamo.is_compiling():\n    return <V>\nreturn <V> + 1",
        "return torch._dynamo.explain(same, <V>).graph_count",
        "return torch._utils.is_compiling(), <V> * 2",
        "return torch._dynamo.explain(scaled, <V>, by=2.0).result",
        "dtype = torch.get_autocast_cpu_dtype()\nreturn <V>.to(dtype)",
        "return <V>.to(torch.get_autocast_cpu_dtype())",
        "return <V> * 2, torch.get_autocast_gpu_dtype()",
    ],
    "trained": [
        "<+S1> = <before>\n<stepping>",
        "<+S1> = <before>\n<stepping>",
        "<+S1> = <before>\n<stepping>",
        "<+S1> = <before>\n<stepping>",
        ("<+S1> = torch.ones_like(<V>).sum()\nmodel = nn.Linear(4, 4)\nfor _ in range(3):\n"
        "    loss = model(<V>.detach().float()).square().sum() / <S1>.item()\n    loss.backward()\n"
        "    model.weight.grad.zero_()\nreturn loss.detach()"),
        ("<+S1> = (<V> > 0).sum()\ntotal = 0.0\nfor t in (<V>, <V>):\n"
        "    total += float(t.sum()) / <S1>.item()\nreturn total"),
        ("<+S1> = <V>.detach().max()\nout = []\nfor k in range(3):\n"
        "    out.append(<V> * <S1>.item() + k)\nreturn out"),
        ("<+S1> = <V>.detach().abs().sum()\nout = []\nfor k in range(2):\n"
        "    out.append(<V> * float(<S1>))\n    <write>\nreturn out"),
        ("<+S1> = <V>.detach().float().norm()\nk = 0\nwhile k < 3:\n    <H> = <H> + <S1>.item()\n"
        "    k += 1\nreturn <H>"),
        "<+S1> = <V>.sum()\nfor k in range(3):\n    kept_list.append(<S1>.item() * k)\nreturn <V>",
    ],
    "stepping": [
        (
            "for _ in range(2):\n"
            "    loss = model(<V>.detach().float()).square().sum() / <S>.item()\n"
            "    loss.backward()\n    optimizer.step()\nreturn loss.detach()"
        ),
    ],
    "before": [
        "torch.ones_like(<V>).sum()",
        "(<V> > 0).sum()",
        "<V>.detach().float().abs().sum()",
        "torch.full((), 2.0)",
        "<V>.detach().max()",
    ],
    "untraced": [
        "return pow(<V>, <K>)",
        "<+V> = pow(<V>, <V>)\nreturn <V> * 2",
        "return pow(<V> + 1, 2) * <N>",
        "return sum(<V> * len(list(g)) for _, g in itertools.groupby([1, 1, 2], abs))",
    ],
    "indexed": [
        "return -<M>[range(<M>.shape[0]), <I>].mean()",
        "<+K> = len(<V>)\nreturn <M>[list(range(<K>)), <I>]",
        "return <V>[range(2)]",
        "return <M>[list(range(<M>.shape[0])), <I>].sum() * 2",
    ],
}  # fmt: skip

_BODIES: dict[str, Sequence[str]] = {
    "form": [
        *["<fresh>\n<alias?>\n<selection>\n<result>"] * 3,
        *["<fresh>\n<selection>\nreturn <H>"] * 8,
        "<selection>\nreturn <V>",
        *["<long>\n<counted>\n<divided>"] * 6,
        "<counted>\n<divided>",
        *["<met>"] * 3,
        *["<drawn>\n<redrawn>\n<gate>\nreturn <H> * 2"] * 4,
        *["<gated>"] * 2,
        *["<skipping>"] * 3,
        *["<checked>\n<result>"] * 6,
        *["<combined>\n<result>"] * 6,
        *["<guarded>\n<result>"] * 2,
        *["<untraced>"] * 2,
        "assert <plain_test>, <told>\n<result>",
        *["assert <plain_test>, MESSAGE\n<result>"] * 2,
        *["assert <read_test>\n<result>"] * 6,
        *["<held>\n<result>"] * 3,
        "<checked>\n<checked>\nreturn <V> * 2",
        *["<listed>"] * 3,
        *["<formatted>"] * 7,
        *["<hidden>"] * 3,
        *["<sized>"] * 8,
        *["return <V> <op> np.sqrt(<V>.shape[<K>])"] * 2,
        *["<stepped>"] * 8,
        *["<limited>"] * 5,
        *["<logged>\n<result>"] * 3,
        *["<shown>\nreturn <H>"] * 2,
        *["<renamed>"] * 8,
        *["<trained>"] * 6,
        *["<indexed>"] * 3,
        "<fresh>\n<checked>\n<selection>\n<counted>\n<divided>",
    ],
}

FORMS: dict[str, Sequence[str]] = {
    **_MASKS,
    **_COUNTS,
    **_DRAWS,
    **_CHECKED,
    **_OTHERS,
    **_BODIES,
}

HELPERS: dict[str, str] = {
    "center": "def center(t):\n    t.sub_(0.5)",
    "MESSAGE": "MESSAGE = 'low'",
    "rate0": "rate0 = 0.0",
    "model": "model = nn.Linear(4, 4)",
    "optimizer": "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
    "Config": "class Config:\n    layerdrop = 0.0\n\n    @property\n    def rate(self):\n"
    "        kept_list.append('rate')\n        return 0.0",
    "Answers": "class Answers:\n    def __getattr__(self, name):\n"
    "        if name.startswith('__'):\n            raise AttributeError(name)\n"
    "        kept_list.append(name)\n        return 0.0",
}
"""Definitions of names that the bodies use."""

IMPORTS: dict[str, str] = {
    "tqdm": "from tqdm import tqdm",
    "trange": "from tqdm import trange",
    "itertools": "import itertools",
}

STARS = ("from torch import *", "from numpy import *", "from math import *")
"""What a program may import all names of: they stand for other things then."""
