// What NVRTC knows without an include, as declarations for clang: qualifiers, built-in variables and vectors, the math
// library, intrinsics, atomics. Declarations only; nothing is compiled from them. Types and overloads are those of the
// CUDA C++ Programming Guide and the CUDA Math API.
#pragma clang system_header

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
// Clang's own attribute refuses what has a constructor, such as a barrier.
#define __shared__ __attribute__((annotate("__shared__")))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __nv_pure__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __inline_hint__
#define __specialization_static
#define __no_sc__
#define __thread__ __thread
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
#define __NV_SILENCE_HOST_DEPRECATION_BEGIN
#define __NV_SILENCE_HOST_DEPRECATION_END
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#define CUDARTAPI_INLINE
#define __CUDA_HOSTDEVICE__ __host__ __device__
#define CUDA_ARCH_AT_LEAST(n) (__CUDA_ARCH__ >= (n))

// Headers whose declarations are these.
#define __HOST_DEFINES_H__
#define __HOST_CONFIG_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__
#define __DEVICE_TYPES_H__
#define __DRIVER_TYPES_H__
#define __SURFACE_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __BUILTIN_TYPES_H__
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__
#define __COMMON_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __CUDACC_RTC_BUILTIN_VECTOR_TYPES__

#define TL_D __attribute__((device))
#define TL_HD __attribute__((host, device))

// -- C and C++ ---------------------------------------------------------------------------------------------------------

typedef decltype(sizeof(0)) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int8_t int_fast8_t;
typedef uint8_t uint_fast8_t;
typedef int8_t int_least8_t;
typedef uint8_t uint_least8_t;
typedef int16_t int_fast16_t;
typedef uint16_t uint_fast16_t;
typedef int16_t int_least16_t;
typedef uint16_t uint_least16_t;
typedef int32_t int_fast32_t;
typedef uint32_t uint_fast32_t;
typedef int32_t int_least32_t;
typedef uint32_t uint_least32_t;
typedef int64_t int_fast64_t;
typedef uint64_t uint_fast64_t;
typedef int64_t int_least64_t;
typedef uint64_t uint_least64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
typedef long int clock_t;
typedef long long time_t;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef struct _IO_FILE FILE;
typedef __builtin_va_list va_list;

#define NULL 0
#define INT8_MIN (-128)
#define INT16_MIN (-32767 - 1)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define SIZE_MAX 18446744073709551615UL
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN INT16_MIN
#define SHRT_MAX INT16_MAX
#define USHRT_MAX 65535
#define INT_MIN INT32_MIN
#define INT_MAX INT32_MAX
#define UINT_MAX UINT32_MAX
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX UINT64_MAX
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define FLT_EPSILON 1.19209290e-7f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define RAND_MAX 2147483647
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define stdin ((FILE *)0)
#define stdout ((FILE *)0)
#define stderr ((FILE *)0)
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_copy(to, from) __builtin_va_copy(to, from)
#define offsetof(type, member) __builtin_offsetof(type, member)
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, "", 0, ""))

extern "C" {
TL_HD void __assert_fail(const char *, const char *, unsigned int, const char *);
TL_HD int printf(const char *, ...);
TL_HD void *malloc(size_t);
TL_HD void free(void *);
TL_HD void *memcpy(void *, const void *, size_t);
TL_HD void *memmove(void *, const void *, size_t);
TL_HD void *memset(void *, int, size_t);
TL_HD int memcmp(const void *, const void *, size_t);
TL_HD size_t strlen(const char *);
TL_HD int strcmp(const char *, const char *);
TL_HD char *strcpy(char *, const char *);
TL_HD clock_t clock();
TL_HD void *__nv_aligned_device_malloc(size_t, size_t);
TL_D void *alloca(size_t);
int fprintf(FILE *, const char *, ...);
int fflush(FILE *);
int sprintf(char *, const char *, ...);
int snprintf(char *, size_t, const char *, ...);
void exit(int);
void *calloc(size_t, size_t);
int rand();
void srand(unsigned int);
int atoi(const char *);
double atof(const char *);
}
TL_HD void *operator new(size_t, void *) noexcept;
TL_HD void *operator new[](size_t, void *) noexcept;

namespace std {
using ::clock_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
using nullptr_t = decltype(nullptr);

template <class T> struct remove_reference {
    typedef T type;
};
template <class T> struct remove_reference<T &> {
    typedef T type;
};
template <class T> struct remove_reference<T &&> {
    typedef T type;
};
template <class T> TL_HD constexpr T &&forward(typename remove_reference<T>::type &t) noexcept {
    return static_cast<T &&>(t);
}
template <class T> TL_HD constexpr T &&forward(typename remove_reference<T>::type &&t) noexcept {
    return static_cast<T &&>(t);
}
template <class T> TL_HD constexpr typename remove_reference<T>::type &&move(T &&t) noexcept {
    return static_cast<typename remove_reference<T>::type &&>(t);
}
template <class T> class initializer_list {
    const T *first;
    size_t count;

  public:
    typedef T value_type;
    typedef size_t size_type;
    typedef const T *iterator;
    constexpr initializer_list() : first(nullptr), count(0) {}
    TL_HD constexpr size_t size() const noexcept { return count; }
    TL_HD constexpr const T *begin() const noexcept { return first; }
    TL_HD constexpr const T *end() const noexcept { return first + count; }
};
} // namespace std

namespace cuda {
namespace std {}
} // namespace cuda

// -- vectors -----------------------------------------------------------------------------------------------------------

#define TL_VECTOR(name, type, a1, a2, a3, a4)                                                                           \
    struct name##1 {                                                                                                   \
        type x;                                                                                                        \
    };                                                                                                                 \
    struct a2 name##2 {                                                                                                \
        type x, y;                                                                                                     \
    };                                                                                                                 \
    struct name##3 {                                                                                                   \
        type x, y, z;                                                                                                  \
    };                                                                                                                 \
    struct a4 name##4 {                                                                                                \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    TL_HD name##1 make_##name##1(type x);                                                                              \
    TL_HD name##2 make_##name##2(type x, type y);                                                                      \
    TL_HD name##3 make_##name##3(type x, type y, type z);                                                              \
    TL_HD name##4 make_##name##4(type x, type y, type z, type w);
TL_VECTOR(char, signed char, , __align__(2), , __align__(4))
TL_VECTOR(uchar, unsigned char, , __align__(2), , __align__(4))
TL_VECTOR(short, short, , __align__(4), , __align__(8))
TL_VECTOR(ushort, unsigned short, , __align__(4), , __align__(8))
TL_VECTOR(int, int, , __align__(8), , __align__(16))
TL_VECTOR(uint, unsigned int, , __align__(8), , __align__(16))
TL_VECTOR(long, long int, , __align__(16), , __align__(16))
TL_VECTOR(ulong, unsigned long int, , __align__(16), , __align__(16))
TL_VECTOR(longlong, long long int, , __align__(16), , __align__(16))
TL_VECTOR(ulonglong, unsigned long long int, , __align__(16), , __align__(16))
TL_VECTOR(float, float, , __align__(8), , __align__(16))
TL_VECTOR(double, double, , __align__(16), , __align__(16))
#undef TL_VECTOR
#define TL_WIDE(name, type)                                                                                            \
    struct __align__(16) name##4_16a {                                                                                 \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    struct __align__(32) name##4_32a {                                                                                 \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    TL_HD name##4_16a make_##name##4_16a(type x, type y, type z, type w);                                              \
    TL_HD name##4_32a make_##name##4_32a(type x, type y, type z, type w);
TL_WIDE(long, long int)
TL_WIDE(ulong, unsigned long int)
TL_WIDE(longlong, long long int)
TL_WIDE(ulonglong, unsigned long long int)
TL_WIDE(double, double)
#undef TL_WIDE

struct dim3 {
    unsigned int x, y, z;
    TL_HD constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    TL_HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    TL_HD constexpr operator uint3() const { return uint3{x, y, z}; }
};

extern const TL_D uint3 threadIdx;
extern const TL_D uint3 blockIdx;
extern const TL_D dim3 blockDim;
extern const TL_D dim3 gridDim;
extern const TL_D int warpSize;

// -- math --------------------------------------------------------------------------------------------------------------

template <bool, class T> struct tl_if {};
template <class T> struct tl_if<true, T> {
    typedef T type;
};
template <class T> struct tl_integral {
    static constexpr bool value = false;
};
#define TL_INTEGRAL(type)                                                                                              \
    template <> struct tl_integral<type> {                                                                             \
        static constexpr bool value = true;                                                                            \
    };
TL_INTEGRAL(bool)
TL_INTEGRAL(char)
TL_INTEGRAL(signed char)
TL_INTEGRAL(unsigned char)
TL_INTEGRAL(short)
TL_INTEGRAL(unsigned short)
TL_INTEGRAL(int)
TL_INTEGRAL(unsigned int)
TL_INTEGRAL(long)
TL_INTEGRAL(unsigned long)
TL_INTEGRAL(long long)
TL_INTEGRAL(unsigned long long)
#undef TL_INTEGRAL
template <class T> struct tl_arithmetic : tl_integral<T> {};
template <> struct tl_arithmetic<float> {
    static constexpr bool value = true;
};
template <> struct tl_arithmetic<double> {
    static constexpr bool value = true;
};
// NVRTC has no more than the overloads for float and double: a float and an integer meet in float. What is ambiguous
// there is double to the toolkit's other compiler.
template <class A, class B> struct tl_unsaid {
    static constexpr bool value = tl_arithmetic<A>::value && tl_arithmetic<B>::value;
};
template <class B> struct tl_unsaid<float, B> {
    static constexpr bool value = false;
};
template <class A> struct tl_unsaid<A, float> {
    static constexpr bool value = false;
};
template <> struct tl_unsaid<float, float> {
    static constexpr bool value = false;
};
template <> struct tl_unsaid<float, double> {
    static constexpr bool value = true;
};
template <> struct tl_unsaid<double, float> {
    static constexpr bool value = true;
};
#define TL_ANY(...) class = typename tl_if<(__VA_ARGS__), void>::type

#define TL_MATH1(name)                                                                                                 \
    TL_HD double name(double x);                                                                                       \
    TL_HD float name(float x);                                                                                         \
    TL_HD float name##f(float x);                                                                                      \
    template <class T, TL_ANY(tl_integral<T>::value)> TL_HD double name(T x);
#define TL_MATH2(name)                                                                                                 \
    TL_HD double name(double x, double y);                                                                             \
    TL_HD float name(float x, float y);                                                                                \
    TL_HD float name##f(float x, float y);                                                                             \
    template <class A, class B, TL_ANY(tl_unsaid<A, B>::value)> TL_HD double name(A x, B y);
#define TL_MATH_OWN1(name)                                                                                             \
    TL_HD double name(double x);                                                                                       \
    TL_HD float name##f(float x);
TL_MATH1(acos)
TL_MATH1(acosh)
TL_MATH1(asin)
TL_MATH1(asinh)
TL_MATH1(atan)
TL_MATH1(atanh)
TL_MATH1(cbrt)
TL_MATH1(ceil)
TL_MATH1(cos)
TL_MATH1(cosh)
TL_MATH1(erf)
TL_MATH1(erfc)
TL_MATH1(exp)
TL_MATH1(exp2)
TL_MATH1(expm1)
TL_MATH1(fabs)
TL_MATH1(floor)
TL_MATH1(lgamma)
TL_MATH1(log)
TL_MATH1(log10)
TL_MATH1(log1p)
TL_MATH1(log2)
TL_MATH1(logb)
TL_MATH1(nearbyint)
TL_MATH1(rint)
TL_MATH1(round)
TL_MATH1(sin)
TL_MATH1(sinh)
TL_MATH1(sqrt)
TL_MATH1(tan)
TL_MATH1(tanh)
TL_MATH1(tgamma)
TL_MATH1(trunc)
TL_MATH1(exp10)
TL_MATH1(rsqrt)
TL_MATH1(rcbrt)
TL_MATH1(sinpi)
TL_MATH1(cospi)
TL_MATH1(erfinv)
TL_MATH1(erfcinv)
TL_MATH1(erfcx)
TL_MATH1(normcdf)
TL_MATH1(normcdfinv)
TL_MATH2(atan2)
TL_MATH2(copysign)
TL_MATH2(fdim)
TL_MATH2(fmax)
TL_MATH2(fmin)
TL_MATH2(fmod)
TL_MATH2(hypot)
TL_MATH2(nextafter)
TL_MATH2(pow)
TL_MATH2(remainder)
TL_MATH_OWN1(j0)
TL_MATH_OWN1(j1)
TL_MATH_OWN1(y0)
TL_MATH_OWN1(y1)
TL_MATH_OWN1(cyl_bessel_i0)
TL_MATH_OWN1(cyl_bessel_i1)
#undef TL_MATH1
#undef TL_MATH2
#undef TL_MATH_OWN1
TL_HD double fma(double x, double y, double z);
TL_HD float fma(float x, float y, float z);
TL_HD float fmaf(float x, float y, float z);
TL_HD double frexp(double x, int *exponent);
TL_HD float frexp(float x, int *exponent);
TL_HD float frexpf(float x, int *exponent);
TL_HD double ldexp(double x, int exponent);
TL_HD float ldexp(float x, int exponent);
TL_HD float ldexpf(float x, int exponent);
TL_HD double scalbln(double x, long n);
TL_HD float scalbln(float x, long n);
TL_HD float scalblnf(float x, long n);
TL_HD double scalbn(double x, int n);
TL_HD float scalbn(float x, int n);
TL_HD float scalbnf(float x, int n);
TL_HD double modf(double x, double *whole);
TL_HD float modf(float x, float *whole);
TL_HD float modff(float x, float *whole);
TL_HD double remquo(double x, double y, int *quotient);
TL_HD float remquo(float x, float y, int *quotient);
TL_HD float remquof(float x, float y, int *quotient);
TL_HD int ilogb(double x);
TL_HD int ilogb(float x);
TL_HD int ilogbf(float x);
TL_HD long lrint(double x);
TL_HD long lrint(float x);
TL_HD long lrintf(float x);
TL_HD long lround(double x);
TL_HD long lround(float x);
TL_HD long lroundf(float x);
TL_HD long long llrint(double x);
TL_HD long long llrint(float x);
TL_HD long long llrintf(float x);
TL_HD long long llround(double x);
TL_HD long long llround(float x);
TL_HD long long llroundf(float x);
TL_HD double nan(const char *tag);
TL_HD float nanf(const char *tag);
TL_HD void sincos(double x, double *sine, double *cosine);
TL_HD void sincos(float x, float *sine, float *cosine);
TL_HD void sincosf(float x, float *sine, float *cosine);
TL_HD void sincospi(double x, double *sine, double *cosine);
TL_HD void sincospi(float x, float *sine, float *cosine);
TL_HD void sincospif(float x, float *sine, float *cosine);
TL_HD double rhypot(double x, double y);
TL_HD float rhypotf(float x, float y);
TL_HD double norm(int count, const double *values);
TL_HD float normf(int count, const float *values);
TL_HD double rnorm(int count, const double *values);
TL_HD float rnormf(int count, const float *values);
TL_HD double norm3d(double x, double y, double z);
TL_HD float norm3df(float x, float y, float z);
TL_HD double rnorm3d(double x, double y, double z);
TL_HD float rnorm3df(float x, float y, float z);
TL_HD double norm4d(double x, double y, double z, double w);
TL_HD float norm4df(float x, float y, float z, float w);
TL_HD double rnorm4d(double x, double y, double z, double w);
TL_HD float rnorm4df(float x, float y, float z, float w);
TL_HD double jn(int n, double x);
TL_HD float jnf(int n, float x);
TL_HD double yn(int n, double x);
TL_HD float ynf(int n, float x);
TL_HD float fdividef(float x, float y);
TL_HD int isnan(float x);
TL_HD int isnan(double x);
TL_HD int isinf(float x);
TL_HD int isinf(double x);
TL_HD int isfinite(float x);
TL_HD int isfinite(double x);
TL_HD int signbit(float x);
TL_HD int signbit(double x);
TL_HD int abs(int x);
TL_HD long abs(long x);
TL_HD long long abs(long long x);
TL_HD float abs(float x);
TL_HD double abs(double x);
TL_HD long labs(long x);
TL_HD long long llabs(long long x);
#define TL_MINMAX(f)                                                                                                   \
    TL_HD int f(int a, int b);                                                                                         \
    TL_HD unsigned int f(unsigned int a, unsigned int b);                                                              \
    TL_HD unsigned int f(int a, unsigned int b);                                                                       \
    TL_HD unsigned int f(unsigned int a, int b);                                                                       \
    TL_HD long f(long a, long b);                                                                                      \
    TL_HD unsigned long f(unsigned long a, unsigned long b);                                                           \
    TL_HD unsigned long f(long a, unsigned long b);                                                                    \
    TL_HD unsigned long f(unsigned long a, long b);                                                                    \
    TL_HD long long f(long long a, long long b);                                                                       \
    TL_HD unsigned long long f(unsigned long long a, unsigned long long b);                                            \
    TL_HD unsigned long long f(long long a, unsigned long long b);                                                     \
    TL_HD unsigned long long f(unsigned long long a, long long b);                                                     \
    TL_HD float f(float a, float b);                                                                                   \
    TL_HD double f(double a, double b);                                                                                \
    TL_HD double f(float a, double b);                                                                                 \
    TL_HD double f(double a, float b);
TL_MINMAX(min)
TL_MINMAX(max)
#undef TL_MINMAX
TL_HD unsigned int umin(unsigned int a, unsigned int b);
TL_HD unsigned int umax(unsigned int a, unsigned int b);
TL_HD long long llmin(long long a, long long b);
TL_HD long long llmax(long long a, long long b);
TL_HD unsigned long long ullmin(unsigned long long a, unsigned long long b);
TL_HD unsigned long long ullmax(unsigned long long a, unsigned long long b);

// -- single and double precision intrinsics ----------------------------------------------------------------------------

TL_D float __cosf(float x);
TL_D float __sinf(float x);
TL_D float __tanf(float x);
TL_D float __tanhf(float x);
TL_D void __sincosf(float x, float *sine, float *cosine);
TL_D float __expf(float x);
TL_D float __exp10f(float x);
TL_D float __logf(float x);
TL_D float __log2f(float x);
TL_D float __log10f(float x);
TL_D float __powf(float x, float y);
TL_D float __fdividef(float x, float y);
TL_D float __saturatef(float x);
TL_D float __frsqrt_rn(float x);
#define TL_ROUNDED(mode)                                                                                               \
    TL_D float __fadd_##mode(float x, float y);                                                                        \
    TL_D float __fsub_##mode(float x, float y);                                                                        \
    TL_D float __fmul_##mode(float x, float y);                                                                        \
    TL_D float __fdiv_##mode(float x, float y);                                                                        \
    TL_D float __frcp_##mode(float x);                                                                                 \
    TL_D float __fsqrt_##mode(float x);                                                                                \
    TL_D float __fmaf_##mode(float x, float y, float z);                                                               \
    TL_D float __fmaf_ieee_##mode(float x, float y, float z);                                                          \
    TL_D float2 __fadd2_##mode(float2 x, float2 y);                                                                    \
    TL_D float2 __fmul2_##mode(float2 x, float2 y);                                                                    \
    TL_D float2 __ffma2_##mode(float2 x, float2 y, float2 z);                                                          \
    TL_D double __dadd_##mode(double x, double y);                                                                     \
    TL_D double __dsub_##mode(double x, double y);                                                                     \
    TL_D double __dmul_##mode(double x, double y);                                                                     \
    TL_D double __ddiv_##mode(double x, double y);                                                                     \
    TL_D double __drcp_##mode(double x);                                                                               \
    TL_D double __dsqrt_##mode(double x);                                                                              \
    TL_D double __fma_##mode(double x, double y, double z);                                                            \
    TL_D float __double2float_##mode(double x);                                                                        \
    TL_D int __double2int_##mode(double x);                                                                            \
    TL_D unsigned int __double2uint_##mode(double x);                                                                  \
    TL_D long long __double2ll_##mode(double x);                                                                       \
    TL_D unsigned long long __double2ull_##mode(double x);                                                             \
    TL_D int __float2int_##mode(float x);                                                                              \
    TL_D unsigned int __float2uint_##mode(float x);                                                                    \
    TL_D long long __float2ll_##mode(float x);                                                                         \
    TL_D unsigned long long __float2ull_##mode(float x);                                                               \
    TL_D float __int2float_##mode(int x);                                                                              \
    TL_D float __uint2float_##mode(unsigned int x);                                                                    \
    TL_D float __ll2float_##mode(long long x);                                                                         \
    TL_D float __ull2float_##mode(unsigned long long x);                                                               \
    TL_D double __ll2double_##mode(long long x);                                                                       \
    TL_D double __ull2double_##mode(unsigned long long x);
TL_ROUNDED(rn)
TL_ROUNDED(rz)
TL_ROUNDED(ru)
TL_ROUNDED(rd)
#undef TL_ROUNDED
TL_D double __int2double_rn(int x);
TL_D double __uint2double_rn(unsigned int x);
TL_D int __double2hiint(double x);
TL_D int __double2loint(double x);
TL_D double __hiloint2double(int high, int low);
TL_D long long __double_as_longlong(double x);
TL_D double __longlong_as_double(long long x);
TL_D int __float_as_int(float x);
TL_D unsigned int __float_as_uint(float x);
TL_D float __int_as_float(int x);
TL_D float __uint_as_float(unsigned int x);

// -- integer intrinsics ------------------------------------------------------------------------------------------------

TL_D unsigned int __brev(unsigned int x);
TL_D unsigned long long __brevll(unsigned long long x);
TL_D unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector);
TL_D int __clz(int x);
TL_D int __clzll(long long x);
TL_D int __ffs(int x);
TL_D int __ffsll(long long x);
TL_D unsigned int __fns(unsigned int mask, unsigned int base, int offset);
TL_D int __popc(unsigned int x);
TL_D int __popcll(unsigned long long x);
TL_D unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift);
TL_D unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift);
TL_D unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift);
TL_D unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift);
TL_D int __hadd(int x, int y);
TL_D int __rhadd(int x, int y);
TL_D unsigned int __uhadd(unsigned int x, unsigned int y);
TL_D unsigned int __urhadd(unsigned int x, unsigned int y);
TL_D int __mul24(int x, int y);
TL_D unsigned int __umul24(unsigned int x, unsigned int y);
TL_D int __mulhi(int x, int y);
TL_D unsigned int __umulhi(unsigned int x, unsigned int y);
TL_D long long __mul64hi(long long x, long long y);
TL_D unsigned long long __umul64hi(unsigned long long x, unsigned long long y);
TL_D unsigned int __sad(int x, int y, unsigned int z);
TL_D unsigned int __usad(unsigned int x, unsigned int y, unsigned int z);
TL_D int __dp4a(int a, int b, int c);
TL_D unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c);
TL_D int __dp4a(char4 a, char4 b, int c);
TL_D unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c);
TL_D int __dp2a_lo(int a, int b, int c);
TL_D unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c);
TL_D int __dp2a_lo(short2 a, char4 b, int c);
TL_D unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c);
TL_D int __dp2a_hi(int a, int b, int c);
TL_D unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c);
TL_D int __dp2a_hi(short2 a, char4 b, int c);
TL_D unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c);
#define TL_SIMD1(f)                                                                                                    \
    TL_D unsigned int f##2(unsigned int a);                                                                            \
    TL_D unsigned int f##4(unsigned int a);
#define TL_SIMD2(f)                                                                                                    \
    TL_D unsigned int f##2(unsigned int a, unsigned int b);                                                            \
    TL_D unsigned int f##4(unsigned int a, unsigned int b);
TL_SIMD1(__vabs)
TL_SIMD1(__vabsss)
TL_SIMD1(__vneg)
TL_SIMD1(__vnegss)
TL_SIMD2(__vabsdiffs)
TL_SIMD2(__vabsdiffu)
TL_SIMD2(__vadd)
TL_SIMD2(__vaddss)
TL_SIMD2(__vaddus)
TL_SIMD2(__vavgs)
TL_SIMD2(__vavgu)
TL_SIMD2(__vhaddu)
TL_SIMD2(__vcmpeq)
TL_SIMD2(__vcmpges)
TL_SIMD2(__vcmpgeu)
TL_SIMD2(__vcmpgts)
TL_SIMD2(__vcmpgtu)
TL_SIMD2(__vcmples)
TL_SIMD2(__vcmpleu)
TL_SIMD2(__vcmplts)
TL_SIMD2(__vcmpltu)
TL_SIMD2(__vcmpne)
TL_SIMD2(__vmaxs)
TL_SIMD2(__vmaxu)
TL_SIMD2(__vmins)
TL_SIMD2(__vminu)
TL_SIMD2(__vsads)
TL_SIMD2(__vsadu)
TL_SIMD2(__vseteq)
TL_SIMD2(__vsetges)
TL_SIMD2(__vsetgeu)
TL_SIMD2(__vsetgts)
TL_SIMD2(__vsetgtu)
TL_SIMD2(__vsetles)
TL_SIMD2(__vsetleu)
TL_SIMD2(__vsetlts)
TL_SIMD2(__vsetltu)
TL_SIMD2(__vsetne)
TL_SIMD2(__vsub)
TL_SIMD2(__vsubss)
TL_SIMD2(__vsubus)
#undef TL_SIMD1
#undef TL_SIMD2
#define TL_DPX(word, t)                                                                                                \
    TL_HD t __vimax3_##word(t a, t b, t c);                                                                            \
    TL_HD t __vimin3_##word(t a, t b, t c);                                                                            \
    TL_HD t __viaddmax_##word(t a, t b, t c);                                                                          \
    TL_HD t __viaddmin_##word(t a, t b, t c);
#define TL_DPX_RELU(word, t)                                                                                           \
    TL_HD t __vimax_##word##_relu(t a, t b);                                                                           \
    TL_HD t __vimin_##word##_relu(t a, t b);                                                                           \
    TL_HD t __vimax3_##word##_relu(t a, t b, t c);                                                                     \
    TL_HD t __vimin3_##word##_relu(t a, t b, t c);                                                                     \
    TL_HD t __viaddmax_##word##_relu(t a, t b, t c);                                                                   \
    TL_HD t __viaddmin_##word##_relu(t a, t b, t c);
TL_DPX(s32, int)
TL_DPX(u32, unsigned int)
TL_DPX(s16x2, unsigned int)
TL_DPX(u16x2, unsigned int)
TL_DPX_RELU(s32, int)
TL_DPX_RELU(s16x2, unsigned int)
#undef TL_DPX
#undef TL_DPX_RELU
#define TL_DPX_WHICH(f)                                                                                                \
    TL_HD int f##_s32(int a, int b, bool *first);                                                                      \
    TL_HD unsigned int f##_u32(unsigned int a, unsigned int b, bool *first);                                           \
    TL_HD unsigned int f##_s16x2(unsigned int a, unsigned int b, bool *high, bool *low);                               \
    TL_HD unsigned int f##_u16x2(unsigned int a, unsigned int b, bool *high, bool *low);
TL_DPX_WHICH(__vibmax)
TL_DPX_WHICH(__vibmin)
#undef TL_DPX_WHICH

// -- synchronisation, votes, shuffles ----------------------------------------------------------------------------------

extern "C" {
TL_D void __syncthreads();
TL_D int __syncthreads_count(int predicate);
TL_D int __syncthreads_and(int predicate);
TL_D int __syncthreads_or(int predicate);
TL_D void __threadfence();
TL_D void __threadfence_block();
TL_D void __threadfence_system();
TL_D void __nanosleep(unsigned int ns);
TL_D void __trap();
TL_D void __brkpt();
TL_D void __prof_trigger(int counter);
TL_D unsigned int __activemask();
TL_D long long clock64();
TL_D unsigned long long __globaltimer();
}
TL_D void __barrier_sync(unsigned int barrier);
TL_D void __barrier_sync_count(unsigned int barrier, unsigned int count);
TL_D void __syncwarp(unsigned int mask = 0xffffffff);
TL_D int __any_sync(unsigned int mask, int predicate);
TL_D int __all_sync(unsigned int mask, int predicate);
TL_D unsigned int __ballot_sync(unsigned int mask, int predicate);
TL_D int __uni_sync(unsigned int mask, int predicate);
TL_D int __any(int predicate);
TL_D int __all(int predicate);
TL_D unsigned int __ballot(int predicate);
#define TL_EACH(f)                                                                                                     \
    f(int) f(unsigned int) f(long) f(unsigned long) f(long long) f(unsigned long long) f(float) f(double)
#define TL_SHUFFLES(t)                                                                                                 \
    TL_D t __shfl_sync(unsigned int mask, t var, int source, int width = 32);                                          \
    TL_D t __shfl_up_sync(unsigned int mask, t var, unsigned int delta, int width = 32);                               \
    TL_D t __shfl_down_sync(unsigned int mask, t var, unsigned int delta, int width = 32);                             \
    TL_D t __shfl_xor_sync(unsigned int mask, t var, int lanes, int width = 32);                                       \
    TL_D t __shfl(t var, int source, int width = 32);                                                                  \
    TL_D t __shfl_up(t var, unsigned int delta, int width = 32);                                                       \
    TL_D t __shfl_down(t var, unsigned int delta, int width = 32);                                                     \
    TL_D t __shfl_xor(t var, int lanes, int width = 32);                                                               \
    TL_D unsigned int __match_any_sync(unsigned int mask, t value);                                                    \
    TL_D unsigned int __match_all_sync(unsigned int mask, t value, int *predicate);
TL_EACH(TL_SHUFFLES)
#undef TL_SHUFFLES
TL_D int __reduce_add_sync(unsigned int mask, int value);
TL_D int __reduce_min_sync(unsigned int mask, int value);
TL_D int __reduce_max_sync(unsigned int mask, int value);
TL_D unsigned int __reduce_add_sync(unsigned int mask, unsigned int value);
TL_D unsigned int __reduce_min_sync(unsigned int mask, unsigned int value);
TL_D unsigned int __reduce_max_sync(unsigned int mask, unsigned int value);
TL_D unsigned int __reduce_and_sync(unsigned int mask, unsigned int value);
TL_D unsigned int __reduce_or_sync(unsigned int mask, unsigned int value);
TL_D unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value);
TL_D void __cluster_barrier_arrive();
TL_D void __cluster_barrier_arrive_relaxed();
TL_D void __cluster_barrier_wait();
TL_D void *__cluster_map_shared_rank(const void *pointer, unsigned int rank);
TL_D unsigned int __cluster_query_shared_rank(const void *pointer);
TL_D dim3 __clusterDim();
TL_D dim3 __clusterIdx();
TL_D dim3 __clusterRelativeBlockIdx();
TL_D dim3 __clusterGridDimInClusters();
TL_D unsigned int __clusterRelativeBlockRank();
TL_D unsigned int __clusterSizeInBlocks();
TL_D unsigned int __clusterDimIsSpecified();

// -- memory ------------------------------------------------------------------------------------------------------------

TL_D unsigned int __isGlobal(const void *pointer);
TL_D unsigned int __isShared(const void *pointer);
TL_D unsigned int __isConstant(const void *pointer);
TL_D unsigned int __isLocal(const void *pointer);
TL_D unsigned int __isClusterShared(const void *pointer);
TL_D unsigned int __isGridConstant(const void *pointer);
TL_D size_t __cvta_generic_to_global(const void *pointer);
TL_D size_t __cvta_generic_to_shared(const void *pointer);
TL_D size_t __cvta_generic_to_constant(const void *pointer);
TL_D size_t __cvta_generic_to_local(const void *pointer);
TL_D size_t __cvta_generic_to_grid_constant(const void *pointer);
TL_D void *__cvta_grid_constant_to_generic(size_t pointer);
TL_D void *__cvta_global_to_generic(size_t pointer);
TL_D void *__cvta_shared_to_generic(size_t pointer);
TL_D void *__cvta_constant_to_generic(size_t pointer);
TL_D void *__cvta_local_to_generic(size_t pointer);
TL_D unsigned int __nvvm_get_smem_pointer(void *pointer);
#define TL_LOADS(t)                                                                                                    \
    TL_D t __ldg(const t *pointer);                                                                                    \
    TL_D t __ldca(const t *pointer);                                                                                   \
    TL_D t __ldcg(const t *pointer);                                                                                   \
    TL_D t __ldcs(const t *pointer);                                                                                   \
    TL_D t __ldcv(const t *pointer);                                                                                   \
    TL_D t __ldlu(const t *pointer);                                                                                   \
    TL_D void __stcg(t *pointer, t value);                                                                             \
    TL_D void __stcs(t *pointer, t value);                                                                             \
    TL_D void __stwb(t *pointer, t value);                                                                             \
    TL_D void __stwt(t *pointer, t value);
TL_EACH(TL_LOADS)
TL_LOADS(char)
TL_LOADS(signed char)
TL_LOADS(unsigned char)
TL_LOADS(short)
TL_LOADS(unsigned short)
#define TL_LOADS24(name) TL_LOADS(name##2) TL_LOADS(name##4)
TL_LOADS24(char)
TL_LOADS24(uchar)
TL_LOADS24(short)
TL_LOADS24(ushort)
TL_LOADS24(int)
TL_LOADS24(uint)
TL_LOADS24(float)
TL_LOADS(double2)
TL_LOADS(longlong2)
TL_LOADS(ulonglong2)
#undef TL_LOADS24
#undef TL_LOADS

#define TL_SCOPED(t, f, ...)                                                                                           \
    TL_D t f(t *address, __VA_ARGS__);                                                                                 \
    TL_D t f##_block(t *address, __VA_ARGS__);                                                                         \
    TL_D t f##_system(t *address, __VA_ARGS__);
#define TL_ATOMIC_BITS(t)                                                                                              \
    TL_SCOPED(t, atomicMin, t value)                                                                                   \
    TL_SCOPED(t, atomicMax, t value)                                                                                   \
    TL_SCOPED(t, atomicAnd, t value)                                                                                   \
    TL_SCOPED(t, atomicOr, t value)                                                                                    \
    TL_SCOPED(t, atomicXor, t value)
#define TL_ATOMIC_SWAPS(t)                                                                                             \
    TL_SCOPED(t, atomicExch, t value)                                                                                  \
    TL_SCOPED(t, atomicCAS, t compare, t value)
TL_ATOMIC_BITS(int)
TL_ATOMIC_BITS(unsigned int)
TL_ATOMIC_BITS(long long)
TL_ATOMIC_BITS(unsigned long long)
TL_ATOMIC_SWAPS(int)
TL_ATOMIC_SWAPS(unsigned int)
TL_ATOMIC_SWAPS(unsigned long long)
#undef TL_ATOMIC_BITS
#undef TL_ATOMIC_SWAPS
TL_D unsigned short atomicCAS(unsigned short *address, unsigned short compare, unsigned short value);
TL_SCOPED(float, atomicExch, float value)
TL_SCOPED(int, atomicAdd, int value)
TL_SCOPED(unsigned int, atomicAdd, unsigned int value)
TL_SCOPED(unsigned long long, atomicAdd, unsigned long long value)
TL_SCOPED(float, atomicAdd, float value)
TL_SCOPED(double, atomicAdd, double value)
TL_SCOPED(float2, atomicAdd, float2 value)
TL_SCOPED(float4, atomicAdd, float4 value)
TL_SCOPED(int, atomicSub, int value)
TL_SCOPED(unsigned int, atomicSub, unsigned int value)
TL_SCOPED(unsigned int, atomicInc, unsigned int limit)
TL_SCOPED(unsigned int, atomicDec, unsigned int limit)
#undef TL_SCOPED
#undef TL_EACH

// -- textures and surfaces ---------------------------------------------------------------------------------------------

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
#define TL_TEXTURE(f, ...)                                                                                             \
    template <class T> TL_D T f(cudaTextureObject_t texture, __VA_ARGS__);                                             \
    template <class T> TL_D void f(T *result, cudaTextureObject_t texture, __VA_ARGS__);
TL_TEXTURE(tex1Dfetch, int x)
TL_TEXTURE(tex1D, float x)
TL_TEXTURE(tex1DLod, float x, float level)
TL_TEXTURE(tex1DGrad, float x, float dx, float dy)
TL_TEXTURE(tex1DLayered, float x, int layer)
TL_TEXTURE(tex1DLayeredLod, float x, int layer, float level)
TL_TEXTURE(tex1DLayeredGrad, float x, int layer, float dx, float dy)
TL_TEXTURE(tex2D, float x, float y)
TL_TEXTURE(tex2DLod, float x, float y, float level)
TL_TEXTURE(tex2DGrad, float x, float y, float2 dx, float2 dy)
TL_TEXTURE(tex2DLayered, float x, float y, int layer)
TL_TEXTURE(tex2DLayeredLod, float x, float y, int layer, float level)
TL_TEXTURE(tex2DLayeredGrad, float x, float y, int layer, float2 dx, float2 dy)
TL_TEXTURE(tex2Dgather, float x, float y, int component = 0)
TL_TEXTURE(tex3D, float x, float y, float z)
TL_TEXTURE(tex3DLod, float x, float y, float z, float level)
TL_TEXTURE(tex3DGrad, float x, float y, float z, float4 dx, float4 dy)
TL_TEXTURE(texCubemap, float x, float y, float z)
TL_TEXTURE(texCubemapLod, float x, float y, float z, float level)
TL_TEXTURE(texCubemapGrad, float x, float y, float z, float4 dx, float4 dy)
TL_TEXTURE(texCubemapLayeredGrad, float x, float y, float z, int layer, float4 dx, float4 dy)
TL_TEXTURE(texCubemapLayered, float x, float y, float z, int layer)
TL_TEXTURE(texCubemapLayeredLod, float x, float y, float z, int layer, float level)
#undef TL_TEXTURE
#define TL_SURFACE(f, ...)                                                                                             \
    template <class T>                                                                                                 \
    TL_D T f##read(cudaSurfaceObject_t surface, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap);     \
    template <class T>                                                                                                 \
    TL_D void f##read(T *result, cudaSurfaceObject_t surface, __VA_ARGS__,                                             \
                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap);                                            \
    template <class T>                                                                                                 \
    TL_D void f##write(T value, cudaSurfaceObject_t surface, __VA_ARGS__,                                              \
                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap);
TL_SURFACE(surf1D, int x)
TL_SURFACE(surf1DLayered, int x, int layer)
TL_SURFACE(surf2D, int x, int y)
TL_SURFACE(surf2DLayered, int x, int y, int layer)
TL_SURFACE(surf3D, int x, int y, int z)
TL_SURFACE(surfCubemap, int x, int y, int face)
TL_SURFACE(surfCubemapLayered, int x, int y, int layerFace)
#undef TL_SURFACE

// -- the runtime as far as device code and shared declarations name it ---------------------------------------------------

enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
typedef enum cudaError cudaError_t;
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_R_8I };
enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1 };
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef unsigned long long cudaGraphConditionalHandle;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct cudaChannelFormatDesc {
    int x, y, z, w, f;
};
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaEventDisableTiming 0x02
extern "C" {
TL_HD cudaError_t cudaGetLastError();
TL_HD cudaError_t cudaPeekAtLastError();
TL_HD const char *cudaGetErrorString(cudaError_t error);
TL_HD const char *cudaGetErrorName(cudaError_t error);
TL_HD cudaError_t cudaDeviceSynchronize();
TL_HD cudaError_t cudaGetDevice(int *device);
TL_HD cudaError_t cudaGetDeviceCount(int *count);
TL_HD cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
TL_HD cudaError_t cudaStreamDestroy(cudaStream_t stream);
TL_HD cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);
TL_HD cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
TL_HD cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
TL_HD cudaError_t cudaEventDestroy(cudaEvent_t event);
TL_HD cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count, cudaMemcpyKind kind, cudaStream_t stream);
TL_HD cudaError_t cudaMemsetAsync(void *to, int value, size_t count, cudaStream_t stream);
TL_HD cudaError_t cudaMalloc(void **pointer, size_t size);
TL_HD cudaError_t cudaFree(void *pointer);
TL_D void cudaGridDependencySynchronize();
TL_D void cudaTriggerProgrammaticLaunchCompletion();
TL_D void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
TL_D cudaGraphExec_t cudaGetCurrentGraphExec();
TL_HD cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
TL_HD unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);
TL_HD cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
}
