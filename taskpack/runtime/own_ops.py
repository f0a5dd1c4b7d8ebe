"""What counts as a candidate's own work: torch's operations by kind, libraries of vendors by name, and what a task allows of them.

A task says `torch` (`none`, `elementwise` or `all`) and `vendor_libraries`. Operations are *plain* (allocate, view, copy, cast, tell), *elementwise*
(and ranges, and joins of tensors), of a *vendor* (what torch hands to cuBLAS, cuDNN, oneDNN and the like), or other computation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

PLAIN, ELEMENTWISE, VENDOR, COMPUTED = "plain", "elementwise", "vendor", "computed"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLAIN = _words(
    """
    alias as_strided as_strided_ as_tensor asarray atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to chunk clone contiguous copy copy_ detach
    detach_ diagonal dsplit empty empty_like empty_permuted empty_quantized empty_strided expand expand_as fill fill_ flatten frombuffer from_dlpack
    from_file from_numpy full full_like hsplit imag is_coalesced is_complex is_conj is_contiguous is_distributed is_floating_point is_inference is_neg
    is_nonzero is_pinned is_same_size is_set_to is_signed item lift lift_fresh lift_fresh_copy moveaxis movedim narrow new_empty new_empty_strided new_full
    new_ones new_zeros numel ones ones_like permute pin_memory ravel real record_stream requires_grad_ reshape resize resize_ resize_as_ resolve_conj
    resolve_neg result_type scalar_tensor select set set_ size slice split split_with_sizes squeeze squeeze_ storage_offset stride swapaxes swapdims
    sym_is_contiguous sym_numel sym_size sym_storage_offset sym_stride t t_ tensor tensor_split to transpose transpose_ type_as unbind unflatten unfold
    unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ view view_as view_as_complex view_as_real vsplit zero zero_ zeros zeros_like
    adjoint can_cast promote_types broadcast_shapes _conj _local_scalar_dense _neg_view _pin_memory _reshape_alias _reshape_copy _to_copy _unsafe_view
    _assert_async _assert_tensor_metadata
    """
)
_ELEMENTWISE = _words(
    """
    absolute arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh bool byte cat concat concatenate column_stack complex constant_pad_nd divide double
    dropout dstack eye fix flip fliplr flipud float floor_divide greater greater_equal half hardswish hstack int int8 int16 isclose isreal less less_equal
    linspace logsigmoid log_sigmoid_forward long masked_fill_ multiply negative not_equal pad polar prelu range relu6 repeat row_stack roll rot90 rsub short
    silu softsign stack subtract tanhshrink tile tril triu type vstack
    """
)
_NOT_ELEMENTWISE = frozenset({"equal", "native_dropout_backward"})
_VENDOR = re.compile(
    r"""_*(?: (?:add|addb|baddb|b|hsp|sadd|sm|s|ss|sspadd|scaled_|scaled_grouped_|grouped_|int_|sparse_|sparse_add)?mm(?:_v2|_activation)? | add?mv | mv
    | weight_int\w+
    | dot | vdot | inner | ger | matmul | linear | bilinear | trilinear | chain_matmul | einsum | tensordot | cdist | euclidean_dist
    | (?:slow_|thnn_)?conv(?:\d|_|olution)\w* | scaled_dot_product\w* | flash_attention\w* | efficient_attention\w* | fused_sdp\w* | (?:native_)?multi_head\w*
    | transformer\w* | (?:native_)?batch_norm\w* | (?:thnn_fused_)?(?:lstm|gru|rnn)(?:_\w+)?
    | (?:cublas|cudnn|cslt|miopen|mkldnn|mkl|onednn|hipblas|fbgemm)\w* | fft_\w+ | stft | istft
    | linalg_(?!.*norm|_powsum|cross|diagonal|vander|vecdot)\w+ | cholesky\w* | svd\w* | qr | lu | lu_\w+ | eig
    | geqrf | orgqr | ormqr | inverse | pinverse | det | logdet
    | slogdet | lstsq | triangular_solve | matrix_exp | matrix_power | lobpcg | pca_lowrank )_?""",
    re.VERBOSE,
)
"""What torch hands, on one device or another, to a library of a vendor's."""

LIBRARIES = re.compile(
    r"(?:lib)?(?:cublas|cudnn|cusparse|cusolver|cufft|cutlass|cute/|nvblas|nvmath|hipblas|hipdnn|hipsparse|hipfft|hipsolver|rocblas|rocsparse|rocsolver|rocfft"
    r"|miopen|composable_kernel|ck_tile/|ck/|mkl|oneapi/mkl|oneapi/dnnl|dnnl|onednn|mkldnn|cblas|blas\b|f77blas|lapack|openblas|blis|atlas|accelerate/|eigen"
    r"|armadillo|libxsmm|xsmm|xnnpack|fbgemm)",
    re.IGNORECASE,
)
"""How names of headers and of shared libraries begin."""
OF_TORCH = re.compile(r"(?:lib)?(?:torch|aten|c10|caffe2)(?:[/_.\-]|$)", re.IGNORECASE)

_LEVELS = {"none": "for allocation and views only", "elementwise": "for allocation, views and elementwise arithmetic only"}


@dataclass(frozen=True)
class Allow:
    """What of others a candidate may call."""

    torch: str
    vendor_libraries: bool

    @property
    def is_everything(self) -> bool:
        return self.torch == "all" and self.vendor_libraries

    def permits(self, kind: str) -> bool:
        """Whether an operation of that kind may be called."""
        if kind == VENDOR:
            return self.vendor_libraries
        return self.torch == "all" or kind == PLAIN or (kind == ELEMENTWISE and self.torch == "elementwise")

    def refusal(self, kind: str) -> str:
        """Why not, in words that follow "calls torch.softmax, and"."""
        if kind == VENDOR:
            return "this task allows no libraries of vendors ([task.allow] vendor-libraries = false)"
        return f'this task allows torch {_LEVELS[self.torch]} ([task.allow] torch = "{self.torch}")'

    def to_dict(self) -> dict[str, Any]:
        """As a pack says it."""
        return {"torch": self.torch, "vendor-libraries": self.vendor_libraries}


EVERYTHING = Allow("all", True)


def allowance(plan: Mapping[str, Any]) -> Allow:
    """What the plan allows; everything where it does not say."""
    said = plan.get("allow")
    return Allow(said["torch"], said["vendor_libraries"]) if said else EVERYTHING


def kind_of(name: str, overload: str = "") -> str:
    """Of an operation of ATen: `softmax`, `add_`; with an overload, as operations were seen to run, that one alone counts."""
    if name in _PLAIN or (name.endswith("_copy") and name.removesuffix("_copy") in _PLAIN):
        return PLAIN
    if _VENDOR.fullmatch(name):
        return VENDOR
    if name in _ELEMENTWISE or (name.endswith("_") and name[:-1] in _ELEMENTWISE):
        return ELEMENTWISE
    return ELEMENTWISE if name not in _NOT_ELEMENTWISE and _is_pointwise(name, overload) else COMPUTED


def is_operation(name: str) -> bool:
    """Whether ATen has an operation of that name."""
    return bool(torch._C._jit_get_schemas_for_operator(f"aten::{name}"))


def _is_pointwise(name: str, overload: str) -> bool:
    """As torch's own tags say; generated `out` variants lack the tag of what they were generated from."""
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        return False
    known = packet.overloads()
    wanted = {overload, overload.removesuffix("_out") or "default", "Tensor" if overload == "out" else overload} if overload else set(known)
    return any(torch.Tag.pointwise in getattr(packet, one).tags for one in known if one in wanted or (overload == "out" and one == "default"))
