/* Logging: by level to the terminal and to sinks, line by line, and only to sinks. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../app/text/log.h"
#include "../../app/text/table.h"
#include "../lib/test.h"

typedef struct heard {
    char text[2048]; /* "I:line|W:line|" */
    int n, n_status;
} heard;

static void hear(void *user, hx_log_kind kind, const char *text)
{
    heard *const h = user;
    const size_t used = strlen(h->text);
    snprintf(h->text + used, sizeof h->text - used, "%c:%s|", "DIWE"[kind], text);
    h->n++;
}

static void hear_status(void *user, const char *text)
{
    ((heard *)user)->n_status += strcmp(text, "half done") == 0;
}

static void log_all(void)
{
    hx_table table;
    hx_log_detail("fine %d", 1);
    hx_log_info("\nplain %d", 2);
    hx_log_warning("look out");
    hx_log_status("%s", "half done");
    (void)HX_RAISE(HX_EINPUT, "wrong\nindeed");
    hx_log_error(HX_EINPUT);
    hx_table_begin(&table, "lr");
    hx_table_add(&table, "a");
    hx_table_add(&table, "12");
    hx_table_add(&table, "bcd");
    hx_table_add(&table, "3");
    hx_table_end(&table, 1);
    hx_log_record("for the file");
}

/* Runs log_all with stdout and stderr redirected to files; returns their texts. */
static void capture(char *out, char *err, size_t n_text)
{
    FILE *file[2] = {tmpfile(), tmpfile()};
    char *const text[2] = {out, err};
    int kept[2];
    fflush(NULL);
    for (int i = 0; i < 2; i++) kept[i] = dup(1 + i);
    for (int i = 0; i < 2; i++) dup2(fileno(file[i]), 1 + i);
    log_all();
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], 1 + i);
        close(kept[i]);
        rewind(file[i]);
        text[i][fread(text[i], 1, n_text - 1, file[i])] = '\0';
        fclose(file[i]);
    }
}

static void is(const char *got, const char *wanted)
{
    CHECK_MSG(strcmp(got, wanted) == 0, "got <<%s>>, not <<%s>>", got, wanted);
}

static const char table_text[] = " a    12\n bcd   3\n";
static const char errors[] = "hextop: warning: look out\nhextop: error: wrong\nindeed\n";

static void test_terminal(void)
{
    char out[2048], err[2048], wanted[256];
    hx_log_set_level(HX_LOG_QUIET);
    capture(out, err, sizeof out);
    is(out, table_text);
    is(err, errors);
    hx_log_set_level(HX_LOG_NORMAL);
    capture(out, err, sizeof out);
    snprintf(wanted, sizeof wanted, "\nplain 2\n\r\033[Khalf done\r\033[K%s", table_text);
    is(out, wanted);
    is(err, errors);
    hx_log_set_level(HX_LOG_VERBOSE);
    capture(out, err, sizeof out);
    CHECK(strncmp(out, "fine 1\n\nplain", 12) == 0);
    CHECK(strstr(err, "raised at test_log.c:") != NULL);
}

static void test_sinks(void)
{
    heard coarse = {{0}, 0, 0}, fine = {{0}, 0, 0};
    char out[2048], err[2048];
    const char all[] = "I:|I:plain 2|W:look out|E:wrong|E:indeed|I: a    12|I: bcd   3|"
                       "I:for the file|";
    hx_log_set_level(HX_LOG_NORMAL);
    CHECK_OK(hx_log_add_sink(&(hx_log_sink){HX_LOG_NORMAL, hear, hear_status, &coarse}));
    CHECK_OK(hx_log_add_sink(&(hx_log_sink){HX_LOG_VERBOSE, hear, NULL, &fine}));
    CHECK(hx_log_is_on(HX_LOG_VERBOSE));
    capture(out, err, sizeof out);
    CHECK(strstr(out, "plain 2\n") && !strstr(out, "fine"));
    is(coarse.text, all);
    CHECK(coarse.n_status == 1 && fine.n_status == 0);
    CHECK(fine.n == coarse.n + 2 && strncmp(fine.text, "D:fine 1|I:|", 12) == 0);

    memset(&coarse, 0, sizeof coarse);
    const int was = hx_log_set_printing(0);
    CHECK(was == 1 && !hx_log_is_terminal());
    hx_log_remove_sink(&fine);
    hx_log_remove_sink(&fine); /* no more */
    CHECK(hx_log_is_on(HX_LOG_NORMAL) && !hx_log_is_on(HX_LOG_VERBOSE));
    fine.n = 0;
    capture(out, err, sizeof out);
    is(out, "");
    is(err, "");
    is(coarse.text, all);
    CHECK(fine.n == 0);
    hx_log_remove_sink(&coarse);
    CHECK(!hx_log_is_on(HX_LOG_NORMAL));
    CHECK(hx_log_set_printing(1) == 0);
}

/* Seconds and minutes are never printed as 60. */
static void test_seconds(void)
{
    static const struct {
        double seconds;
        const char *text;
    } pair[] = {{0.01, "0.01 s"},       {99.94, "99.9 s"},      {99.96, "1 min 40 s"},
                {419.4, "6 min 59 s"},  {419.7, "7 min 00 s"},  {5999.4, "99 min 59 s"},
                {5999.6, "1 h 40 min"}, {7169.0, "1 h 59 min"}, {7185.0, "2 h 00 min"}};
    char text[32];
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++)
        is(hx_format_seconds(pair[i].seconds, text, sizeof text), pair[i].text);
}

int main(void)
{
    heard h = {{0}, 0, 0};
    test_terminal();
    test_sinks();
    test_seconds();
    for (int i = 0; i < 8; i++)
        CHECK_OK(hx_log_add_sink(&(hx_log_sink){HX_LOG_NORMAL, hear, NULL, &h}));
    CHECK_FAILS(hx_log_add_sink(&(hx_log_sink){HX_LOG_NORMAL, hear, NULL, &h}), HX_EINTERNAL,
                "more than 8");
    TEST_END();
}
