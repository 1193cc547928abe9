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

from typing import Final

from tclint.torch_facts.instances import is_skipped_method
from tclint.torch_facts.lifetimes import Version
from tclint.torch_facts.measured import Skipped, measured, measured_calls

_COLLECTIVES: Final = "torch.distributed."
# Draws that Dynamo traces as tensors: fine in arithmetic with tensors, and nowhere else. Before
# torch 2.14 it does not trace `random.random` (`measured` tells).
DRAWN: Final = frozenset({"random.random", "random.uniform", "random.randint", "random.randrange"})
DRAWN_BY: Final = frozenset(name.replace("random.", "random.Random.") for name in DRAWN)

NAMES: Final[dict[str, str]] = {
    "GB0007": """
        atexit.register csv.reader gc.disable gc.enable gc.freeze inspect.stack multiprocessing.Lock
        multiprocessing.Process multiprocessing.Queue os.environ.pop os.environ.popitem
        os.environ.setdefault os.environ.update os.makedirs os.mkdir os.putenv os.remove os.system
        os.unsetenv scipy.optimize.linear_sum_assignment shutil.rmtree socket.getfqdn
        subprocess.Popen subprocess.check_call subprocess.getoutput sys.setrecursionlimit
        tempfile.TemporaryDirectory tempfile.mkstemp threading.Barrier threading.Timer
        torch.accelerator.empty_cache torch.accelerator.empty_host_cache
        torch.accelerator.get_device_capability torch.accelerator.get_memory_info
        torch.accelerator.max_memory_allocated torch.accelerator.max_memory_reserved
        torch.accelerator.memory_allocated torch.accelerator.memory_reserved
        torch.accelerator.memory_stats torch.accelerator.reset_accumulated_memory_stats
        torch.accelerator.reset_peak_memory_stats torch.accelerator.set_device_index
        torch.autograd.backward torch.autograd.gradcheck
        torch.autograd.gradcheck.get_numerical_jacobian_wrt_specific_input
        torch.autograd.gradcheck.gradcheck torch.autograd.gradcheck.gradgradcheck
        torch.autograd.gradgradcheck torch.autograd.graph.set_override_stale_capture_stream
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch
        torch.autograd.profiler.load_nvprof torch.autograd.profiler.parse_nvprof_trace
        torch.backends.mps.get_core_count torch.backends.mps.get_name
        torch.backends.mps.is_macos_or_newer torch.compiler.reset torch.cuda.get_rng_state
        torch.cuda.get_stream_from_external torch.cuda.random.get_rng_state
        torch.cuda.random.manual_seed torch.cuda.random.manual_seed_all
        torch.cuda.random.set_rng_state torch.cuda.set_device torch.cuda.set_rng_state
        torch.cuda.synchronize torch.distributed.destroy_process_group
        torch.distributed.get_debug_level torch.distributed.set_debug_level
        torch.distributed.set_debug_level_from_env torch.export.default_decompositions
        torch.export.dims torch.export.draft_export torch.export.export torch.export.load
        torch.export.register_dataclass torch.export.save torch.func.linearize torch.func.rearrange
        torch.futures.Future torch.fx.has_side_effect torch.fx.replace_pattern
        torch.hub.download_url_to_file torch.hub.get_dir torch.hub.help torch.hub.list
        torch.hub.load torch.hub.load_state_dict_from_url torch.hub.set_dir
        torch.jit.enable_onednn_fusion torch.jit.export torch.jit.export_opnames torch.jit.fork
        torch.jit.freeze torch.jit.ignore torch.jit.interface torch.jit.load
        torch.jit.onednn_fusion_enabled torch.jit.optimize_for_inference torch.jit.save
        torch.jit.script_if_tracing torch.jit.set_fusion_strategy torch.jit.unused torch.jit.wait
        torch.library.fallthrough_kernel torch.library.get_ctx torch.library.get_kernel
        torch.library.infer_schema torch.library.register_autocast torch.library.register_fake
        torch.library.register_torch_dispatch torch.library.register_vmap torch.library.triton_op
        torch.load torch.lobpcg torch.masked.as_masked_tensor torch.masked.is_masked_tensor
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
        torch.multiprocessing.set_sharing_strategy torch.nested.masked_select
        torch.nn.functional.boolean_dispatch torch.nn.utils.rnn.pad_packed_sequence
        torch.onnx.export torch.overrides.get_ignored_functions
        torch.overrides.get_testing_overrides torch.package.is_from_package torch.profiler.schedule
        torch.profiler.tensorboard_trace_handler torch.random.set_rng_state torch.resize_as_
        torch.resize_as_sparse_ torch.serialization.add_safe_globals
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
        torch.utils.data.random_split torch.utils.data.runtime_validation
        torch.utils.dlpack.from_dlpack torch.utils.flop_counter.register_flop_formula
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
        traceback.print_stack
    """,
    "GB0008": """
        torch.autograd.detect_anomaly torch.autograd.graph.save_on_cpu torch.optim.ASGD
        torch.optim.Adadelta torch.optim.Adafactor torch.optim.Adagrad torch.optim.Adamax
        torch.optim.LBFGS torch.optim.Muon torch.optim.NAdam torch.optim.Optimizer torch.optim.RAdam
        torch.optim.RMSprop torch.optim.Rprop torch.optim.SparseAdam
        torch.optim.lr_scheduler.ChainedScheduler torch.optim.lr_scheduler.ConstantLR
        torch.optim.lr_scheduler.CosineAnnealingLR
        torch.optim.lr_scheduler.CosineAnnealingWarmRestarts torch.optim.lr_scheduler.CyclicLR
        torch.optim.lr_scheduler.ExponentialLR torch.optim.lr_scheduler.LambdaLR
        torch.optim.lr_scheduler.LinearLR torch.optim.lr_scheduler.MultiStepLR
        torch.optim.lr_scheduler.MultiplicativeLR torch.optim.lr_scheduler.OneCycleLR
        torch.optim.lr_scheduler.PolynomialLR torch.optim.lr_scheduler.ReduceLROnPlateau
        torch.optim.lr_scheduler.SequentialLR torch.optim.lr_scheduler.StepLR
        torch.utils.flop_counter.FlopCounterMode
    """,
    "GB0055": "torch.Tensor.apply_ torch.Tensor.map_ torch.autograd.functional.hessian",
    "GB0059": """
        breakpoint tempfile.NamedTemporaryFile torch.distributions.kl.kl_divergence
        torch.distributions.kl_divergence traceback.print_exc traceback.print_exception
    """,
    "GB0098": "torch.jit.trace torch.jit.trace_module",
    "GB0123": "torch.Tensor.backward",
    "GB0147": "socket.socket",
    "GB0148": "torch.Tensor.set_",
    "GB0156": """
        torch.Tensor.data.__set__ torch.Tensor.grad.__set__ torch.Tensor.requires_grad.__set__
        logging.basicConfig pickle.Pickler
    """,
    "GB0208": """
        torch.backends.cuda.sdp_kernel torch.backends.cudnn.flags torch.backends.mkldnn.flags
        torch.Tensor.__reduce_ex__ torch.Tensor.dense_dim torch.Tensor.share_memory_
        torch.Tensor.sparse_dim torch.backends.cuda.preferred_linalg_library
        torch.cuda.default_stream torch.cuda.get_arch_list torch.cuda.get_device_name
        torch.cuda.initial_seed torch.cuda.is_current_stream_capturing
        torch.cuda.max_memory_allocated torch.cuda.memory_allocated torch.cuda.memory_reserved
        torch.cuda.memory_stats torch.cuda.nvtx.range_pop torch.cuda.nvtx.range_push
        torch.cudnn_is_acceptable torch.get_autocast_cpu_dtype torch.get_device
        torch.is_anomaly_check_nan_enabled torch.is_anomaly_enabled torch.is_distributed
        torch.is_neg torch.xpu.device_count
    """,
    "GB0277": """
        torch.Tensor.to_sparse_bsc torch.Tensor.to_sparse_bsr torch.Tensor.to_sparse_coo
        torch.Tensor.to_sparse_csc
    """,
    "GB0467": """
        torch.nn.Module.register_forward_hook torch.nn.Module.register_forward_pre_hook
        torch.nn.Module.register_full_backward_hook torch.nn.Module.register_full_backward_pre_hook
    """,
    "GB4198": "torch.Tensor.__deepcopy__ torch.optim.swa_utils.AveragedModel",
    "GB4841": "logging.exception",
    "GB9186": "torch.autograd.grad",
}

BY_NAME: Final[dict[str, str]] = {
    name: gb_id for gb_id, names in NAMES.items() for name in names.split()
}
"""The id that torch 2.13 prints for each that was compiled there alone."""


def skipped_functions() -> frozenset[str]:
    """The last names of all functions that break the graph on some release."""
    known = filter(is_skipped, BY_NAME.keys() | measured_calls().keys())
    return frozenset(name.rpartition(".")[2] for name in known)


def is_skipped(dotted: str) -> bool:
    """Whether the call of a function, collectives aside, breaks the graph on some release."""
    elsewhere = dotted.startswith(_COLLECTIVES) or is_skipped_method(dotted)
    return dotted in BY_NAME or (dotted in measured_calls() and not elsewhere)


def skipped_by_dynamo(dotted: str, version: Version) -> Skipped | None:
    """How a call breaks the graph on a release, or on others; None where it is traced on all."""
    if not is_skipped(dotted):
        return None
    return measured(dotted, version) or Skipped(BY_NAME[dotted])
