"""What a C++, HIP or CUDA source takes of torch and of vendors' libraries, as far as its tokens tell: headers, libraries that it opens, names of theirs."""

from __future__ import annotations

import re

from .hipcpu.tokens import Token, step, text_at, tokenize
from .own_ops import COMPUTED, LIBRARIES, OF_TORCH, VENDOR
from .own_python import Use

_INCLUDES = ("include", "include_next", "import")
_OPENERS = ("dlopen", "dlmopen", "LoadLibraryA", "LoadLibraryW")
_NAMES = re.compile(
    r"cblas_[a-z]\w*|LAPACKE_\w+|rocblas_\w+|rocsparse_\w+|rocsolver_\w+|dnnl_\w+|mkl_\w+|oneapi_mkl\w*"
    r"|(?:cublas|cudnn|cusparse|cusolver|cufft|hipblas|hipsparse|hipsolver|hipfft|hipdnn|miopen)(?:Lt|Xt)?[A-Z]\w*"
    r"|[sdcz](?:gemm|gemv|symm|syrk|trmm|trsm|ger|dot|axpy|nrm2|gemm3m|gemmtr?)_"
)
"""Functions of theirs, declared or called."""


def uses_in_native(source: str) -> list[Use]:
    """In the order of lines."""
    tokens = tokenize(source)
    found: dict[Use, None] = {}
    line = 1
    seen: set[int] = set()
    for i, token in enumerate(tokens):
        if token.directive and token.directive not in seen:
            seen.add(token.directive)
            found |= dict.fromkeys(_header(tokens, i, line))
        elif token.kind == "word" and text_at(tokens, step(tokens, i)) == "(":
            found |= dict.fromkeys(_function(tokens, i, line))
        line += token.text.count("\n")
    return list(found)


def _header(tokens: list[Token], hash_at: int, line: int) -> list[Use]:
    """What a line like `#include <cublas_v2.h>` takes."""
    word = step(tokens, hash_at)
    if text_at(tokens, word) not in _INCLUDES:
        return []
    rest = (token for token in tokens[word + 1 :] if token.directive)
    directive = tokens[hash_at].directive
    spelled = "".join(token.text for token in rest if token.directive == directive and token.kind != "comment").strip()
    name = spelled.strip('<>" \t')
    if OF_TORCH.match(name):
        return [Use(line, f"includes {spelled}", COMPUTED)]
    return [Use(line, f"includes {spelled}", VENDOR)] if LIBRARIES.match(name) else []


def _function(tokens: list[Token], i: int, line: int) -> list[Use]:
    """A name before a bracket: a function of theirs, or one that opens a library."""
    name = tokens[i].text
    if _NAMES.fullmatch(name):
        return [Use(line, f"names {name}", VENDOR)]
    if name not in _OPENERS:
        return []
    argument = step(tokens, step(tokens, i))
    literal = tokens[argument] if argument < len(tokens) and tokens[argument].kind in ("string", "raw") else None
    if literal is None:
        return [Use(line, f"opens by {name} a library whose name does not stand there", VENDOR)]
    file = literal.text.strip('"').rpartition("/")[2]
    if OF_TORCH.match(file):
        return [Use(line, f"opens {literal.text}", COMPUTED)]
    return [Use(line, f"opens {literal.text}", VENDOR)] if LIBRARIES.match(file) else []
