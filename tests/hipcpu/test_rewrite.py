"""What is not C++ becomes C++; everything else stays, and no line moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskpack.runtime.hipcpu.rewrite import RewriteError, rewrite, tokenize

LAUNCH = 'hipcpu::launch("{label}", [&](auto... hipcpu_args) {{ {callee}(hipcpu_args...); }}, {configuration})'


@pytest.mark.parametrize(
    ("callee", "configuration"),
    [
        ("k", "1, 64"),
        ("k<float, (3 > 2)>", "dim3(a >> 1, b), 64, n * sizeof(float), stream"),
        ("space::k<T>", "g<1>(), b[0]"),
        ("table[i](x)", "1, 2"),
        ("object->pick<4>", "1, 2"),
    ],
)
def test_launches(callee: str, configuration: str) -> None:
    label = callee.replace('"', "'")
    assert rewrite(f"{callee}<<<{configuration}>>>(x, y);") == LAUNCH.format(label=label, callee=callee, configuration=configuration) + "(x, y);"


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("void f() { extern __shared__ float s[]; }", "void f() { auto& s = hipcpu::dynamic_shared<float>(); }"),
        ("void f() { extern __shared__ __align__(16) char s[][8]; }", "void f() { auto& s = hipcpu::dynamic_shared<char[8]>(); }"),
        ("namespace a { extern __shared__ int s[]; }", "namespace a { [[maybe_unused]] static hipcpu::NamespaceShared<int> s; }"),
        ("__shared__ alignas(16) float s[4];", " alignas(16) __shared__ float s[4];"),
        ("static __shared__ int s;", " __shared__ int s;"),
        ("__device__ __noinline__ void f();", "__device__ HIPCPU_NOINLINE void f();"),
        ("__attribute__((__noinline__)) void f();", "__attribute__((__noinline__)) void f();"),
        ('const char* s = "k<<<1>>>(x)"; // k<<<1>>>(x)', 'const char* s = "k<<<1>>>(x)"; // k<<<1>>>(x)'),
        ('auto s = R"(k<<<)";', 'auto s = R"(k<<<)";'),
        ("a = b << 2 >> 1;", "a = b << 2 >> 1;"),
    ],
)
def test_declarations_and_spellings(source: str, want: str) -> None:
    assert rewrite(source) == want


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("\nk<<<1, 2", 2, "<<< without >>>"),
        ("k<<<1, 2>>>;", 1, "no argument list"),
        ("\n\n= <<<1>>>(x)", 3, "no kernel name"),
        (") <<<1>>>(x)", 1, "unbalanced brackets before"),
        ("> <<<1>>>(x)", 1, "unbalanced <> before"),
        ("void f() {\n extern __shared__ float s; }", 2, "without []"),
        ("__shared__ alignas(16", 1, "unbalanced"),
    ],
)
def test_what_no_compiler_would_take_is_named_by_its_line(source: str, line: int, words: str) -> None:
    with pytest.raises(RewriteError) as failed:
        rewrite(source)
    assert failed.value.line == line
    assert words in failed.value.what


PIECES = st.sampled_from(
    [
        *"()[]{}<>;,=\"'\\\n /*",
        "<<<",
        ">>>",
        "extern ",
        "__shared__ ",
        "static ",
        "alignas",
        "k",
        "template ",
        "::",
        "->",
        'R"(',
        ')"',
        "//",
        "1'0",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_rewritten_line_for_line_or_refused(source: str) -> None:
    assert "".join(token.text for token in tokenize(source)) == source
    lines = source.count("\n")
    try:
        moved = rewrite(source).count("\n") - lines
    except RewriteError as error:
        moved = 0 if 1 <= error.line <= lines + 1 else error.line
    assert moved == 0
