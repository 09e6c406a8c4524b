#include "help.h"

#include <stdio.h>
#include <string.h>

#include "../config/config_schema.h"
#include "../text/commands.h"
#include "core/version.h"

/* Escapes text for roff. */
static void put_escaped(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        switch (text[i]) {
        case '\\':
            printf("\\e");
            break;
        case '-':
            printf("\\-");
            break;
        case '`':
            printf("\\(ga");
            break;
        case '\'':
            printf("\\(aq");
            break;
        case '^':
            printf("\\(ha");
            break;
        case '~':
            printf("\\(ti");
            break;
        default:
            if (i == 0 && text[i] == '.') printf("\\&");
            putchar(text[i]);
        }
    }
}

static void put_man_text(const char *text)
{
    put_escaped(text, strlen(text));
}

/* Prints "before TEXT after", in which only TEXT is escaped. */
static void put_man_line(const char *before, const char *text, const char *after)
{
    printf("%s", before);
    put_man_text(text);
    printf("%s\n", after);
}

/* Prints lines of prose. Lines that begin with two spaces are kept as they are, and an empty line
 * ends a paragraph. */
static void put_prose(const char *text)
{
    int in_list = 0;
    while (*text) {
        const size_t n = strcspn(text, "\n");
        const int is_list = strncmp(text, "  ", 2) == 0;
        if (is_list != in_list) printf(is_list ? ".PP\n.nf\n" : ".fi\n.PP\n");
        in_list = is_list;
        if (n == 0) {
            printf(".PP\n");
        } else {
            put_escaped(text, n);
            printf("\n");
        }
        text += n + (text[n] == '\n');
    }
    if (in_list) printf(".fi\n");
}

static void put_options(const hx_option *option, size_t n_option)
{
    for (const hx_option *o = option; o < option + n_option; o++) {
        const char *const usual = o->note ? o->note : o->fallback;
        printf(".TP\n\\fB");
        if (o->letter) put_man_line("", o->letter, "\\fR, \\fB\\c");
        put_man_text(o->name);
        if (o->value) put_man_line(" \\fI", o->value, "\\fR");
        if (!o->value) printf("\\fR\n");
        put_man_text(o->help);
        if (usual) put_man_line(" (default: ", usual, ")");
        if (!usual) printf("\n");
    }
}

static void put_commands(void)
{
    printf(".SH COMMANDS\n");
    for (size_t i = 0; hx_commands[i]; i++) {
        const hx_command *const c = hx_commands[i];
        put_man_line(".SS hextop ", c->name, "");
        put_man_text(c->summary);
        printf(".\n.PP\n");
        put_prose(c->help);
        put_options(c->option, c->n_option);
    }
    printf(".SH OPTIONS\nOptions of every command:\n");
    put_options(hx_common_options, hx_n_interface);
}

static void put_key(const hx_key *key)
{
    const char *word[64];
    char text[256];
    const size_t n = hx_key_words(key, word, sizeof word / sizeof word[0]);
    if (key->type == HX_KEY_GROUP || key->type == HX_KEY_LIST) {
        put_man_line(".SS ", key->path, "");
        put_man_line("", key->help, ".");
        return;
    }
    put_man_line(".TP\n\\fB", key->path, "\\fR");
    put_man_line("", key->help, ".");
    put_man_line("", hx_key_type_word(key->type), "\\c");
    if (key->unit) put_man_line(", in ", key->unit, "\\c");
    if (n == 0 && key->range) put_man_line(", ", key->range, "\\c");
    for (size_t i = 0; i < n; i++) put_man_line(i ? " | " : ": ", word[i], "\\c");
    if (key->required || key->note || key->fallback)
        put_man_line("; default: ", hx_key_default(key, text, sizeof text), "\\c");
    printf(".\n");
}

static void put_exit_status(void)
{
    printf(".SH EXIT STATUS\n"
           ".TP\n\\fB0\\fR\ndone, also with warnings\n"
           ".TP\n\\fB1\\fR\nthe run failed:\n");
#define TEXT_OF(status, n, text)                                                                   \
    if ((n) == (status)) put_man_line("", text, ";");
#define TEXT_OF_1(code, value, status, text) TEXT_OF(1, status, text)
#define TEXT_OF_2(code, value, status, text) TEXT_OF(2, status, text)
    HX_ERROR_LIST(TEXT_OF_1)
    printf("complete files are kept\n.TP\n\\fB2\\fR\nrefused:\n");
    HX_ERROR_LIST(TEXT_OF_2)
    printf("the message states what would be right\n"
           ".TP\n"
           "\\fB3\\fR\n"
           "the run was interrupted by a signal; \\fB--resume\\fR continues it\n");
}

void hx_print_man_page(void)
{
    printf(".\\\" Printed by `hextop help --man`.\n"
           ".TH HEXTOP 1 \"\" \"hextop %s\" \"User Commands\"\n"
           ".SH NAME\nhextop \\- topology optimization on unstructured meshes\n",
           HX_VERSION);
    printf(".SH SYNOPSIS\n.nf\n");
    for (size_t i = 0; hx_commands[i]; i++) {
        put_man_line("\\fBhextop ", hx_commands[i]->name, "\\fR \\c");
        put_man_text(hx_commands[i]->arguments);
        printf("\n");
    }
    printf(".fi\n");
    printf(".SH DESCRIPTION\n"
           "\\fBhextop\\fR finds the part of a given volume that is stiffest, or that cools best: "
           "minimum\n"
           "compliance by SIMP and optimality criteria, on meshes of hexahedra, tetrahedra, wedges "
           "and\n"
           "pyramids, with conjugate gradients on a CPU or an NVIDIA GPU.\n"
           "A config states the mesh, supports, loads and the optimization; results are VTK files "
           "and\n"
           "closed triangle surfaces.\n");
    put_commands();
    printf(".SH CONFIGURATION KEYS\n"
           "A config is a libconfig file; KEY=VALUE on the command line overrides its keys:\n"
           "mesh.size=3 loads[0].node_force=[0,0,\\-1]; an empty VALUE removes a key.\n"
           "Units are free but must be consistent.\n");
    for (size_t i = 0; i < hx_n_key; i++) put_key(&hx_keys[i]);
    put_exit_status();
    printf(".SH FILES\n"
           ".TP\n\\fIFILE\\fR.cfg\nconfig: mesh, supports, loads and optimization\n"
           ".TP\noutput.directory\nwhat \\fBhextop run\\fR writes; files appear under their names\n"
           "only when they are complete\n"
           ".SH EXAMPLES\n"
           ".nf\n"
           "hextop run configs/first.cfg\n"
           "hextop new part.step > part.cfg\n"
           "hextop check configs/cantilever.cfg mesh.size=2 solver.operator=otf\n"
           "hextop verify out/first\n"
           "hextop surface out/first part.stl\n"
           "hextop help optimization.filter\n"
           ".fi\n");
}
