"""What is not C++ becomes C++; everything else stays, and no line moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskpack.runtime.hipcpu.rewrite import rewrite
from taskpack.runtime.hipcpu.tokens import tokenize

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


KERNEL = "__global__ __launch_bounds__(64) void k(float* x, float y)"


@pytest.mark.parametrize("callee", ["k", "space::k"])
@pytest.mark.parametrize("declared", [f"{KERNEL} {{}}", f"{KERNEL};\n{KERNEL} {{}}", f'extern "C" {KERNEL} {{}}'])
def test_arguments_of_a_kernel_that_is_one_function_are_converted(callee: str, declared: str) -> None:
    assert rewrite(f"{declared}\n{callee}<<<1, 64>>>(x, 0);") == f'{declared}\nhipcpu::launch("{callee}", &{callee}, 1, 64)(x, 0);'


@pytest.mark.parametrize(
    "declared", [f"template <class T> {KERNEL} {{}}", f"{KERNEL} {{}} {KERNEL.replace('float y', 'int y')} {{}}", "#define K __global__ void k()"]
)
def test_those_of_templates_and_overloads_are_deduced(declared: str) -> None:
    assert "[&](auto... hipcpu_args)" in rewrite(f"{declared}\nk<<<1, 64>>>(x, 0);")


@pytest.mark.parametrize(
    "source",
    [
        "\nk<<<1, 2",
        "k<<<1, 2>>>;",
        "k<<<1; 2>>>(x);",
        "\n\n= <<<1>>>(x)",
        ") <<<1>>>(x)",
        "> <<<1>>>(x)",
        "void f() { extern __shared__ float s; }",
        "__shared__ alignas(16",
        "#if 0\ndon't k<<<1\n#endif",
        "#error don't use <<< here",
        "git <<<<<<< HEAD",
    ],
)
def test_what_cannot_be_followed_stays_for_the_compiler_to_judge(source: str) -> None:
    assert rewrite(source) == source


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("#define D(T, n) extern __shared__ T n[]\nint x;", "#define D(T, n) auto& n = hipcpu::dynamic_shared<T>()\nint x;"),
        ("#define L(k) k<<<1, \\\n  2>>>\n", LAUNCH.format(label="k", callee="k", configuration="1, \\\n  2").join(("#define L(k) ", "\n"))),
        ("if (a) (k)<<<1, 2>>>(y);", "if (a) " + LAUNCH.format(label="(k)", callee="(k)", configuration="1, 2") + "(y);"),
        ("return k<<<1, 2>>>(y);", "return " + LAUNCH.format(label="k", callee="k", configuration="1, 2") + "(y);"),
        ("k<sizeof(T) < 4><<<1, 2>>>(y);", LAUNCH.format(label="k<sizeof(T) < 4>", callee="k<sizeof(T) < 4>", configuration="1, 2") + "(y);"),
        ("__device__ __forceinline__ int f();", "__device__ inline __forceinline__ int f();"),
        ("static inline __device__ __forceinline__ int f();", "static inline __device__ __forceinline__ int f();"),
        ("auto f = [] __device__ __forceinline__ (int a) {};", "auto f = [] __device__ __forceinline__ (int a) {};"),
        (
            "extern __shared__ char s[];\nextern __shared__ char s[];\nvoid f() { g(reinterpret_cast<float*>(s)); }",
            "[[maybe_unused]] static hipcpu::NamespaceShared<char> s;\nstatic_assert(true);\nvoid f() { g(static_cast<float*>(s)); }",
        ),
        (
            "#ifdef A\nvoid k(int) {\n#else\nvoid k(long) {\n#endif\n}\nextern __shared__ char s[];",
            "#ifdef A\nvoid k(int) {\n#else\nvoid k(long) {\n#endif\n}\n[[maybe_unused]] static hipcpu::NamespaceShared<char> s;",
        ),
    ],
)
def test_preprocessor_lines_statements_and_spellings(source: str, want: str) -> None:
    assert rewrite(source) == want


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
def test_any_text_is_rewritten_line_for_line(source: str) -> None:
    assert "".join(token.text for token in tokenize(source)) == source
    assert rewrite(source).count("\n") == source.count("\n")
