"""Calls that Dynamo does not trace on some release, each as a program that can be compiled.

What they are called with matters little: Dynamo leaves the function to Python, or does not. What
changes the process, or waits, is left out, and then only the release that ``skipped.py`` was
measured on speaks for it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType

import torch

from scripts.torch_facts import methods

_ID = re.compile(r"/gb(\d+)\.html")
# Functions that are called without arguments.
_PLAIN = """
    datetime.date.today datetime.datetime.now datetime.datetime.today datetime.datetime.utcnow
    decimal.getcontext gc.collect gc.get_count gc.get_objects gc.isenabled getpass.getuser
    hashlib.md5 hashlib.sha1 hashlib.sha256 hashlib.blake2b inspect.currentframe io.BytesIO
    io.StringIO locale.getlocale logging.StreamHandler multiprocessing.cpu_count os.cpu_count
    os.getcwd os.getloadavg os.getpid os.getppid os.scandir os.times os.uname pathlib.Path.cwd
    queue.Queue queue.SimpleQueue random.SystemRandom random.getstate random.random
    socket.gethostname sys._getframe sys.getdefaultencoding sys.is_finalizing sys.stderr.flush
    sys.stdout.flush tempfile.mkdtemp threading.Condition threading.Event threading.Lock
    threading.RLock threading.Semaphore threading.Thread threading.active_count
    threading.current_thread threading.enumerate threading.get_ident threading.local time.asctime
    time.ctime time.gmtime time.localtime time.monotonic time.monotonic_ns time.perf_counter
    time.perf_counter_ns time.process_time time.thread_time time.time time.time_ns
    types.SimpleNamespace uuid.uuid1 uuid.uuid4 globals random.triangular
    torch.Generator torch.accelerator.device_count torch.backends.cuda.flash_sdp_enabled
    torch.backends.cuda.is_built torch.backends.cuda.math_sdp_enabled
    torch.backends.cuda.mem_efficient_sdp_enabled torch.backends.cudnn.is_available
    torch.backends.mkl.is_available torch.backends.mkldnn.is_available
    torch.backends.mps.is_available torch.backends.mps.is_built
    torch.backends.openmp.is_available torch.backends.opt_einsum.is_available
    torch.compiled_with_cxx11_abi torch.compiler.cudagraph_mark_step_begin
    torch.cpu.current_stream torch.cpu.is_available torch.cpu.is_initialized
    torch.cuda.device_count torch.cuda.is_bf16_supported torch.cuda.is_tf32_supported
    torch.get_default_device torch.get_deterministic_debug_mode
    torch.get_float32_matmul_precision torch.get_num_interop_threads torch.get_num_threads
    torch.get_rng_state torch.initial_seed torch.is_deterministic_algorithms_warn_only_enabled
    torch.get_autocast_cpu_dtype torch.is_anomaly_check_nan_enabled torch.is_anomaly_enabled
    torch.is_inference_mode_enabled torch.is_warn_always_enabled
    torch.multiprocessing.get_sharing_strategy torch.profiler.kineto_available
    torch.profiler.supported_activities torch.random.get_rng_state torch.random.initial_seed
    torch.utils.data.get_worker_info traceback.extract_stack traceback.format_stack
    torch.__config__.show torch._dynamo.graph_break
"""
# Functions that are called with the tensor `x`.
_OF_TENSOR = """
    torch.Tensor.is_conj torch.Tensor.is_distributed torch.Tensor.is_inference
    torch.Tensor.is_neg torch.Tensor.is_pinned torch.Tensor.is_shared torch.Tensor.is_signed
    torch.Tensor.retain_grad torch.Tensor.storage torch.Tensor.storage_offset
    torch.Tensor.dense_dim torch.Tensor.sparse_dim torch.Tensor.to_sparse_coo
    torch.Tensor.to_mkldnn torch.Tensor.to_sparse torch.Tensor.to_sparse_csr torch.get_device
    torch.is_distributed torch.is_neg torch.cudnn_is_acceptable
    torch.Tensor.requires_grad_ torch.Tensor.random_ torch.autograd.Variable torch.from_dlpack
    torch.is_conj torch.is_inference torch.is_signed torch.is_storage torch.nn.init.trunc_normal_
    torch.typename torch.utils.data.default_collate torch.utils.data.default_convert
    torch.utils.dlpack.to_dlpack sys.getrefcount sys.getsizeof id
"""
_CALLS = {
    "__import__": "'math'",
    "base64.b64decode": "'aaaa'",
    "base64.b64encode": "b'a'",
    "bisect.bisect": "[1, 2], 1",
    "bisect.bisect_left": "[1, 2], 1",
    "bisect.bisect_right": "[1, 2], 1",
    "bisect.insort": "[1, 2], 1",
    "ctypes.sizeof": "ctypes.c_int",
    "glob.glob": "'*.none'",
    "hashlib.new": "'md5'",
    "heapq.heapify": "[2, 1]",
    "heapq.heappop": "[1, 2]",
    "heapq.heappush": "[1, 2], 1",
    "heapq.heappushpop": "[1, 2], 1",
    "heapq.heapreplace": "[1, 2], 1",
    "heapq.merge": "[1], [2]",
    "heapq.nlargest": "1, [1, 2]",
    "heapq.nsmallest": "1, [1, 2]",
    "importlib.import_module": "'math'",
    "importlib.util.find_spec": "'json'",
    "importlib.metadata.version": "'torch'",
    "inspect.getfile": "json",
    "os.access": "'.', 0",
    "os.listdir": "'.'",
    "os.path.abspath": "'.'",
    "os.path.exists": "'.'",
    "os.path.getmtime": "'.'",
    "os.path.getsize": "'.'",
    "os.path.isdir": "'.'",
    "os.path.isfile": "'.'",
    "os.path.islink": "'.'",
    "os.path.normpath": "'.'",
    "os.path.realpath": "'.'",
    "os.path.relpath": "'.'",
    "os.sched_getaffinity": "0",
    "os.stat": "'.'",
    "os.urandom": "2",
    "os.walk": "'.'",
    "pickle.dumps": "1",
    "pickle.loads": "b'I1\\n.'",
    "random.betavariate": "1, 2",
    "random.choice": "[1, 2]",
    "random.choices": "[1, 2]",
    "random.expovariate": "1",
    "random.gauss": "0, 1",
    "random.getrandbits": "2",
    "random.lognormvariate": "0, 1",
    "random.normalvariate": "0, 1",
    "random.paretovariate": "1",
    "random.randbytes": "2",
    "random.sample": "[1, 2], 1",
    "random.seed": "0",
    "random.shuffle": "[1, 2]",
    "random.uniform": "0, 1",
    "random.randint": "0, 1",
    "random.randrange": "2",
    "random.vonmisesvariate": "0, 1",
    "random.weibullvariate": "1, 1",
    "resource.getrusage": "0",
    "secrets.randbelow": "2",
    "secrets.token_hex": "2",
    "shutil.disk_usage": "'.'",
    "shutil.which": "'true'",
    "subprocess.run": "['true']",
    "subprocess.call": "['true']",
    "subprocess.check_output": "['true']",
    "time.clock_gettime": "0",
    "time.get_clock_info": "'time'",
    "time.mktime": "(2020, 1, 1, 0, 0, 0, 0, 1, 0)",
    "time.sleep": "0",
    "time.strftime": "'%Y'",
    "time.strptime": "'2020', '%Y'",
    "uuid.uuid3": "uuid.NAMESPACE_DNS, 'a'",
    "warnings.filterwarnings": "'default', 'no such'",
    "warnings.simplefilter": "'default'",
    "warnings.warn": "'said'",
    "zlib.crc32": "b'a'",
    "array.array": "'i', [1]",
    "bytearray": "2",
    "bytes": "2",
    "memoryview": "b'a'",
    "compile": "'1', 'a', 'eval'",
    "exec": "'1'",
    "object": "",
    "open": "'/dev/null'",
    "operator.delitem": "[1], 0",
    "operator.indexOf": "[1], 1",
    "operator.setitem": "[1], 0, 2",
    "operator.length_hint": "[1]",
    "print": "'said'",
    "pprint.pformat": "1",
    "pprint.pprint": "1",
    "statistics.mean": "[1, 2]",
    "statistics.stdev": "[1, 2]",
    "datetime.date": "2020, 1, 1",
    "datetime.datetime": "2020, 1, 1",
    "datetime.time": "1",
    "datetime.timedelta": "1",
    "datetime.datetime.fromtimestamp": "0",
    "datetime.datetime.strptime": "'2020', '%Y'",
    "decimal.Decimal": "1",
    "itertools.combinations_with_replacement": "[1, 2], 1",
    "types.MethodType": "len, []",
    "enum.auto": "",
    "ctypes.c_int": "1",
    "dataclasses.make_dataclass": "'A', ['b']",
    "functools.lru_cache": "len",
    "json.dumps": "{}",
    "json.loads": "'{}'",
    "logging.critical": "'said'",
    "logging.debug": "'said'",
    "logging.error": "'said'",
    "logging.info": "'said'",
    "logging.warning": "'said'",
    "logging.getLogger": "'a'",
    "sys.stderr.write": "''",
    "sys.stdout.write": "''",
    "copy.copy": "[1]",
    "copy.deepcopy": "[1]",
    "torch.Tensor.is_same_size": "x, x",
    "torch.Tensor.is_set_to": "x, x",
    "torch.Tensor.resize_": "x.clone(), 3",
    "torch.Tensor.resize_as_": "x.clone(), x",
    "torch.Tensor.to_sparse_bsc": "x[None], 1",
    "torch.autograd.functional.jacobian": "torch.sin, x",
    "torch.autograd.functional.jvp": "torch.sin, x, x",
    "torch.autograd.functional.vjp": "torch.sin, x, x",
    "torch.can_cast": "torch.int32, torch.float32",
    "torch.frombuffer": "bytearray(4), dtype=torch.float32",
    "torch.is_same_size": "x, x",
    "torch.jit.script": "torch.sin",
    "torch.jit.isinstance": "1, int",
    "torch.manual_seed": "0",
    "torch.random.manual_seed": "0",
    "torch.nested.nested_tensor": "[x]",
    "torch.nested.as_nested_tensor": "[x]",
    "torch.nn.functional.gaussian_nll_loss": "x, x, x",
    "torch.nn.utils.rnn.pack_padded_sequence": "torch.ones(2, 1, 1), torch.tensor([2])",
    "torch.nn.utils.rnn.pack_sequence": "[x]",
    "torch.random.fork_rng": "",
    "torch.backends.cuda.sdp_kernel": "",
    "torch.backends.cudnn.flags": "enabled=True",
    "torch.backends.mkldnn.flags": "enabled=True",
    "torch.autograd.detect_anomaly": "",
    "torch.autograd.graph.save_on_cpu": "",
    "torch.result_type": "x, 1",
    "torch.save": "x, io.BytesIO()",
    "torch.set_num_threads": "1",
    "torch.set_rng_state": "torch.default_generator.get_state()",
    "torch.sparse_coo_tensor": "torch.zeros(1, 2, dtype=torch.int64), torch.ones(2)",
    "torch.sparse_csr_tensor": "torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1)",
    "torch.testing.assert_close": "x, x",
    "torch.testing.make_tensor": "2, dtype=torch.float32, device='cpu'",
    "torch.autograd.set_detect_anomaly": "False",
    "torch.optim.Adam": "[torch.nn.Parameter(x)]",
    "torch.optim.AdamW": "[torch.nn.Parameter(x)]",
    "torch.optim.SGD": "[torch.nn.Parameter(x)], 0.1",
    "torch.utils.data.TensorDataset": "x",
    "torch.utils.data.DataLoader": "[1]",
    "torch.cuda.manual_seed": "0",
    "torch.cuda.manual_seed_all": "0",
}

_COLLECTIVES = {
    "all_to_all": "[torch.empty(3)], [x * 2]",
    "barrier": "",
    "broadcast": "x * 2, 0",
    "gather": "x * 2, [torch.empty(3)]",
    "new_group": "",
    "new_subgroups": "1",
    "reduce": "x * 2, 0",
    "reduce_scatter": "torch.empty(3), [x * 2]",
    "scatter": "torch.empty(3), [x * 2]",
}
_GROUP = """\
import torch.distributed as dist
if not dist.is_initialized():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
"""

# Methods that are made by hand, which are no objects that eager code could make before.
_WHOLE = {
    "types.FunctionType.__get__": (
        "def g(x):\n    return x * 2\ndef f(x):\n    y = x + 1\n    m = g.__get__(y)\n"
        "    return m()\n"
    ),
}


def programs() -> dict[str, str]:
    """A program for each function."""
    given = dict.fromkeys(_PLAIN.split(), "") | dict.fromkeys(_OF_TENSOR.split(), "x") | _CALLS
    functions = {name: _program(name, arguments) for name, arguments in given.items()}
    collectives = {
        f"torch.distributed.{name}": _GROUP + _program(f"torch.distributed.{name}", arguments)
        for name, arguments in _COLLECTIVES.items()
    }
    return functions | collectives | _WHOLE | methods.programs()


def skipped() -> dict[str, str]:
    """The functions that the torch of this environment leaves to Python, and the graph break's id.

    With the empty id where they are traced; what does not run here is not in it.
    """
    found: dict[str, str] = {}
    logging.disable()
    warnings.simplefilter("ignore")
    for name, program in programs().items():
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.suppress(Exception),  # what cannot be called here says nothing
        ):
            found[name] = _break_of(program)
    return found


def _program(name: str, arguments: str) -> str:
    words = re.findall(r"(?<![\w.])([a-z]+)\.", f"{name}({arguments})")
    used = {word for word in words if word != "x"}
    modules = {name.rpartition(".")[0], *used, "torch"}
    imports = "".join(f"import {module}\n" for module in sorted(modules) if _is_module(module))
    return f"{imports}def f(x):\n    y = x + 1\n    r = {name}({arguments})\n    return y * 2\n"


def _is_module(name: str) -> bool:
    try:
        importlib.import_module(name)
    except (ImportError, ValueError):
        return False
    return True


def _break_of(program: str) -> str:
    """The id of the first graph break of a program; empty where it is one graph."""
    module = sys.modules["a_program"] = ModuleType("a_program")  # Dynamo imports it by its name
    exec(compile(program, "<a program>", "exec"), vars(module))
    function = vars(module)["f"]
    function(torch.ones(3))
    torch._dynamo.reset()
    with _reasons() as reasons:
        torch.compile(function, backend="eager")(torch.ones(3))
    ids = [f"GB{found}" for reason in reasons for found in _ID.findall(reason)]
    return ids[0] if ids else ""


@contextlib.contextmanager
def _reasons() -> Iterator[list[str]]:
    """Why the graph breaks in this block, as Dynamo's counters have it."""
    from torch._dynamo.utils import counters

    counters.clear()
    found: list[str] = []
    yield found
    found += [*counters["graph_break"], *counters["unimplemented"]]


if __name__ == "__main__":
    import json

    print(json.dumps(skipped()))
