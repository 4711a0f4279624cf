/* A driver of a few functions, each with a known answer. */
#include <stdint.h>

int cuInit(unsigned flags) {
    return flags == 0 ? 0 : 1;
}

int cuDriverGetVersion(int *version) {
    *version = 13000;
    return 0;
}

int cuCtxGetCurrent(void **context) {
    *context = 0;
    return 3;
}

int cuMemAlloc_v2(uint64_t *address, uint64_t bytes) {
    (void)address;
    (void)bytes;
    return 2;
}

static int entrance(void) {
    return 7;
}

/* Every name has the same entrance, which is no export. */
int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    (void)name;
    (void)version;
    (void)flags;
    *function = (void *)entrance;
    return 0;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        unsigned *status) {
    *status = 0;
    return cuGetProcAddress(name, function, version, flags);
}

/* Not what the name says: it weighs every argument by its place, to show that all of them arrive.
 */
int cuGraphCreate(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                  uint64_t g, uint64_t h, uint64_t i, double p, double q, double r, double s,
                  double t, double u, double v, double w) {
    uint64_t words = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
    double numbers = 10 * p + 11 * q + 12 * r + 13 * s + 14 * t + 15 * u + 16 * v + 17 * w;
    return (int)words + 2 * (int)numbers - 100;
}
