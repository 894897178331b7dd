// What compilers offer beyond the language. Where one lacks it, each macro is empty: the same code
// runs, and gives the same digits, only slower.
#pragma once

#if defined(__GNUC__)
// Inlined everywhere, so that each version of a caller compiles it for its own instructions.
#define SORTAL_INLINE __attribute__((always_inline)) inline
#define SORTAL_PREFETCH(address) __builtin_prefetch(address)
// After the name of a type of doubles: n of them side by side.
#define SORTAL_VECTOR(n) __attribute__((vector_size((n) * sizeof(double)), may_alias))
#else
#define SORTAL_INLINE inline
#define SORTAL_PREFETCH(address) static_cast<void>(address)
#define SORTAL_VECTOR(n)
#endif

// Unrolls the loop that follows, of n rounds.
#define SORTAL_PRAGMA(words) _Pragma(#words)
#if defined(__clang__)
#define SORTAL_UNROLL(n) SORTAL_PRAGMA(unroll)
#elif defined(__GNUC__)
#define SORTAL_UNROLL(n) SORTAL_PRAGMA(GCC unroll n)
#else
#define SORTAL_UNROLL(n)
#endif

// Where the loader can choose between versions of a function, loops over whole numbers, and those
// that fix the order of their sums, are also compiled for AVX2 machines.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SORTAL_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define SORTAL_CLONES
#endif

// A version for AVX2 machines that the caller chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SORTAL_FOR_AVX2 __attribute__((target("arch=x86-64-v3")))
#define SORTAL_HAS_AVX2() __builtin_cpu_supports("x86-64-v3")
#else
#define SORTAL_FOR_AVX2
#define SORTAL_HAS_AVX2() false
#endif

// Whether loops may be written in instructions of x86-64 beyond the baseline.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define SORTAL_X86 1
#else
#define SORTAL_X86 0
#endif
