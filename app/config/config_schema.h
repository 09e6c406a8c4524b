/* The table of all config keys: validation, defaults, help and doc/config.md come from it. */
#ifndef HX_CONFIG_SCHEMA_H
#define HX_CONFIG_SCHEMA_H

#include <stddef.h>

#include "core/multigrid/mg_params.h"

typedef enum {
    HX_KEY_GROUP,
    HX_KEY_LIST, /* list of groups: hx_config_list */
    HX_KEY_TEXT,
    HX_KEY_WORD, /* one of the key's words, stored as its index (int); -1: not given */
    HX_KEY_BOOL,
    HX_KEY_INT,
    HX_KEY_FLOAT,
    HX_KEY_VECTOR,  /* double[3] */
    HX_KEY_NUMBERS, /* hx_config_numbers */
    HX_KEY_WORDS,   /* hx_config_words */
    HX_KEY_CHOICES  /* several of the key's words: hx_config_choices */
} hx_key_type;

/* Offset of a group that needs no `given` flag and is stored nowhere. */
#define HX_NOWHERE ((size_t)-1)

typedef struct hx_key {
    const char *path; /* "loads[].case": [] stands for an element of the list */
    hx_key_type type;
    size_t offset;     /* offset in hx_config, or in the entry of its list */
    size_t entry_size; /* only for lists */
    int required;
    int generator_only; /* refused with mesh.file */
    int file_only;      /* refused with mesh.generator */
    int is_free;        /* 1: a run resumed from a checkpoint may have another value */
    int takes_auto;     /* the number may be "auto", stored as NaN */
    int is_whole;       /* numbers are integers, and one may stand for a list of it */
    /* 1: for experts, a key in solver.multigrid. Its default is that of hx_mg_defaults. It is part
     * of the settings of a result only if it is given, and help on its parent groups leaves it
     * out */
    int is_expert;
    int by_length; /* 1: follows from optimization.minimum_length if that is given */
    /* 1: 0 is treated as if the key were not given, since earlier versions wrote 0 */
    int zero_unset;
    int only; /* 1 + the hx_physics to which the key applies; 0: any */
    const char *unit;
    const char *fallback;               /* default, as text; NULL: none */
    const char *note;                   /* text shown instead of a default; NULL: none */
    const char *example;                /* an example; NULL: it is in config_examples.c */
    const char *range;                  /* "(0, 1]", applied to each number; NULL: any */
    const char *const *word;            /* the valid words, NULL-terminated; NULL: any text */
    const char *(*more_word)(size_t i); /* valid words from the registry; NULL: none */
    /* environment variable that is used if the key is not given; NULL: none. Only for keys that are
     * stored as an int */
    const char *variable;
    /* of a group: a word stands for the group with only this member, and is written for it */
    const char *short_form;
    const char *help;
} hx_key;

extern const hx_key hx_keys[];
extern const size_t hx_n_key;

/* Last name of the key: "case" of "loads[].case". */
const char *hx_key_name(const hx_key *key);
/* 1 if the key is a direct member of the group or entry with that path ("" is the top). */
int hx_key_is_member(const hx_key *key, const char *prefix);
const hx_key *hx_key_find(const char *prefix, const char *name);

/* Collects the valid words into word[n_word] and returns their number; 0: any text is valid. */
size_t hx_key_words(const hx_key *key, const char **word, size_t n_word);

/* Index of the text among the key's words; -1: it is not one of them. */
int hx_key_word_place(const hx_key *key, const char *text);
/* The word with that index. */
const char *hx_key_word(const hx_key *key, int place);
/* The word with that index, of the key with that path. */
const char *hx_config_word(const char *path, int place);

/* Upper limit of every number in a config, so that squares and products of several stay finite. */
#define HX_LARGEST_NUMBER 1e30

/* 1 if the value is within limits such as "(0, 1]" and its magnitude is at most
 * HX_LARGEST_NUMBER. */
int hx_range_holds(const char *range, double value);

/* Description of the type for messages and help: "an integer", "true or false". */
const char *hx_key_type_name(hx_key_type type);
/* Short name of the type for tables: "integer". */
const char *hx_key_type_word(hx_key_type type);
/* Example value of the key's row or of config_examples.c; NULL: it has none. */
const char *hx_key_own_example(const hx_key *key);
/* The key's own example or, if it has none, a value of its type. */
const char *hx_key_example(const hx_key *key);

/* 1 for a key within solver.multigrid, the group of experts. */
int hx_key_is_of_experts(const hx_key *key);

/* The member of `params` for which a key in solver.multigrid stands; NULL for other keys and for
 * lists. */
const void *hx_key_in_multigrid(const hx_key *key, const hx_mg_params *params);

/* The value of that member in `params`, as a config states it. */
void hx_key_print_multigrid(const hx_key *key, const hx_mg_params *params, char *text,
                            size_t n_text);

/* The default as shown to users. */
const char *hx_key_default(const hx_key *key, char *text, size_t n_text);

#endif
