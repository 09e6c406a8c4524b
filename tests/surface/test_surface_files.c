/* Surface files conform to their formats. */
#include <unistd.h>

#include "tests/lib/surface_case.h"

static uint32_t get_u32(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

/* Bytes of the files: counts and sizes; a failed write leaves nothing. */
static void test_files(void)
{
    const fixture_box box = {{2, 1, 1}, {2.0, 1.0, 1.0}, 0.0, 0};
    static unsigned char bytes[4096];
    part p;
    char stl[64], ply[64];
    snprintf(stl, sizeof stl, "test_surface_%ld.stl", (long)getpid());
    snprintf(ply, sizeof ply, "test_surface_%ld.ply", (long)getpid());
    make_box(&p, &box);
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
    CHECK_OK(hx_surface_write(stl, hx_surface_format_of_name(stl), &p.surface,
                              &(hx_surface_about){"solid box", 0.0}));
    CHECK_OK(hx_surface_write(ply, hx_surface_format_of_name(ply), &p.surface,
                              &(hx_surface_about){"box\nelement", 0.0}));
    FILE *file = fopen(stl, "rb");
    const size_t n_stl = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(n_stl == 84 + 50 * 20 && get_u32(bytes + 80) == 20);
    CHECK(memcmp(bytes, "solid", 5) != 0);
    const uint32_t first = get_u32(bytes + 84 + 12);
    float x;
    memcpy(&x, &first, sizeof x);
    CHECK(x == 0.0f || x == 1.0f || x == 2.0f);
    file = fopen(ply, "rb");
    const size_t n_ply = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    bytes[n_ply] = 0;
    const char *end = strstr((char *)bytes, "end_header\n");
    CHECK(end && n_ply == (size_t)(end + 11 - (char *)bytes) + 12 * 24 + 20 * 13);
    CHECK(strstr((char *)bytes, "element vertex 12\n") != NULL);
    CHECK(strstr((char *)bytes, "comment hextop: box\nelement vertex") != NULL);
    CHECK_FAILS(hx_surface_write("nowhere/x.stl", hx_surface_format_of_name("nowhere/x.stl"),
                                 &p.surface, &(hx_surface_about){"", 0.0}),
                HX_EIO, "nowhere/x.stl");
    remove(stl);
    remove(ply);
    part_free(&p);
}

/* The constant agrees with the table. */
static void test_endings(void)
{
    char words[128] = "", text[128];
    for (const hx_surface_format *f = hx_surface_formats; f->ending; f++) {
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", words[0] ? " " : "",
                 f->ending);
        snprintf(text, sizeof text, "part%s", f->ending);
        CHECK(hx_surface_format_of_name(text) == f);
        /* a file name that consists only of an extension */
        CHECK(!hx_surface_format_of_name(f->ending));
    }
    CHECK(strcmp(words, HX_SURFACE_ENDINGS) == 0);
    CHECK(strcmp(hx_surface_endings(text, sizeof text), ".stl, .ply, .3mf, .obj or .glb") == 0);
    CHECK(!hx_surface_format_of_name("part.doc"));
}

int main(void)
{
    fixture_set_threads(1);
    test_endings();
    test_files();
    TEST_END();
}
