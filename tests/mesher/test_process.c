/* Child processes: their output, their end, and that none is left behind. */
#include "core/mesher/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tests/lib/test.h"

typedef struct heard {
    int n[3];
    char first[3][128];
    size_t longest;
} heard;

static void hear(void *context, int stream, const char *text)
{
    heard *const h = context;
    if (h->n[stream]++ == 0) snprintf(h->first[stream], sizeof h->first[stream], "%s", text);
    if (strlen(text) > h->longest) h->longest = strlen(text);
}

static int run_shell(const char *script, const hx_process_options *options, hx_process_result *r)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    return hx_process_run(argv, options, r);
}

static void check_output(void)
{
    heard h = {{0}};
    hx_process_result r;
    const hx_process_options options = {.folder = "/", .line = hear, .context = &h};
    CHECK_OK(run_shell("pwd; echo fault >&2; printf 'no end'; exit 3", &options, &r));
    CHECK(r.exit_status == 3 && r.signal == 0 && !r.is_timed_out);
    CHECK_MSG(h.n[1] == 2 && strcmp(h.first[1], "/") == 0, "%d '%s'", h.n[1], h.first[1]);
    CHECK_MSG(h.n[2] == 1 && strcmp(h.first[2], "fault") == 0, "%d '%s'", h.n[2], h.first[2]);
    CHECK(strstr(r.tail, "no end\n") && strstr(r.tail, "fault\n"));
}

/* Three megabytes, and a line of 100,000 bytes: only the end is kept, within bounds. */
static void check_bounds(void)
{
    heard h = {{0}};
    hx_process_result r;
    const hx_process_options options = {.line = hear, .context = &h};
    CHECK_OK(run_shell("i=0; while [ $i -lt 300 ]; do printf '%0100000d\\n' $i; i=$((i+1)); done; "
                       "echo last",
                       &options, &r));
    CHECK_MSG(h.n[1] == 301 && h.longest == 1023, "%d lines, %zu", h.n[1], h.longest);
    CHECK(strlen(r.tail) < HX_PROCESS_TAIL && strstr(r.tail, "last\n"));
    CHECK(r.exit_status == 0);
}

static int is_alive(pid_t pid)
{
    return kill(pid, 0) == 0;
}

/* Waits up to two seconds: another process removes a killed one from the table. */
static int is_gone(pid_t pid)
{
    char path[64], state = 'Z';
    for (int i = 0; i < 200 && is_alive(pid); i++) {
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
        FILE *const f = fopen(path, "r");
        if (!f || fscanf(f, "%*d %*s %c", &state) != 1) state = 'Z';
        if (f) fclose(f);
        if (state == 'Z') return 1;
        poll(NULL, 0, 10);
    }
    return !is_alive(pid);
}

/* A grandchild prints its number, the child waits for it: both are terminated. */
static void check_time_limit(void)
{
    heard h = {{0}};
    hx_process_result r;
    const hx_process_options options = {.time_limit = 0.3, .line = hear, .context = &h};
    const double begin = hx_clock();
    CHECK_OK(run_shell("sleep 60 & echo $!; wait", &options, &r));
    CHECK(r.is_timed_out && r.exit_status == -1 && r.seconds >= 0.3);
    CHECK_MSG(hx_clock() - begin < 5.0, "%g s", hx_clock() - begin);
    const pid_t grandchild = (pid_t)atol(h.first[1]);
    CHECK(grandchild > 1);
    CHECK_MSG(is_gone(grandchild), "%ld still runs", (long)grandchild);
}

/* A process left in the background with the streams open is not waited for, and is terminated. */
static void check_left_behind(void)
{
    heard h = {{0}};
    hx_process_result r;
    const hx_process_options options = {.line = hear, .context = &h};
    const double begin = hx_clock();
    CHECK_OK(run_shell("sleep 60 & echo $!", &options, &r));
    CHECK(r.exit_status == 0 && hx_clock() - begin < 5.0);
    CHECK(is_gone((pid_t)atol(h.first[1])));
}

static int cancel_at_once(void *context)
{
    (void)context;
    return 1;
}

static void check_ends(void)
{
    hx_process_result r;
    char text[128];
    const hx_process_options none = {0}, cancelled = {.is_cancelled = cancel_at_once};
    CHECK_OK(run_shell("kill -SEGV $$", &none, &r));
    CHECK(r.signal == SIGSEGV && r.exit_status == -1);
    CHECK(strstr(hx_process_fate(&r, text, sizeof text), "signal 11"));
    CHECK_OK(run_shell("sleep 60", &cancelled, &r));
    CHECK(r.is_cancelled && !r.is_timed_out);
    const char *const missing[] = {"no-such-program-of-hextop", NULL};
    CHECK_FAILS(hx_process_run(missing, &none, &r), HX_EENV, "no-such-program-of-hextop");
    const hx_process_options nowhere = {.folder = "/no/such/folder"};
    CHECK_FAILS(run_shell("true", &nowhere, &r), HX_EENV, "No such file");
}

/* Open files and standard input are not inherited, and ignored signals have their default action
 * again. */
static void check_inheritance(void)
{
    hx_process_result r;
    const hx_process_options none = {0};
    const int fd = dup2(open("/dev/null", O_RDONLY), 57);
    CHECK(fd == 57);
    signal(SIGTERM, SIG_IGN);
    CHECK_OK(run_shell("[ ! -e /proc/self/fd/57 ] && ! read line && kill -TERM $$", &none, &r));
    CHECK_MSG(r.signal == SIGTERM, "exit status %d, signal %d: %s", r.exit_status, r.signal,
              r.tail);
    signal(SIGTERM, SIG_DFL);
    close(fd);
    for (int i = 0; i < 64; i++) { /* no descriptor leaks */
        CHECK_OK(run_shell("exit 0", &none, &r));
        const int next = open("/dev/null", O_RDONLY);
        CHECK_MSG(next < 16, "descriptor %d", next);
        close(next);
    }
}

/* A process that runs a child is killed without a chance to act. */
static void check_death(void)
{
    int fd[2];
    char text[32] = "";
    CHECK(pipe(fd) == 0);
    const pid_t parent = fork();
    if (parent == 0) {
        char script[64];
        hx_process_result r;
        const hx_process_options options = {0};
        snprintf(script, sizeof script, "echo $$ > /proc/%ld/fd/%d; exec sleep 60", (long)getpid(),
                 fd[1]);
        run_shell(script, &options, &r);
        _exit(0);
    }
    const ssize_t n = read(fd[0], text, sizeof text - 1);
    CHECK(n > 0);
    const pid_t child = (pid_t)atol(text);
    CHECK(child > 1 && is_alive(child));
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    CHECK_MSG(is_gone(child), "%ld outlived its parent", (long)child);
    close(fd[0]);
    close(fd[1]);
}

static void check_find(void)
{
    char *path = NULL;
    CHECK_OK(hx_process_find("sh", &path));
    CHECK(path && path[0] == '/');
    free(path);
    CHECK_OK(hx_process_find("/no/such/program", &path));
    CHECK(!path);
    setenv("HEXTOP_GMSH", "/bin/sh", 1);
    CHECK_OK(hx_process_find("gmsh", &path));
    CHECK(path && strcmp(path, "/bin/sh") == 0);
    free(path);
    unsetenv("HEXTOP_GMSH");
}

int main(void)
{
    check_output();
    check_bounds();
    check_time_limit();
    check_left_behind();
    check_ends();
    check_inheritance();
    check_find();
#if defined(__linux__)
    check_death();
#endif
    TEST_END();
}
