/* Other commands in this process: their words, what they print, and signals meanwhile. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../text/commands.h"
#include "core/base/fit.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "lightest.h"

/* --- words --- */

int hx_words_add(hx_words *words, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    HX_TRY(hx_resize(&words->word, words->n, words->n + 1, sizeof(char *), "words"));
    va_start(args, fmt);
    char *const text = hx_fit_all(line, sizeof line, fmt, args);
    va_end(args);
    const int rc = hx_strdup(&words->word[words->n], text);
    if (text != line) free(text);
    if (rc == HX_OK) words->n++;
    return rc;
}

void hx_words_free(hx_words *words)
{
    for (size_t i = 0; i < words->n; i++) free(words->word[i]);
    free(words->word);
    memset(words, 0, sizeof *words);
}

/* --- signals --- */

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_NUMBER = sizeof numbers / sizeof numbers[0] };

static struct sigaction at_start[N_NUMBER];
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    static const char text[] =
        "\n"
        "hextop: finishing the current step; press Ctrl-C again to stop immediately\n";
    (void)number;
    interrupted = 1;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) interrupted = 1;
}

void hx_lightest_signals_save(void)
{
    interrupted = 0;
    for (int i = 0; i < N_NUMBER; i++) {
        sigaction(numbers[i], NULL, &at_start[i]);
        if (numbers[i] == SIGHUP || at_start[i].sa_handler != SIG_IGN) continue;
        at_start[i].sa_handler = SIG_DFL;
        sigaction(numbers[i], &at_start[i], NULL);
    }
}

void hx_lightest_signals_end(void)
{
    for (int i = 0; i < N_NUMBER; i++) sigaction(numbers[i], &at_start[i], NULL);
}

/* A SIGHUP that is ignored, for example by nohup, stays so. */
void hx_lightest_signals_begin(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < N_NUMBER; i++)
        if (at_start[i].sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
}

int hx_lightest_is_interrupted(void)
{
    return interrupted != 0;
}

/* --- the call --- */

/* Keeps the text of the last error that is printed. */
static void keep_error(void *user, hx_log_kind kind, const char *text)
{
    if (kind == HX_LOG_ERROR) hx_fit(user, HX_MESSAGE_SIZE, "%s", text);
}

/* Runs the command with its options, and keeps the message of an error. */
static int run_quietly(const hx_lightest *l, const hx_options *options, char *message)
{
    const hx_log_sink sink = {.level = HX_LOG_QUIET, .line = keep_error, .user = message};
    message[0] = '\0';
    HX_TRY(hx_log_add_sink(&sink));
    const int is_quiet = l->level != HX_LOG_VERBOSE,
              was = is_quiet ? hx_log_set_printing(0) : hx_log_set_printing(1);
    const int rc = options->command->run(options);
    hx_log_set_printing(was);
    hx_log_remove_sink(message);
    return rc;
}

int hx_lightest_call(const hx_lightest *l, const hx_command *command, const hx_words *words,
                     char *message)
{
    const hx_command *const list[] = {command, NULL};
    hx_options options;
    char **word; /* hx_options_parse moves them */
    HX_TRY(hx_alloc(&word, words->n, sizeof *word, "words"));
    memcpy(word, words->word, words->n * sizeof *word);
    int rc = hx_options_parse(&options, list, (int)words->n, word);
    if (rc < 0)
        rc = HX_RAISE(HX_EINTERNAL, "the words of `hextop %s` are not valid", command->name);
    options.level = l->level;
    if (rc == 0) rc = run_quietly(l, &options, message);
    free(word);
    return rc;
}
