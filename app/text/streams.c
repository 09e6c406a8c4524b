#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"

static int stdout_was_closed;

int hx_streams_open(void)
{
    static const int other_way[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
        if (open("/dev/null", other_way[fd]) != fd) return -1; /* the lowest free descriptor */
        if (fd == STDOUT_FILENO) stdout_was_closed = 1;
    }
    return 0;
}

/* 1 if stdout is a pipe without a reader. */
static int is_unread(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int hx_streams_close(int status, int is_to_print)
{
    const int is_lost = fflush(stdout) != 0 || ferror(stdout);
    if (!is_lost || status != 0 || ((stdout_was_closed || is_unread()) && !is_to_print))
        return status;
    hx_log_usage_error("cannot write to the standard output%s",
                       stdout_was_closed ? ": it is closed" : "");
    return 1;
}
