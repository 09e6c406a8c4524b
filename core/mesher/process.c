#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall, CLOSE_RANGE_CLOEXEC */
#endif
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "../base/clock.h"
#include "../base/memory.h"

enum { LINE_SIZE = 1024, POLL_MS = 100, FIRST_OTHER_FD = 3, MOST_FD = 4096 };

/* --- where a program is --- */

static int is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Tests whether folder[n_folder]/name can be run; an empty folder is the current one. */
static int try_folder(const char *folder, size_t n_folder, const char *name, char **path)
{
    const size_t n = n_folder + strlen(name) + 4;
    HX_TRY(hx_alloc(path, n, 1, "file name"));
    if (n_folder == 0)
        snprintf(*path, n, "./%s", name);
    else
        snprintf(*path, n, "%.*s/%s", (int)n_folder, folder, name);
    if (is_program(*path)) return HX_OK;
    free(*path);
    *path = NULL;
    return HX_OK;
}

int hx_process_find(const char *name, char **path)
{
    const char *const other = strcmp(name, "gmsh") == 0 ? getenv("HEXTOP_GMSH") : NULL;
    const char *folder = getenv("PATH");
    *path = NULL;
    if (other && other[0]) name = other;
    if (strchr(name, '/')) return is_program(name) ? hx_strdup(path, name) : HX_OK;
    if (!folder) folder = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        const size_t n = strcspn(folder, ":");
        HX_TRY(try_folder(folder, n, name, path));
        if (*path || folder[n] == '\0') return HX_OK;
        folder += n + 1;
    }
}

/* --- the child --- */

typedef struct stream {
    int fd;      /* read end of the pipe; -1: closed */
    int number;  /* 1 or 2 */
    size_t n;    /* bytes of the line so far */
    int is_long; /* the rest of the line is discarded */
    char line[LINE_SIZE];
} stream;

typedef struct child {
    pid_t pid;
    stream stream[2];
    const hx_process_options *options;
    hx_process_result *result;
    size_t n_tail;
} child;

/* Between fork and exec, only functions that are safe in a signal handler may be called. */
static void close_on_exec(void)
{
#if defined(__linux__) && defined(SYS_close_range)
    enum { ON_EXEC = 4 }; /* CLOSE_RANGE_CLOEXEC, which older headers lack */
    if (syscall(SYS_close_range, FIRST_OTHER_FD, ~0U, ON_EXEC) == 0) return;
#endif
    for (int fd = FIRST_OTHER_FD; fd < MOST_FD; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Writes errno to `report` and exits without running handlers or flushing buffers of this
 * process. */
static void give_up(int report)
{
    const int reason = errno;
    if (write(report, &reason, sizeof reason) < 0) errno = reason;
    kill(getpid(), SIGKILL);
}

/* Allocations beyond the limit fail in the program. */
static void limit_memory(double bytes)
{
    struct rlimit limit;
    if (!(bytes > 0.0) || getrlimit(RLIMIT_AS, &limit) != 0) return;
    if (limit.rlim_cur != RLIM_INFINITY && (double)limit.rlim_cur <= bytes) return;
    limit.rlim_cur = (rlim_t)bytes;
    setrlimit(RLIMIT_AS, &limit);
}

static void become(const char *path, char *const *argv, const hx_process_options *options,
                   const int fd[3], int report, pid_t parent)
{
    setpgid(0, 0);
#if defined(__linux__)
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) kill(getpid(), SIGKILL);
#else
    (void)parent;
#endif
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < 32; number++)
        if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_on_exec();
    for (int i = 0; i < 3; i++)
        if (dup2(fd[i], i) < 0) give_up(report);
    if (options->folder && chdir(options->folder) != 0) give_up(report);
    limit_memory(options->memory);
    execv(path, argv);
    give_up(report);
}

/* Makes a pipe. Both ends close on exec, and their numbers are above the three descriptors that a
 * child gets. */
static int open_pipe(int fd[2])
{
    fd[0] = fd[1] = -1;
    int low[2];
    if (pipe(low) != 0) return -1;
    for (int i = 0; i < 2; i++) fd[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
    close(low[0]);
    close(low[1]);
    return fd[0] < 0 || fd[1] < 0 ? -1 : 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Returns 0 once the child runs the program, otherwise the errno of its failed exec. */
static int wait_for_exec(int report)
{
    int reason = 0;
    ssize_t n;
    do n = read(report, &reason, sizeof reason);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof reason ? reason : 0;
}

/* Starts the child with empty standard input. Sets errno if it returns -1. */
static int start_child(child *c, const char *path, const char *const *argv)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1}, reason = 0;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const pid_t parent = getpid();
    /* the standard descriptors are closed in this process */
    if (null >= 0 && null < FIRST_OTHER_FD) {
        const int low = null;
        null = fcntl(low, F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
        close(low);
    }
    c->pid = -1;
    if (null < 0 || open_pipe(out) != 0 || open_pipe(err) != 0 || open_pipe(report) != 0 ||
        (c->pid = fork()) < 0) {
        reason = errno;
    } else if (c->pid == 0) {
        const int fd[3] = {null, out[1], err[1]};
        become(path, (char *const *)(void *)argv, c->options, fd, report[1], parent);
    }
    close_fd(&null);
    close_fd(&out[1]);
    close_fd(&err[1]);
    close_fd(&report[1]);
    if (c->pid > 0) {
        setpgid(c->pid, c->pid); /* in both processes, whichever is first */
        reason = wait_for_exec(report[0]);
        while (reason && waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    close_fd(&report[0]);
    if (reason) {
        close_fd(&out[0]);
        close_fd(&err[0]);
        errno = reason;
        return -1;
    }
    c->stream[0] = (stream){.fd = out[0], .number = 1};
    c->stream[1] = (stream){.fd = err[0], .number = 2};
    for (int i = 0; i < 2; i++) fcntl(c->stream[i].fd, F_SETFL, O_NONBLOCK);
    return 0;
}

/* --- what it says --- */

/* The oldest lines are dropped if there is no room. */
static void keep_tail(child *c, const char *text, size_t n)
{
    char *const tail = c->result->tail;
    if (n == 0) return;
    while (c->n_tail + n + 2 > HX_PROCESS_TAIL) {
        const char *const end = memchr(tail, '\n', c->n_tail);
        const size_t first = end ? (size_t)(end - tail) + 1 : c->n_tail;
        memmove(tail, tail + first, c->n_tail - first);
        c->n_tail -= first;
    }
    memcpy(tail + c->n_tail, text, n);
    c->n_tail += n;
    tail[c->n_tail++] = '\n';
    tail[c->n_tail] = '\0';
}

static void end_line(child *c, stream *s)
{
    while (s->n > 0 && s->line[s->n - 1] == '\r') s->n--;
    s->line[s->n] = '\0';
    keep_tail(c, s->line, s->n);
    if (c->options->line) c->options->line(c->options->context, s->number, s->line);
    s->n = 0;
    s->is_long = 0;
}

/* Reads everything that is available now. */
static void drain(child *c, stream *s)
{
    char bytes[4096];
    while (s->fd >= 0) {
        const ssize_t n = read(s->fd, bytes, sizeof bytes);
        if (n > 0)
            for (size_t i = 0; i < (size_t)n; i++) {
                if (bytes[i] == '\n') {
                    end_line(c, s);
                } else if (s->n + 1 < LINE_SIZE) {
                    s->line[s->n++] = bytes[i] ? bytes[i] : ' ';
                } else {
                    s->is_long = 1;
                }
            }
        if (n > 0 || (n < 0 && errno == EINTR)) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        close_fd(&s->fd);
    }
}

/* --- its end --- */

/* The child has not been reaped yet, so its number and that of its group are not reused. */
static int has_ended(pid_t pid)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    const int rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return (rc != 0 && errno != EINTR) || (rc == 0 && info.si_pid == pid);
}

int hx_process_run(const char *const *argv, const hx_process_options *options,
                   hx_process_result *result)
{
    char *path = NULL;
    child c = {.options = options, .result = result};
    memset(result, 0, sizeof *result);
    HX_TRY(hx_process_find(argv[0], &path));
    if (!path) return HX_RAISE(HX_EENV, "the program '%s' does not exist", argv[0]);
    const double begin = hx_clock();
    const int failed = start_child(&c, path, argv) != 0;
    const int reason = errno;
    free(path);
    if (failed)
        return HX_RAISE(HX_EENV, "the program '%s' cannot be started: %s", argv[0],
                        strerror(reason));
    while (!has_ended(c.pid)) {
        struct pollfd fds[2];
        nfds_t n = 0;
        for (int i = 0; i < 2; i++)
            if (c.stream[i].fd >= 0) fds[n++] = (struct pollfd){c.stream[i].fd, POLLIN, 0};
        /* if both streams are closed, the child is about to end */
        poll(fds, n, n > 0 ? POLL_MS : POLL_MS / 20);
        for (int i = 0; i < 2; i++) drain(&c, &c.stream[i]);
        if (options->time_limit > 0.0 && hx_clock() - begin > options->time_limit)
            result->is_timed_out = 1;
        if (options->is_cancelled && options->is_cancelled(options->context))
            result->is_cancelled = 1;
        if (result->is_timed_out || result->is_cancelled) break;
    }
    kill(-c.pid, SIGKILL); /* including the processes that it started */
    int status = 0;
    pid_t got;
    do got = waitpid(c.pid, &status, 0);
    while (got < 0 && errno == EINTR);
    result->exit_status = got == c.pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->signal = got == c.pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    for (int i = 0; i < 2; i++) {
        drain(&c, &c.stream[i]);
        if (c.stream[i].n > 0) end_line(&c, &c.stream[i]);
        close_fd(&c.stream[i].fd);
    }
    result->seconds = hx_clock() - begin;
    return HX_OK;
}

const char *hx_process_fate(const hx_process_result *result, char *text, size_t n_text)
{
    if (result->is_timed_out)
        snprintf(text, n_text, "not finished after %.3g s, terminated", result->seconds);
    else if (result->is_cancelled)
        snprintf(text, n_text, "terminated on request");
    else if (result->signal)
        snprintf(text, n_text, "it crashed: signal %d (%s)", result->signal,
                 strsignal(result->signal));
    else
        snprintf(text, n_text, "exit status %d", result->exit_status);
    return text;
}
