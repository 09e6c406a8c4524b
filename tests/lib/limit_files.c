/* Preloaded into a program: from here on its files may have at most HX_LIMIT_FILES bytes, like on a
 * full disk, and larger writes fail with EFBIG. Programs with ThreadSanitizer write and map a file
 * of their own before main, and end by SIGBUS if it is cut short; the constructor of a library runs
 * after that. LLVM's OpenMP makes a shared file at its first call, which is made here. */
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
