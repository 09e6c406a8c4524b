#include "command_help.h"

#include <stdio.h>
#include <string.h>

#include "../text/commands.h"
#include "core/version.h"

enum { LINE_WIDTH = 99, TEXT_WIDTH = 160 };

/* "-q, --quiet", "--output DIR" */
static int option_label(const hx_option *o, char *text, size_t n_text)
{
    return snprintf(text, n_text, "%s%s%s%s%s", o->letter ? o->letter : "", o->letter ? ", " : "",
                    o->name, o->value ? " " : "", o->value ? o->value : "");
}

/* Prints words from `column` on, where the cursor is; further lines also begin there. */
static void print_wrapped(const char *text, int column)
{
    int at = column;
    while (*text) {
        const int n = (int)strcspn(text, " ");
        if (at > column && at + 1 + n > LINE_WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", n, text);
        text += n;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_options(const hx_option *option, size_t n_option)
{
    char label[TEXT_WIDTH], text[512];
    int widest = 0;
    for (size_t i = 0; i < n_option; i++) {
        const int n = option_label(&option[i], label, sizeof label);
        if (n > widest) widest = n;
    }
    for (size_t i = 0; i < n_option; i++) {
        const char *const usual = option[i].note ? option[i].note : option[i].fallback;
        option_label(&option[i], label, sizeof label);
        snprintf(text, sizeof text, "%s%s%s%s", option[i].help, usual ? " (default: " : "",
                 usual ? usual : "", usual ? ")" : "");
        const int column = printf("  %-*s  ", widest, label);
        print_wrapped(text, column);
    }
}

void hx_print_usage(void)
{
    printf("hextop %s: topology optimization on unstructured meshes\n\nUsage\n", HX_VERSION);
    for (size_t i = 0; hx_commands[i]; i++)
        printf("  hextop %-8s %-31s %s\n", hx_commands[i]->name, hx_commands[i]->arguments,
               hx_commands[i]->summary);
    printf("\nOptions\n");
    print_options(hx_common_options, hx_n_interface);
    printf("\nStart with: hextop run configs/first.cfg\n"
           "A part of your own: hextop new part.step > part.cfg\n"
           "Help on a command, a config key or any word: hextop help WORD\n");
}

void hx_print_command_help(const hx_command *c)
{
    printf("Usage: hextop %s %s\n%s\n", c->name, c->arguments, c->help);
    if (c->n_option > 0) {
        print_options(c->option, c->n_option);
        printf("\n");
    }
    if (hx_command_takes_keys(c))
        printf(
            "KEY=VALUE overrides a config key: mesh.size=3 solver.operator=ebe64\n"
            "output.directory=out loads[0].node_force=[0,0,-1]; an empty VALUE removes the key.\n"
            "`hextop help config` lists all keys, `hextop help loads` those of one group.\n"
            "\n");
    /* Prints such as "Options of every command: -q, --quiet; -v, --verbose; ...". */
    char label[TEXT_WIDTH];
    printf("Options of every command:");
    for (size_t i = 0; i < hx_n_interface; i++) {
        option_label(&hx_common_options[i], label, sizeof label);
        printf("%s %s", i ? ";" : "", label);
    }
    printf("\n");
}
