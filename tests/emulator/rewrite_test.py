"""rewrite.py on what kernels may contain, and the rule that every line keeps its number."""

from pathlib import Path

import pytest
from rewrite import rewrite

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = "::ridgebench::emulator::Launch"
BLOCK = "::ridgebench::emulator::Block::current()"
ENTER = f"{BLOCK}.shared().enter"
DYNAMIC = f"{BLOCK}.shared().dynamic"
PTX = "::ridgebench::emulator::ptx(::std::source_location::current()"


@pytest.mark.parametrize(
    "source, expected",
    [
        ("k<<<1, 2>>>(x);", f'{LAUNCH}("k", 1, 2)([=](auto... emulated) {{ k(emulated...); }}, x);'),
        ("k <<<1, 2>>>();", f'{LAUNCH}("k", 1, 2)([=](auto... emulated) {{ k(emulated...); }});'),
        (
            "if (a) ns::k<A<B<C>>, (1 > 0)><<<f<T>(n), dim3(1, 2), 0, s>>>(g(x), y);",
            f'if (a) {LAUNCH}("ns::k<A<B<C>>, (1 > 0)>", f<T>(n), dim3(1, 2), 0, s)'
            "([=](auto... emulated) { ns::k<A<B<C>>, (1 > 0)>(emulated...); }, g(x), y);",
        ),
        (
            "k<T><<<1, 2, n * sizeof(T)>>>(x);",
            f'{LAUNCH}("k<T>", 1, 2, n * sizeof(T)).of(k<T>)([=](auto... emulated) {{ k<T>(emulated...); }}, x);',
        ),
        ("check(cudaLaunchKernelEx(&c, k, x));", "check(::ridgebench::emulator::launch_kernel(&c, k, x));"),
        ("// k<<<1, 2>>>(x);", "// k<<<1, 2>>>(x);"),
        ('"<<<" /* __shared__ */;', '"<<<" /* __shared__ */;'),
        ("__shared__ float a[2][3];", f"static float a[2][3]; {ENTER}(&a, sizeof(a), __alignof__(a));"),
        (
            "__shared__ alignas(16) P<A, B> a[n], b;",
            f"alignas(16) static P<A, B> a[n], b; {ENTER}(&a, sizeof(a), __alignof__(a));"
            f" {ENTER}(&b, sizeof(b), __alignof__(b));",
        ),
        (
            "extern __shared__ alignas(1024) std::byte memory[];",
            f"std::byte* const memory = reinterpret_cast<std::byte*>({DYNAMIC}(1024));",
        ),
        (
            "alignas(n) extern __shared__ float x[];",
            f"float* const x = reinterpret_cast<float*>({DYNAMIC}(n));",
        ),
        (
            "extern __shared__ float x[];",
            f"float* const x = reinterpret_cast<float*>({DYNAMIC}(alignof(float)));",
        ),
        (
            "__global__ void __launch_bounds__(kN, 1) k(float* x) { *x = 0; }",
            "__global__ void __launch_bounds__(kN, 1) k(float* x) {"
            f' {BLOCK}.enter_kernel("k", ::std::source_location::current()); *x = 0; }}',
        ),
        ("__global__ void k(float* x);", "__global__ void k(float* x);"),
        ('asm("i %0;" : "=f"(y[0]) : "f"(x::z));', f'{PTX}, "i %0;", (y[0]), (x::z));'),
        ('asm volatile("i;" ::: "memory");', f'{PTX}, "i;");'),
        ('asm volatile("i %0;" ::"n"(k) : "memory");', f'{PTX}, "i %0;", (k));'),
    ],
)
def test_rewrites(source, expected):
    assert rewrite(source) == expected


def test_line_breaks_within_a_launch_stay():
    source = "k<A,\n  B><<<1,\n 2>>>(x,\n y);\nnext"
    assert rewrite(source).count("\n", 0, rewrite(source).index("next")) == 4


def test_no_kernel_keeps_what_only_nvcc_knows():
    sources = sorted(ROOT.glob("kernels/**/*.cu*"))
    assert sources
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert rewrite(text).count("\n") == text.count("\n"), path
