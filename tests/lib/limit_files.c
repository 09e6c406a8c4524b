/* Preloaded into a program: its files may have HX_LIMIT_FILES bytes at most from here on, as on a
 * full disk, and what is more fails with EFBIG. ThreadSanitizer's programs write a file of their
 * own before main, which they map, and end by SIGBUS where it is cut short; a library's constructor
 * runs after that. LLVM's OpenMP makes a shared one at its first call, which is made here. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

extern int omp_get_max_threads(void) __attribute__((weak));

__attribute__((constructor)) static void limit(void)
{
    const char *const text = getenv("HX_LIMIT_FILES");
    if (!text) return;
    const struct rlimit most = {strtoul(text, NULL, 10), strtoul(text, NULL, 10)};
    if (omp_get_max_threads) (void)omp_get_max_threads();
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &most) != 0) abort();
}
