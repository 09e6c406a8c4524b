/* The strict readers of JSON and CSV, and UTF-8: texts that are accepted, and errors with their
 * line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/text/csv_read.h"
#include "app/text/json_read.h"
#include "app/text/utf8.h"
#include "tests/lib/test.h"

static void test_good(void)
{
    static const char text[] =
        "{\"a\": [1, -2.5e3, true, null, []], \"b\": {\"c\": {\"d\": \"x\\n\\u00e9\\ud83d\\ude00"
        "\\/\"}},\n \"e\": \"\xc3\xa9\", \"\": 0, \"f\": false}";
    hx_json_tree tree;
    CHECK_OK(hx_json_parse(&tree, "text", text, sizeof text - 1));
    const hx_json_value *const a = hx_json_at(tree.root, "a");
    CHECK(tree.root->n == 5 && a->n == 5 && a->first->number == 1.0);
    CHECK(a->first->next->number == -2500.0 && strcmp(a->first->next->text, "-2.5e3") == 0);
    CHECK(a->first->next->next->kind == HX_JSON_BOOL && a->first->next->next->number == 1.0);
    CHECK(a->first->next->next->next->kind == HX_JSON_NULL);
    CHECK(strcmp(hx_json_text_at(tree.root, "b.c.d", ""), "x\n\xc3\xa9\xf0\x9f\x98\x80/") == 0);
    CHECK(strcmp(hx_json_text_at(tree.root, "e", ""), "\xc3\xa9") == 0);
    CHECK(hx_json_number_at(tree.root, "f") == 0.0);
    CHECK(isnan(hx_json_number_at(tree.root, "b.c")) && isnan(hx_json_number_at(NULL, "b")));
    CHECK(!hx_json_at(tree.root, "b.d") && !hx_json_at(tree.root, "a.b"));
    CHECK(strcmp(hx_json_text_at(tree.root, "a", "none"), "none") == 0);
    hx_json_free(&tree);
}

static void test_bad(void)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "[01]",
                                      "[1.]",
                                      "[.5]",
                                      "[+1]",
                                      "[1e]",
                                      "[NaN]",
                                      "[truth]",
                                      "[\"a]",
                                      "[\"\\x\"]",
                                      "[\"\\u12\"]",
                                      "[\"\\ud800\"]",
                                      "[\"\\udc00\"]",
                                      "[\"\\u0000\"]",
                                      "[\"\t\"]",
                                      "{a:1}",
                                      "{\"a\" 1}",
                                      "{\"a\":1 \"b\":2}",
                                      "[1] 2",
                                      "{\"a\":1,\"a\":2}",
                                      "[\"\xff\"]",
                                      "['a']",
                                      "[\"\xed\xa0\x80\"]",
                                      "[\"\xc0\xaf\"]",
                                      "// x\n1",
                                      "[1 2]",
                                      "\xef\xbb\xbf[]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hx_json_tree tree;
        char all[128];
        snprintf(all, sizeof all, "\n\n%s", bad[i]);
        const int rc = hx_json_parse(&tree, "file", all, strlen(all));
        CHECK_MSG(rc == HX_EINPUT, "taken: %s", bad[i]);
        CHECK_MSG(strstr(hx_error_message(), "file:3: ") || bad[i][0] == '/', "of %s: %s", bad[i],
                  hx_error_message());
        CHECK(!tree.root);
    }
    char deep[200];
    hx_json_tree tree;
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    CHECK(hx_json_parse(&tree, "deep", deep, sizeof deep) == HX_EINPUT);
    CHECK_OK(hx_json_parse(&tree, "deep", deep + 40, 120));
    hx_json_free(&tree);
}

static void write_file(const char *name, const char *text)
{
    FILE *const f = fopen(name, "wb");
    fputs(text, f);
    fclose(f);
}

static void test_csv(void)
{
    static const char name[] = "test_readers.csv";
    static const char *const bad[][2] = {{"a,b\n1,2\n3\n", ":3: 1 field"},
                                         {"a,b\n1,2x\n", ":2: '2x' is not a number"},
                                         {"a,,b\n", ":1: a column without a name"},
                                         {"a,b", ":1: expected a line"}};
    hx_csv csv;
    write_file(name, "iteration,x\r\n1,2.5\r\n2,\n3,inf\n4,");
    CHECK_OK(hx_csv_read(&csv, name));
    CHECK(csv.n_row == 3 && csv.n_column == 2 && csv.is_cut);
    const double *const x = hx_csv_column(&csv, "x");
    CHECK(x && x[0] == 2.5 && isnan(x[1]) && isinf(x[2]));
    CHECK(hx_csv_column(&csv, "iteration")[2] == 3.0 && !hx_csv_column(&csv, "y"));
    hx_csv_free(&csv);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_file(name, bad[i][0]);
        CHECK_FAILS(hx_csv_read(&csv, name), HX_EINPUT, bad[i][1]);
        CHECK(csv.n_row == 0 && !csv.value);
    }
    unlink(name);
    CHECK_FAILS(hx_csv_read(&csv, name), HX_EINPUT, "cannot read");
}

/* Encodes and decodes every character. */
static void test_utf8(void)
{
    for (uint32_t code = 1; code < 0x110000; code++) {
        char bytes[4];
        if (code >= 0xd800 && code < 0xe000) continue;
        const int n = hx_utf8_write(code, bytes);
        if (hx_utf8_length(bytes, 4) != n || (n > 1 && hx_utf8_length(bytes, (size_t)n - 1) != 0))
            CHECK_MSG(0, "U+%04X", (unsigned)code);
    }
    CHECK(hx_utf8_length("\x80", 1) == 0 && hx_utf8_length("\xf4\x90\x80\x80", 4) == 0);
}

int main(void)
{
    test_good();
    test_bad();
    test_csv();
    test_utf8();
    TEST_END();
}
