"""What torch's API returns and how Dynamo treats it: tables, read without importing torch.

Names are dotted (``torch.nn.functional.relu``); tensor methods are bare (``relu``). Kinds are
codes joined by ``|``: ``tensor``, ``tensors`` (any number of tensors), ``tensor*2`` (a tuple of
two), ``int``, ``float``, ``bool``, ``number``, ``size``, ``dtype``, ``device``, ``str``, ``list``,
``tuple``, ``none``, and ``other`` for everything that the analysis has no use for.
"""

from __future__ import annotations

from tclint.torch_facts.factories import Factory, factory
from tclint.torch_facts.host import dynamic_shape, host_read_gb_ids, reads_host
from tclint.torch_facts.instances import INSTANCES, SKIPPED_METHODS, instance_class, skipped_method
from tclint.torch_facts.measured import Skipped, measured, traced_since
from tclint.torch_facts.members import (
    is_only_of_arrays,
    is_only_of_tensors,
    is_tensor_member,
    layer_tensor,
)
from tclint.torch_facts.modules import (
    has_parameters,
    is_module,
    module_result,
    module_returns,
)
from tclint.torch_facts.numbers import Numbers, drawn_numbers_of, numbers_of
from tclint.torch_facts.numpy_functions import numpy_number_type, numpy_reduces, numpy_returns
from tclint.torch_facts.optim import Optimizer, Scheduler, lr_schedulers, optimizers
from tclint.torch_facts.returns import attribute_kind, function_returns, method_returns
from tclint.torch_facts.skipped import (
    DRAWN,
    DRAWN_BY,
    is_skipped,
    skipped_by_dynamo,
    skipped_functions,
)
from tclint.torch_facts.table import canonical

__all__ = [
    "DRAWN",
    "DRAWN_BY",
    "INSTANCES",
    "SKIPPED_METHODS",
    "Factory",
    "Numbers",
    "Optimizer",
    "Scheduler",
    "Skipped",
    "attribute_kind",
    "canonical",
    "drawn_numbers_of",
    "dynamic_shape",
    "factory",
    "function_returns",
    "has_parameters",
    "host_read_gb_ids",
    "instance_class",
    "is_module",
    "is_only_of_arrays",
    "is_only_of_tensors",
    "is_skipped",
    "is_tensor_member",
    "layer_tensor",
    "lr_schedulers",
    "measured",
    "method_returns",
    "module_result",
    "module_returns",
    "numbers_of",
    "numpy_number_type",
    "numpy_reduces",
    "numpy_returns",
    "optimizers",
    "reads_host",
    "skipped_by_dynamo",
    "skipped_functions",
    "skipped_method",
    "traced_since",
]
