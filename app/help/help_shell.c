#include "help.h"

#include <stdio.h>
#include <string.h>

#include "../config/config_schema.h"
#include "../text/commands.h"

/* Escapes text for single quotes of a shell. */
static void put_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else
            putchar(*text);
    }
}

static void put_command_names(void)
{
    for (size_t i = 0; hx_commands[i]; i++) printf("%s%s", i ? " " : "", hx_commands[i]->name);
}

static void put_option_names(const hx_option *option, size_t n_option)
{
    for (size_t i = 0; i < n_option; i++)
        printf("%s%s%s%s", i ? " " : "", option[i].letter ? option[i].letter : "",
               option[i].letter ? " " : "", option[i].name);
}

/* 1 if the key has a value of its own. */
static int has_value(const hx_key *key)
{
    return key->type != HX_KEY_GROUP && key->type != HX_KEY_LIST;
}

/* Prints the keys of KEY=VALUE, one per line; [] stands for an entry of a list. */
static void put_keys(void)
{
    for (size_t i = 0; i < hx_n_key; i++)
        if (has_value(&hx_keys[i]) || hx_keys[i].short_form) printf("    %s\n", hx_keys[i].path);
}

/* The valid words of a key, and whether several may be given; returns their number. */
static size_t key_words(const hx_key *key, const char **word, size_t n_word)
{
    if (key->type == HX_KEY_BOOL) {
        word[0] = "true";
        word[1] = "false";
        return 2;
    }
    return hx_key_words(key, word, n_word);
}

/* The groups that `hextop help` explains. */
static void put_topics(void)
{
    for (size_t i = 0; i < hx_n_key; i++)
        if (!has_value(&hx_keys[i]) && !strchr(hx_keys[i].path, '['))
            printf(" %s", hx_keys[i].path);
}

/* case items "(KEY) before WORDS after", for keys with words. */
static void put_key_cases(const char *before, const char *after)
{
    for (size_t i = 0; i < hx_n_key; i++) {
        const char *word[64];
        const size_t n = key_words(&hx_keys[i], word, sizeof word / sizeof word[0]);
        if (n == 0) continue;
        printf("    ('%s') %s", hx_keys[i].path, before);
        for (size_t k = 0; k < n; k++) printf("%s%s", k ? " " : "", word[k]);
        printf("%s ;;\n", after);
    }
}

static void put_bash_options(void)
{
    printf("# COMMAND: its options\n"
           "_hextop_options() {\n"
           "    case $1 in\n");
    for (size_t i = 0; hx_commands[i]; i++) {
        if (hx_commands[i]->n_option == 0) continue;
        printf("    (%s) echo '", hx_commands[i]->name);
        put_option_names(hx_commands[i]->option, hx_commands[i]->n_option);
        printf("' ;;\n");
    }
    printf("    esac\n    echo '");
    put_option_names(hx_common_options, hx_n_interface);
    printf("'\n}\n\n");
}

/* Prints the completion of an option's value. */
static void put_bash_value_case(const hx_command *c, const hx_option *o)
{
    printf("    ('%s %s') ", c->name, o->name);
    if (o->kind == HX_OPTION_FILE)
        printf("_hextop_files '%s'", strchr(o->value, '.') ? strchr(o->value, '.') : "");
    if (o->kind == HX_OPTION_FOLDER) printf("_hextop_files /");
    if (o->kind == HX_OPTION_TEXT) printf(":");
    if (o->kind == HX_OPTION_WORDS) {
        printf("_hextop_list '");
        for (size_t i = 0; o->word(i); i++) printf("%s%s", i ? " " : "", o->word(i));
        printf("'");
    }
    printf(" ;;\n");
}

static void put_bash_arguments(void)
{
    printf("# COMMAND N: completes its Nth argument\n"
           "_hextop_argument() {\n"
           "    case \"$1 $2\" in\n");
    for (size_t i = 0; hx_commands[i]; i++) {
        const hx_command *const c = hx_commands[i];
        for (int k = 0; k < HX_MAX_FILE && c->ends[k]; k++)
            printf("    ('%s %d') _hextop_files '%s' ;;\n", c->name, k, c->ends[k]);
        if (hx_command_takes_keys(c)) printf("    ('%s '*) _hextop_key ;;\n", c->name);
    }
    printf("    ('help 0') _hextop_words 'config ");
    put_command_names();
    put_topics();
    printf("' ;;\n    esac\n}\n\n");
}

static const char bash_head[] =
    "# Completion of hextop for bash, printed by `hextop help --bash`.\n\n"
    "# Set by _hextop: $value is the typed text, $head the text before it in the same word.\n"
    "_hextop_words() {\n"
    "    local word\n"
    "    while read -r word; do\n"
    "        [[ -n $word ]] && COMPREPLY+=(\"$head$word\")\n"
    "    done < <(compgen -W \"$1\" -- \"$value\")\n"
    "}\n\n"
    "# Completes the last word of a list with commas.\n"
    "_hextop_list() {\n"
    "    local last=${value##*,}\n"
    "    head+=${value%\"$last\"}\n"
    "    value=$last\n"
    "    _hextop_words \"$1\"\n"
    "}\n\n"
    "# Folders, and files with these endings; /: only folders.\n"
    "_hextop_files() {\n"
    "    local file end ends=$1\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r file; do\n"
    "        if [[ -d $file || -z $ends ]]; then\n"
    "            COMPREPLY+=(\"$head$file\")\n"
    "            continue\n"
    "        fi\n"
    "        for end in $ends; do\n"
    "            [[ $file == *\"$end\" ]] && COMPREPLY+=(\"$head$file\")\n"
    "        done\n"
    "    done < <(compgen -f -- \"$value\")\n"
    "}\n\n";

static const char bash_key[] = "# KEY=VALUE. An entry of a list is its index: loads[0].set=\n"
                               "_hextop_key() {\n"
                               "    local index='[0]' key=${value%%=*} words\n"
                               "    [[ $key =~ \\[[0-9]+\\] ]] && index=${BASH_REMATCH[0]}\n"
                               "    if [[ $value != *=* ]]; then\n"
                               "        compopt -o nospace 2>/dev/null\n"
                               "        _hextop_words \"${_hextop_keys//'[]'/$index}\"\n"
                               "        COMPREPLY=(\"${COMPREPLY[@]/%/=}\")\n"
                               "        return\n"
                               "    fi\n"
                               "    value=${value#*=}\n"
                               "    [[ $COMP_WORDBREAKS == *=* ]] || head=$key=\n"
                               "    words=$(_hextop_key_words \"${key/\"$index\"/[]}\")\n"
                               "    if [[ -n $words ]]; then\n"
                               "        _hextop_list \"$words\"\n"
                               "    else\n"
                               "        _hextop_files ''\n"
                               "    fi\n"
                               "}\n\n";

static const char bash_main[] =
    "_hextop() {\n"
    "    local words=() i word value head= command= option= n=0\n"
    "    # The shell treats = as a separate word: joins what was typed as one word.\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if ((i > 1)) && [[ $word == =* || ${COMP_WORDS[i - 1]} == = ]]; then\n"
    "            words[${#words[@]} - 1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    COMPREPLY=()\n"
    "    value=${words[${#words[@]} - 1]}\n"
    "    for word in \"${words[@]:0:${#words[@]} - 1}\"; do\n"
    "        if [[ -n $option ]]; then\n"
    "            option=\n"
    "        elif [[ $word == -* ]]; then\n"
    "            [[ \" $_hextop_valued \" == *\" $word \"* ]] && option=$word\n"
    "        elif [[ -z $command ]]; then\n"
    "            command=$word\n"
    "        else\n"
    "            n=$((n + 1))\n"
    "        fi\n"
    "    done\n"
    "    if [[ -n $option ]]; then\n"
    "        _hextop_value \"$command $option\"\n"
    "    elif [[ $value == --*=* ]]; then\n"
    "        option=${value%%=*}\n"
    "        value=${value#*=}\n"
    "        [[ $COMP_WORDBREAKS == *=* ]] || head=$option=\n"
    "        _hextop_value \"$command $option\"\n"
    "    elif [[ $value == -* ]]; then\n"
    "        _hextop_words \"$(_hextop_options \"$command\")\"\n"
    "    elif [[ -z $command ]]; then\n"
    "        _hextop_words \"$_hextop_commands\"\n"
    "    else\n"
    "        _hextop_argument \"$command\" \"$n\"\n"
    "    fi\n"
    "}\n\n"
    "complete -F _hextop hextop\n";

void hx_print_bash_completion(void)
{
    printf("%s", bash_head);
    printf("_hextop_commands='");
    put_command_names();
    printf("'\n\n# Options with a value.\n_hextop_valued='");
    for (size_t i = 0; hx_commands[i]; i++)
        for (size_t k = 0; k < hx_commands[i]->n_option; k++)
            if (hx_commands[i]->option[k].kind != HX_OPTION_FLAG)
                printf(" %s", hx_commands[i]->option[k].name);
    printf("'\n\n_hextop_keys='\n");
    put_keys();
    printf("'\n\n# KEY: its valid words\n_hextop_key_words() {\n    case $1 in\n");
    put_key_cases("echo '", "'");
    printf("    esac\n}\n\n");
    put_bash_options();
    printf("# 'COMMAND OPTION': completes its value; a status of 1: takes none\n"
           "_hextop_value() {\n"
           "    case $1 in\n");
    for (size_t i = 0; hx_commands[i]; i++)
        for (size_t k = 0; k < hx_commands[i]->n_option; k++)
            if (hx_commands[i]->option[k].kind != HX_OPTION_FLAG)
                put_bash_value_case(hx_commands[i], &hx_commands[i]->option[k]);
    printf("    (*) return 1 ;;\n    esac\n}\n\n");
    printf("%s", bash_key);
    put_bash_arguments();
    printf("%s", bash_main);
}

/* --- zsh --- */

static void put_zsh_options(const hx_option *option, size_t n_option)
{
    for (const hx_option *o = option; o < option + n_option; o++) {
        if (o->letter)
            printf("        '(%s %s)'{%s,%s}'[", o->letter, o->name, o->letter, o->name);
        else
            printf("        '%s%s[", o->name, o->value ? "=" : "");
        /* Escapes text in the brackets of an option of _arguments. */
        const char *text = o->help;
        for (; *text; text++) {
            const char one[2] = {*text, '\0'};
            if (strchr("[]\\", *text)) putchar('\\');
            put_quoted(one);
        }
        printf("]");
        /* Prints the value of an option as ":NAME:ACTION". */
        if (o->value) {
            printf(":%s:", o->value);
            if (o->kind == HX_OPTION_FOLDER) printf("_files -/");
            if (o->kind == HX_OPTION_FILE && strchr(o->value, '.'))
                printf("_files -g \"*%s\"", strchr(o->value, '.'));
            if (o->kind == HX_OPTION_FILE && !strchr(o->value, '.')) printf("_files");
            if (o->kind == HX_OPTION_TEXT) printf(" ");
            if (o->kind == HX_OPTION_WORDS) {
                printf("_hextop_list");
                for (size_t i = 0; o->word(i); i++) printf(" %s", o->word(i));
            }
        }
        printf("' \\\n");
    }
}

static void put_zsh_arguments(const hx_command *c)
{
    printf("    (%s) _arguments -s \\\n", c->name);
    put_zsh_options(c->option, c->n_option);
    put_zsh_options(hx_common_options, hx_n_interface);
    for (int k = 0; k < HX_MAX_FILE && c->ends[k]; k++) {
        printf("        '%d: :", k + 1);
        /* Prints _files for any of the file endings. */
        printf("_files -g \"*(");
        for (const char *end = c->ends[k]; *end; end++) putchar(*end == ' ' ? '|' : *end);
        printf(")\"");
        printf("' \\\n");
    }
    if (hx_command_takes_keys(c)) printf("        '*: :_hextop_key' \\\n");
    if (c == &hx_command_help) {
        printf("        '1: :(config ");
        put_command_names();
        put_topics();
        printf(")' \\\n");
    }
    printf("        && ret=0 ;;\n");
}

static const char zsh_key[] = "# Completes one of these words after a comma.\n"
                              "_hextop_list() {\n"
                              "    compset -P '*,'\n"
                              "    compadd -S '' -- \"$@\"\n"
                              "}\n\n"
                              "# KEY=VALUE. An entry of a list is its index: loads[0].set=\n"
                              "_hextop_key() {\n"
                              "    local typed=${(Q)PREFIX} index='[0]' key words\n"
                              "    key=${typed%%=*}\n"
                              "    [[ $key == *'['<->']'* ]] && index=\"[${${key#*'['}%%']'*}]\"\n"
                              "    if [[ $typed != *=* ]]; then\n"
                              "        words=\"${_hextop_keys//\\[\\]/$index}\"\n"
                              "        compadd -S '=' -- ${=words}\n"
                              "        return\n"
                              "    fi\n"
                              "    compset -P 1 '*='\n"
                              "    words=$(_hextop_key_words \"${key/$index/[]}\")\n"
                              "    if [[ -n $words ]]; then\n"
                              "        _hextop_list ${=words}\n"
                              "    else\n"
                              "        _files\n"
                              "    fi\n"
                              "}\n\n";

void hx_print_zsh_completion(void)
{
    printf("#compdef hextop\n"
           "# Completion of hextop for zsh, printed by `hextop help --zsh`.\n\n"
           "typeset -g _hextop_keys='\n");
    put_keys();
    printf("'\n\n# KEY: its valid words\n_hextop_key_words() {\n    case $1 in\n");
    put_key_cases("echo '", "'");
    printf("    esac\n}\n\n%s", zsh_key);
    printf("_hextop() {\n"
           "    local curcontext=$curcontext state line ret=1\n"
           "    local -a commands\n"
           "    typeset -A opt_args\n"
           "    commands=(\n");
    for (size_t i = 0; hx_commands[i]; i++) {
        printf("        '%s:", hx_commands[i]->name);
        put_quoted(hx_commands[i]->summary);
        printf("'\n");
    }
    printf("    )\n"
           "    _arguments -C -s \\\n");
    put_zsh_options(hx_common_options, hx_n_interface);
    printf("        '1: :->command' '*:: :->argument' && ret=0\n"
           "    case $state in\n"
           "    (command) _describe -t commands 'command' commands && ret=0; return ret ;;\n"
           "    (argument) ;;\n"
           "    (*) return ret ;;\n"
           "    esac\n"
           "    case $words[1] in\n");
    for (size_t i = 0; hx_commands[i]; i++) put_zsh_arguments(hx_commands[i]);
    printf("    esac\n"
           "    return ret\n"
           "}\n\n"
           "_hextop \"$@\"\n");
}
