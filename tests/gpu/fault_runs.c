/* Several runs of the program in one process, one after the other, each with a fault of its own.
 * This saves time because starting a GPU takes longer than such a run. Used by faults.py, in a
 * build with -Dfault_injection=true.
 *
 *     fault_runs            one run per line of stdin. Its fields, separated by tabs: the fault
 *                           as in HEXTOP_FAULT or "-"; a file for the list of places or "-"; a file
 *                           for the output of the run; the words of the command line
 *
 * Prints one line per run: its exit status; 1 if the fault occurred; bytes of malloc that it left,
 * or in a build with -fsanitize=address, 1 after a report of leaks. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/text/commands.h"
#include "app/text/log.h"
#include "core/base/fault.h"

enum { MOST_TEXT = 8192, MOST_WORDS = 64 };

#ifdef __SANITIZE_ADDRESS__
int __lsan_do_recoverable_leak_check(void);
#endif

/* Like main.c. */
static int run(int argc, char **argv)
{
    hx_options options;
    if (hx_options_parse(&options, hx_commands, argc, argv) < 0 || !options.command) return 2;
    hx_log_set_level(options.level);
    const int rc = options.command->run(&options);
    if (rc >= 0) return rc;
    hx_log_error(rc);
    return hx_error_exit_status(rc);
}

static long long held(void)
{
#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
    return 0;
#else
    const struct mallinfo2 info = mallinfo2();
    return (long long)(info.uordblks + info.hblkhd);
#endif
}

static long long left_since(long long before)
{
#ifdef __SANITIZE_ADDRESS__
    (void)before;
    return __lsan_do_recoverable_leak_check();
#else
    return held() - before;
#endif
}

/* Redirects both streams into a file during a run. Returns 0, or -1 on failure. */
static int redirect(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    const int ok = fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0;
    if (fd >= 0) close(fd);
    return ok ? 0 : -1;
}

int main(void)
{
    static char text[MOST_TEXT];
    char *field[MOST_WORDS + 1];
    const int answer = dup(STDOUT_FILENO);
    while (answer >= 0 && fgets(text, sizeof text, stdin)) {
        int n = 0, is_fired = 0;
        text[strcspn(text, "\n")] = '\0';
        for (char *at = text, *word; n < MOST_WORDS && (word = strsep(&at, "\t"));)
            field[n++] = word;
        field[n] = NULL;
        if (n < 5 || redirect(field[2]) < 0) return 2;
        const long long before = held();
        hx_fault_arm(strcmp(field[0], "-") == 0 ? NULL : field[0]);
        const int status = run(n - 3, field + 3);
        fflush(stdout);
        if (strcmp(field[1], "-") != 0) is_fired = hx_fault_report(field[1]);
        hx_fault_arm(NULL);
        if (dprintf(answer, "%d %d %lld\n", status, is_fired, left_since(before)) < 0) return 1;
    }
    return 0;
}
