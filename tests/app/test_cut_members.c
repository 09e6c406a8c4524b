/* A try of `hextop lightest` whose surface cuts members of the 0/1 design has no part: the message
 * names one by its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/output/cut_members.h"
#include "core/base/error.h"
#include "tests/lib/test.h"

static const char file[] = "cut_members.json";

static int check(const char *json)
{
    FILE *const out = fopen(file, "w");
    if (!out) abort();
    fputs(json, out);
    fclose(out);
    hx_error_clear();
    const int rc = hx_cut_members_check(file);
    remove(file);
    return rc;
}

int main(void)
{
    CHECK_OK(check(
        "{\"members_repaired\": [{\"place\": [9, 9, 9], \"elements\": 1}], \"members_cut\": []}"));
    CHECK(check("{\"members_cut\": [{\"place\": [1.5, -2, 3.25], \"elements\": 4}]}") ==
          HX_ENUMERIC);
    CHECK_MSG(strstr(hx_error_message(), "cuts 1 member of the 0/1 design, one at 1.5, -2, 3.25") !=
                  NULL,
              "%s", hx_error_message());
    CHECK(check("{\"members_cut\": [{\"place\": [1, 2, 3], \"elements\": 4}, "
                "{\"place\": [4, 5, 6], \"elements\": 2}]}") == HX_ENUMERIC);
    CHECK_MSG(strstr(hx_error_message(), "cuts 2 members of the 0/1 design, one at 1, 2, 3") !=
                  NULL,
              "%s", hx_error_message());
    CHECK(check("{\"volume\": 1.0}") == HX_EINPUT);
    CHECK_MSG(strstr(hx_error_message(), file) && strstr(hx_error_message(), "members_cut"), "%s",
              hx_error_message());
    hx_error_clear();
    CHECK(hx_cut_members_check("no such file.json") == HX_EINPUT);
    hx_error_clear();
    TEST_END();
}
