"""Calls that Dynamo does not trace: each breaks the graph where it stands.

Compiled one by one on torch 2.13 with default settings; the ids are those that Dynamo printed.
Calls of ``torch.cuda`` were compiled on an H200 with torch 2.11. Output (``print``, loggers,
``warnings``) has its own event and is here for completeness.

Kept by hand: Dynamo has a table of a part of them only, and of the rest says so only when it meets
a call. ``tests/test_torch_facts.py`` looks that none of Dynamo's own table is missing,
``tests/test_torch_facts_kept_by_hand.py`` that torch has the names. What the call of a function
was measured to do on each release, the section ``skipped`` of ``lifetimes.json`` says; without an
entry there a function is taken to break the graph on all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from tclint.records import record
from tclint.torch_facts.lifetimes import FIRST, Lifetime, Version, lifetimes


@record(frozen=True)
class Skipped:
    """What Dynamo prints, and on which releases: on all where nothing else was measured.

    ``since`` is the first release on which the call breaks the graph, ``until`` the first that
    traces it again.
    """

    gb_id: str
    since: Version | None = None
    until: Version | None = None

    def holds(self, version: Version) -> bool:
        """Whether the call breaks the graph on that release."""
        return Lifetime(self.since or FIRST, self.until).holds(version)


# Draws that Dynamo traces as tensors: fine in arithmetic with tensors, and nowhere else. Before
# torch 2.14 it does not trace `random.random` (`measured` tells).
DRAWN: Final = frozenset({"random.random", "random.uniform", "random.randint", "random.randrange"})
DRAWN_BY: Final = frozenset(name.replace("random.", "random.Random.") for name in DRAWN)

NAMES: Final[dict[str, str]] = {
    "GB0007": """
        __import__ atexit.register base64.b64decode base64.b64encode bisect.bisect
        bisect.bisect_left bisect.bisect_right bisect.insort csv.reader ctypes.sizeof
        decimal.getcontext gc.collect gc.disable gc.enable gc.freeze gc.get_count gc.get_objects
        gc.isenabled getpass.getuser glob.glob hashlib.md5 hashlib.new hashlib.sha1 hashlib.sha256
        heapq.heapify heapq.heappop heapq.heappush heapq.heappushpop heapq.heapreplace heapq.merge
        importlib.import_module inspect.currentframe inspect.getfile inspect.stack locale.getlocale
        multiprocessing.Lock multiprocessing.Process multiprocessing.Queue multiprocessing.cpu_count
        os.access os.cpu_count os.environ.pop os.environ.popitem os.environ.setdefault
        os.environ.update os.getcwd os.getloadavg os.getpid os.getppid os.listdir os.makedirs
        os.mkdir os.path.abspath os.path.exists os.path.getmtime os.path.getsize os.path.isdir
        os.path.isfile os.path.islink os.path.normpath os.path.realpath os.path.relpath os.putenv
        os.remove os.scandir os.sched_getaffinity os.stat os.system os.times os.uname os.unsetenv
        os.urandom os.walk pathlib.Path.cwd pickle.dumps pickle.loads queue.Queue random.betavariate
        random.choice random.choices random.expovariate random.gauss random.getrandbits
        random.getstate random.lognormvariate random.normalvariate random.paretovariate
        random.randbytes random.random random.sample random.seed random.shuffle random.triangular
        random.vonmisesvariate random.weibullvariate resource.getrusage
        scipy.optimize.linear_sum_assignment shutil.disk_usage shutil.rmtree shutil.which
        socket.getfqdn socket.gethostname subprocess.Popen subprocess.call subprocess.check_call
        subprocess.check_output subprocess.getoutput subprocess.run sys._getframe
        sys.getdefaultencoding sys.getrefcount sys.getsizeof sys.is_finalizing sys.setrecursionlimit
        tempfile.TemporaryDirectory tempfile.mkstemp threading.Barrier threading.Event
        threading.Lock threading.Semaphore threading.Thread threading.Timer threading.current_thread
        threading.get_ident time.asctime time.clock_gettime time.ctime time.get_clock_info
        time.gmtime time.localtime time.mktime time.monotonic time.monotonic_ns time.perf_counter
        time.perf_counter_ns time.process_time time.sleep time.strftime time.thread_time time.time
        time.time_ns torch.accelerator.empty_cache torch.accelerator.empty_host_cache
        torch.accelerator.get_device_capability torch.accelerator.get_memory_info
        torch.accelerator.max_memory_allocated torch.accelerator.max_memory_reserved
        torch.accelerator.memory_allocated torch.accelerator.memory_reserved
        torch.accelerator.memory_stats torch.accelerator.reset_accumulated_memory_stats
        torch.accelerator.reset_peak_memory_stats torch.accelerator.set_device_index
        torch.autograd.Variable torch.autograd.backward torch.autograd.gradcheck
        torch.autograd.gradcheck.get_numerical_jacobian_wrt_specific_input
        torch.autograd.gradcheck.gradcheck torch.autograd.gradcheck.gradgradcheck
        torch.autograd.gradgradcheck torch.autograd.graph.set_override_stale_capture_stream
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch
        torch.autograd.profiler.load_nvprof torch.autograd.profiler.parse_nvprof_trace
        torch.backends.mkldnn.is_available torch.backends.mps.get_core_count
        torch.backends.mps.get_name torch.backends.mps.is_macos_or_newer
        torch.backends.opt_einsum.is_available torch.compiler.cudagraph_mark_step_begin
        torch.compiler.reset torch.cpu.is_initialized torch.cuda.get_rng_state
        torch.cuda.get_stream_from_external torch.cuda.is_tf32_supported torch.cuda.manual_seed
        torch.cuda.manual_seed_all torch.cuda.random.get_rng_state torch.cuda.random.manual_seed
        torch.cuda.random.manual_seed_all torch.cuda.random.set_rng_state torch.cuda.set_device
        torch.cuda.set_rng_state torch.cuda.synchronize torch.distributed.destroy_process_group
        torch.distributed.get_debug_level torch.distributed.set_debug_level
        torch.distributed.set_debug_level_from_env torch.export.default_decompositions
        torch.export.dims torch.export.draft_export torch.export.export torch.export.load
        torch.export.register_dataclass torch.export.save torch.from_dlpack torch.func.linearize
        torch.func.rearrange torch.futures.Future torch.fx.has_side_effect torch.fx.replace_pattern
        torch.get_rng_state torch.hub.download_url_to_file torch.hub.get_dir torch.hub.help
        torch.hub.list torch.hub.load torch.hub.load_state_dict_from_url torch.hub.set_dir
        torch.jit.enable_onednn_fusion torch.jit.export torch.jit.export_opnames torch.jit.fork
        torch.jit.freeze torch.jit.ignore torch.jit.interface torch.jit.isinstance torch.jit.load
        torch.jit.onednn_fusion_enabled torch.jit.optimize_for_inference torch.jit.save
        torch.jit.script torch.jit.script_if_tracing torch.jit.set_fusion_strategy torch.jit.unused
        torch.jit.wait torch.library.fallthrough_kernel torch.library.get_ctx
        torch.library.get_kernel torch.library.infer_schema torch.library.register_autocast
        torch.library.register_fake torch.library.register_torch_dispatch
        torch.library.register_vmap torch.library.triton_op torch.load torch.lobpcg
        torch.manual_seed torch.masked.as_masked_tensor torch.masked.is_masked_tensor
        torch.masked.masked_tensor torch.miopen_ctc_loss torch.mps.compile_shader
        torch.mps.device_count torch.mps.is_available torch.mps.load_metallib
        torch.mps.recommended_max_memory torch.mtia.attach_out_of_memory_observer
        torch.mtia.current_device torch.mtia.current_stream torch.mtia.default_stream
        torch.mtia.device_count torch.mtia.empty_cache torch.mtia.get_device_capability
        torch.mtia.get_device_properties torch.mtia.get_rng_state torch.mtia.get_rng_state_all
        torch.mtia.graph_pool_handle torch.mtia.init torch.mtia.initial_seed torch.mtia.is_available
        torch.mtia.is_bf16_supported torch.mtia.is_initialized torch.mtia.manual_seed
        torch.mtia.manual_seed_all torch.mtia.max_memory_allocated torch.mtia.memory_allocated
        torch.mtia.memory_stats torch.mtia.record_memory_history torch.mtia.reset_peak_memory_stats
        torch.mtia.seed torch.mtia.seed_all torch.mtia.set_device torch.mtia.set_rng_state
        torch.mtia.set_rng_state_all torch.mtia.set_stream torch.mtia.snapshot torch.mtia.stream
        torch.mtia.synchronize torch.multiprocessing.get_all_sharing_strategies
        torch.multiprocessing.get_sharing_strategy torch.multiprocessing.set_sharing_strategy
        torch.nested.masked_select torch.nn.functional.boolean_dispatch
        torch.nn.utils.rnn.pack_padded_sequence torch.nn.utils.rnn.pack_sequence
        torch.nn.utils.rnn.pad_packed_sequence torch.onnx.export
        torch.overrides.get_ignored_functions torch.overrides.get_testing_overrides
        torch.package.is_from_package torch.profiler.kineto_available torch.profiler.schedule
        torch.profiler.supported_activities torch.profiler.tensorboard_trace_handler
        torch.random.get_rng_state torch.random.manual_seed torch.random.set_rng_state
        torch.resize_as_ torch.resize_as_sparse_ torch.save torch.serialization.add_safe_globals
        torch.serialization.check_module_version_greater_or_equal
        torch.serialization.clear_safe_globals torch.serialization.default_restore_location
        torch.serialization.get_crc32_options torch.serialization.get_default_load_endianness
        torch.serialization.get_default_mmap_options torch.serialization.get_safe_globals
        torch.serialization.get_unsafe_globals_in_checkpoint torch.serialization.load
        torch.serialization.location_tag torch.serialization.normalize_storage_type
        torch.serialization.register_package torch.serialization.save
        torch.serialization.set_crc32_options torch.serialization.set_default_load_endianness
        torch.serialization.storage_to_tensor_type torch.serialization.validate_cuda_device
        torch.serialization.validate_hpu_device torch.set_anomaly_enabled
        torch.set_autocast_cpu_dtype torch.set_autocast_cpu_enabled torch.set_autocast_gpu_dtype
        torch.set_autocast_ipu_dtype torch.set_autocast_ipu_enabled torch.set_autocast_xla_dtype
        torch.set_autocast_xla_enabled torch.set_flush_denormal torch.set_num_interop_threads
        torch.set_num_threads torch.set_rng_state torch.sparse_coo_tensor torch.typename
        torch.utils.benchmark.ordered_unique torch.utils.benchmark.select_unit
        torch.utils.benchmark.timer torch.utils.benchmark.trim_sigfig
        torch.utils.benchmark.unit_to_english torch.utils.checkpoint.check_backward_validity
        torch.utils.checkpoint.checkpoint_sequential
        torch.utils.checkpoint.create_selective_checkpoint_contexts
        torch.utils.checkpoint.detach_variable torch.utils.checkpoint.get_device_states
        torch.utils.checkpoint.noop_context_fn torch.utils.checkpoint.set_device_states
        torch.utils.cpp_extension.CUDAExtension torch.utils.cpp_extension.CppExtension
        torch.utils.cpp_extension.SyclExtension torch.utils.cpp_extension.check_compiler_is_gcc
        torch.utils.cpp_extension.check_compiler_ok_for_platform
        torch.utils.cpp_extension.get_compiler_abi_compatibility_and_version
        torch.utils.cpp_extension.get_cxx_compiler torch.utils.cpp_extension.get_default_build_root
        torch.utils.cpp_extension.include_paths torch.utils.cpp_extension.is_ninja_available
        torch.utils.cpp_extension.library_paths torch.utils.cpp_extension.load
        torch.utils.cpp_extension.load_inline
        torch.utils.cpp_extension.remove_extension_h_precompiler_headers
        torch.utils.cpp_extension.verify_ninja_availability torch.utils.data.argument_validation
        torch.utils.data.default_collate torch.utils.data.default_convert
        torch.utils.data.get_worker_info torch.utils.data.random_split
        torch.utils.data.runtime_validation torch.utils.dlpack.from_dlpack
        torch.utils.dlpack.to_dlpack torch.utils.flop_counter.register_flop_formula
        torch.utils.generate_methods_for_privateuse1_backend torch.utils.get_cpp_backtrace
        torch.utils.model_zoo.load_url torch.utils.rename_privateuse1_backend torch.utils.set_module
        torch.utils.swap_tensors torch.xpu.can_device_access_peer torch.xpu.change_current_allocator
        torch.xpu.clock_rate torch.xpu.device_memory_used torch.xpu.get_per_process_memory_fraction
        torch.xpu.get_rng_state torch.xpu.get_rng_state_all torch.xpu.graph_pool_handle
        torch.xpu.is_current_stream_capturing torch.xpu.is_tf32_supported
        torch.xpu.make_graphed_callables torch.xpu.manual_seed torch.xpu.manual_seed_all
        torch.xpu.memory_snapshot torch.xpu.memory_usage torch.xpu.power_draw torch.xpu.set_device
        torch.xpu.set_per_process_memory_fraction torch.xpu.set_rng_state
        torch.xpu.set_rng_state_all torch.xpu.temperature torch.xpu.utilization
        traceback.extract_stack traceback.format_stack traceback.print_stack uuid.uuid1 uuid.uuid4
        warnings.filterwarnings warnings.simplefilter warnings.warn zlib.crc32
    """,
    "GB0008": """
        secrets.randbelow secrets.token_hex torch.autograd.detect_anomaly
        torch.autograd.graph.save_on_cpu torch.autograd.set_detect_anomaly torch.optim.ASGD
        torch.optim.Adadelta torch.optim.Adafactor torch.optim.Adagrad torch.optim.Adam
        torch.optim.AdamW torch.optim.Adamax torch.optim.LBFGS torch.optim.Muon torch.optim.NAdam
        torch.optim.Optimizer torch.optim.RAdam torch.optim.RMSprop torch.optim.Rprop
        torch.optim.SGD torch.optim.SparseAdam torch.optim.lr_scheduler.ChainedScheduler
        torch.optim.lr_scheduler.ConstantLR torch.optim.lr_scheduler.CosineAnnealingLR
        torch.optim.lr_scheduler.CosineAnnealingWarmRestarts torch.optim.lr_scheduler.CyclicLR
        torch.optim.lr_scheduler.ExponentialLR torch.optim.lr_scheduler.LambdaLR
        torch.optim.lr_scheduler.LinearLR torch.optim.lr_scheduler.MultiStepLR
        torch.optim.lr_scheduler.MultiplicativeLR torch.optim.lr_scheduler.OneCycleLR
        torch.optim.lr_scheduler.PolynomialLR torch.optim.lr_scheduler.ReduceLROnPlateau
        torch.optim.lr_scheduler.SequentialLR torch.optim.lr_scheduler.StepLR
        torch.utils.data.DataLoader torch.utils.data.TensorDataset
        torch.utils.flop_counter.FlopCounterMode
    """,
    "GB0025": "torch._dynamo.graph_break",
    "GB0033": "torch.nn.functional.gaussian_nll_loss",
    "GB0045": "torch.Tensor.is_inference",
    "GB0046": "torch.is_inference_mode_enabled",
    "GB0055": """
        torch.Tensor.apply_ torch.Tensor.map_ torch.autograd.functional.hessian
        torch.autograd.functional.jacobian torch.autograd.functional.jvp
        torch.autograd.functional.vjp torch.frombuffer
    """,
    "GB0059": """
        breakpoint bytearray bytes compile exec globals heapq.nlargest heapq.nsmallest memoryview
        object open operator.delitem operator.indexOf operator.setitem print
        tempfile.NamedTemporaryFile torch.distributions.kl.kl_divergence
        torch.distributions.kl_divergence traceback.print_exc traceback.print_exception
    """,
    "GB0087": "torch.Tensor.to_mkldnn",
    "GB0090": "torch.nested.as_nested_tensor torch.nested.nested_tensor",
    "GB0098": "torch.jit.trace torch.jit.trace_module",
    "GB0107": "torch.Tensor.random_",
    "GB0108": "torch.Tensor.retain_grad",
    "GB0116": "enum.auto",
    "GB0123": "torch.Tensor.backward",
    "GB0124": "torch.nn.init.trunc_normal_",
    "GB0125": "torch.Tensor.requires_grad_",
    "GB0126": "torch.Tensor.resize_",
    "GB0127": "torch.Tensor.resize_as_",
    "GB0134": "statistics.mean statistics.stdev",
    "GB0142": "threading.active_count threading.enumerate",
    "GB0147": """
        array.array datetime.date datetime.datetime datetime.time datetime.timedelta decimal.Decimal
        itertools.combinations_with_replacement
        socket.socket threading.local types.MethodType types.SimpleNamespace
    """,
    "GB0148": "torch.Tensor.set_",
    "GB0156": """
        torch.Tensor.data.__set__ torch.Tensor.grad.__set__ torch.Tensor.requires_grad.__set__
        ctypes.c_int dataclasses.make_dataclass datetime.date.today
        datetime.datetime.fromtimestamp datetime.datetime.now datetime.datetime.strptime
        datetime.datetime.today datetime.datetime.utcnow functools.lru_cache hashlib.blake2b
        io.BytesIO io.StringIO json.dumps json.loads logging.StreamHandler
        logging.basicConfig pickle.Pickler pprint.pformat pprint.pprint queue.SimpleQueue
        random.SystemRandom sys.stderr.flush sys.stderr.write sys.stdout.flush
        sys.stdout.write tempfile.mkdtemp threading.Condition threading.RLock uuid.uuid3
    """,
    "GB0170": "torch.testing.assert_close",
    "GB0206": "torch.testing.make_tensor",
    "GB0208": """
        torch.backends.cuda.sdp_kernel torch.backends.cudnn.flags torch.backends.mkldnn.flags
        torch.Tensor.__reduce_ex__ torch.Tensor.dense_dim torch.Tensor.is_conj
        torch.Tensor.is_distributed torch.Tensor.is_neg torch.Tensor.is_pinned
        torch.Tensor.is_same_size torch.Tensor.is_set_to torch.Tensor.is_shared
        torch.Tensor.is_signed torch.Tensor.share_memory_ torch.Tensor.sparse_dim
        torch.Tensor.storage torch.Tensor.storage_offset torch.__config__.show
        torch.accelerator.device_count torch.backends.cuda.flash_sdp_enabled
        torch.backends.cuda.is_built torch.backends.cuda.math_sdp_enabled
        torch.backends.cuda.mem_efficient_sdp_enabled torch.backends.cuda.preferred_linalg_library
        torch.backends.cudnn.is_available torch.backends.mkl.is_available
        torch.backends.mps.is_available torch.backends.mps.is_built
        torch.backends.openmp.is_available torch.can_cast torch.compiled_with_cxx11_abi
        torch.cpu.current_stream torch.cpu.is_available torch.cuda.default_stream
        torch.cuda.device_count torch.cuda.get_arch_list torch.cuda.get_device_name
        torch.cuda.initial_seed torch.cuda.is_bf16_supported torch.cuda.is_current_stream_capturing
        torch.cuda.max_memory_allocated torch.cuda.memory_allocated torch.cuda.memory_reserved
        torch.cuda.memory_stats torch.cuda.nvtx.range_pop torch.cuda.nvtx.range_push
        torch.cudnn_is_acceptable torch.get_autocast_cpu_dtype torch.get_default_device
        torch.get_deterministic_debug_mode torch.get_device torch.get_float32_matmul_precision
        torch.get_num_interop_threads torch.get_num_threads torch.initial_seed
        torch.is_anomaly_check_nan_enabled torch.is_anomaly_enabled torch.is_conj
        torch.is_deterministic_algorithms_warn_only_enabled torch.is_distributed torch.is_inference
        torch.is_neg torch.is_same_size torch.is_signed torch.is_storage
        torch.is_warn_always_enabled torch.random.fork_rng torch.random.initial_seed
        torch.result_type torch.xpu.device_count
    """,
    "GB0277": """
        torch.Tensor.to_sparse torch.Tensor.to_sparse_bsc torch.Tensor.to_sparse_bsr
        torch.Tensor.to_sparse_coo torch.Tensor.to_sparse_csc torch.Tensor.to_sparse_csr
    """,
    "GB0363": "torch.Generator",
    "GB0374": "torch.sparse_csr_tensor",
    "GB0467": """
        torch.nn.Module.register_forward_hook torch.nn.Module.register_forward_pre_hook
        torch.nn.Module.register_full_backward_hook torch.nn.Module.register_full_backward_pre_hook
    """,
    "GB4198": "torch.Tensor.__deepcopy__ torch.optim.swa_utils.AveragedModel",
    "GB4841": """
        logging.critical logging.debug logging.error logging.exception logging.info logging.warning
    """,
    "GB6215": "logging.getLogger",
    "GB9186": "torch.autograd.grad",
}

BY_NAME: Final[dict[str, str]] = {
    name: gb_id for gb_id, names in NAMES.items() for name in names.split()
}
"""The id that torch 2.13 prints for each."""
OLDER_NAMES: Final = frozenset(
    {"importlib.metadata.version", "importlib.util.find_spec", "types.FunctionType.__get__"}
)
"""What 2.13 traces, and releases before did not."""
SKIPPED_FUNCTIONS: Final = frozenset(
    name.rpartition(".")[2] for name in BY_NAME.keys() | OLDER_NAMES
)
"""The last names of all these functions."""


def is_skipped(dotted: str) -> bool:
    """Whether a call breaks the graph on some release."""
    return dotted in BY_NAME or dotted in OLDER_NAMES


def skipped_by_dynamo(dotted: str, version: Version) -> Skipped | None:
    """How a call breaks the graph on a release, or on others; None where it is traced on all."""
    if not is_skipped(dotted):
        return None
    return measured(dotted, version) or Skipped(BY_NAME[dotted])


def measured(dotted: str, version: Version) -> Skipped | None:
    """What the call of a function or a method was measured to do; None if it was not."""
    spans = _measured().get(dotted)
    if spans is None:
        return None
    gb_id = next((gb_id for gb_id, one in spans if one.holds(version)), spans[-1][0])
    since, last = min(one.since for _, one in spans), spans[-1][1]
    return Skipped(gb_id, since if since > FIRST else None, last.until)


def traced_since(dotted: str) -> Version | None:
    """The first release that traces a call on which older ones break; None for all others."""
    spans = _measured().get(dotted)
    return None if spans is None else spans[-1][1].until


@cache
def _measured() -> Mapping[str, list[tuple[str, Lifetime]]]:
    """What the calls of functions were measured to do, the oldest release first."""
    found: dict[str, list[tuple[str, Lifetime]]] = {}
    for entry, one in lifetimes("skipped").items():
        name, _, gb_id = entry.partition(":")
        found.setdefault(name, []).append((gb_id, one))
    return found
