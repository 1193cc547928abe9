"""Calls that Dynamo does not trace: each breaks the graph where it stands.

Compiled one by one on torch 2.13 with default settings; the ids are those that Dynamo printed.
Output (``print``, loggers, ``warnings``) has its own event and is here for completeness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Skipped:
    """``gb_id`` is what torch 2.13 prints; ``traced_from`` the first torch that traces the call."""

    gb_id: str
    traced_from: tuple[int, int] | None = None


NAMES: Final[dict[str, str]] = {
    "GB0007": """
        base64.b64encode bisect.bisect bisect.bisect_left bisect.bisect_right bisect.insort
        copy.copy gc.collect gc.disable gc.enable gc.isenabled
        hashlib.md5 hashlib.sha1 hashlib.sha256 heapq.heapify heapq.heappop heapq.heappush
        importlib.import_module inspect.stack
        os.cpu_count os.getcwd os.getpid os.listdir os.makedirs os.mkdir os.path.exists
        os.path.isdir os.path.isfile os.remove os.stat os.system os.urandom
        pickle.dumps pickle.loads
        random.betavariate random.choice random.choices random.expovariate random.gauss
        random.getrandbits random.lognormvariate random.normalvariate random.random
        random.sample random.seed random.shuffle random.triangular
        shutil.which socket.gethostname subprocess.run sys.getrefcount sys.getsizeof
        threading.Lock threading.current_thread threading.get_ident
        time.ctime time.gmtime time.localtime time.monotonic time.monotonic_ns
        time.perf_counter time.perf_counter_ns time.process_time time.sleep time.strftime
        time.thread_time time.time time.time_ns
        torch.cuda.manual_seed torch.from_dlpack torch.futures.Future torch.get_rng_state
        torch.load torch.lobpcg torch.manual_seed torch.nn.utils.rnn.pack_padded_sequence
        torch.save torch.set_num_threads torch.set_rng_state torch.sparse_coo_tensor
        torch.typename torch.utils.data.get_worker_info torch.utils.dlpack.to_dlpack
        traceback.print_stack uuid.uuid1 uuid.uuid4
        warnings.filterwarnings warnings.simplefilter warnings.warn
    """,
    "GB0001": "torch.Tensor.as_subclass",
    "GB0055": "torch.Tensor.apply_ torch.Tensor.map_",
    "GB0059": """
        breakpoint bytearray bytes exec globals memoryview open print traceback.print_exc
        traceback.print_exception
    """,
    "GB0087": "torch.Tensor.to_mkldnn",
    "GB0090": "torch.nested.nested_tensor",
    "GB0116": "enum.auto",
    "GB0117": "torch.Tensor.share_memory_",
    "GB0123": "torch.Tensor.backward",
    "GB0125": "torch.Tensor.requires_grad_",
    "GB0134": "statistics.mean",
    "GB0147": "decimal.Decimal types.SimpleNamespace",
    "GB0148": "torch.Tensor.resize_ torch.Tensor.set_",
    "GB0156": """
        datetime.datetime.now io.BytesIO io.StringIO json.dumps json.loads pprint.pformat
        pprint.pprint sys.stderr.flush sys.stderr.write sys.stdout.flush sys.stdout.write
        tempfile.mkdtemp threading.RLock
    """,
    "GB0175": "inspect.signature",
    "GB0208": """
        torch.Tensor.is_pinned torch.Tensor.is_same_size torch.Tensor.is_set_to
        torch.Tensor.is_shared torch.Tensor.storage torch.Tensor.storage_offset
        torch.backends.cudnn.is_available torch.backends.mps.is_available
        torch.cuda.device_count torch.cuda.is_bf16_supported torch.cuda.max_memory_allocated
        torch.cuda.memory_allocated torch.cuda.memory_reserved torch.get_default_device
        torch.get_num_threads torch.initial_seed torch.random.fork_rng
    """,
    "GB0277": "torch.Tensor.to_sparse",
    "GB0363": "torch.Generator",
    "GB4198": "torch.Tensor.__deepcopy__",
    "GB4841": """
        logging.critical logging.debug logging.error logging.exception logging.info
        logging.warning
    """,
    "GB6215": "logging.getLogger",
    "GB9186": "torch.autograd.grad",
}

TRACED_FROM: Final[dict[str, tuple[int, int]]] = {
    "random.random": (2, 15),
    "random.shuffle": (2, 15),
}

BY_NAME: Final[dict[str, Skipped]] = {
    name: Skipped(gb_id, TRACED_FROM.get(name))
    for gb_id, names in NAMES.items()
    for name in names.split()
}


def skipped_by_dynamo(dotted: str) -> Skipped | None:
    """How a call breaks the graph, None when it is traced or not known to break."""
    return BY_NAME.get(dotted)
