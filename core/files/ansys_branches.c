/* Branches and loops of ANSYS archives. Only ANSYS can evaluate conditions, so commands in a branch
 * may run never or several times; hx_ansys_is_nested() returns 1 for them. One condition is known:
 * an archive is read like in a batch run, not like in an interactive session. Workbench ends each
 * of its files there with *GET,ANSINTER_,ACTIVE,,INT and *IF,ANSINTER_,NE,0,THEN. */
#include <math.h>
#include <strings.h>

#include "ansys_reader.h"

/* State of a block in r->block[]: undecided; the commands run; they do not run, but another branch
 * of the block may; a branch of the block has run. */
enum { UNDECIDED, RUNS, WAITS, DONE };

static int compare_operands(const char *operation, double a, double b, int *is_true)
{
    static const char *const word[] = {"EQ", "NE", "LT", "GT", "LE", "GE", "ABLT", "ABGT"};
    const int result[] = {a == b,           a != b, a<b, a> b, a <= b, a >= b, fabs(a) < fabs(b),
                          fabs(a) > fabs(b)};
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        if (strcasecmp(operation, word[i]) != 0) continue;
        *is_true = result[i];
        return 1;
    }
    return 0;
}

/* *IF,VAL1,OPER,VAL2,THEN and *ELSEIF: determines the state of the block. */
static int decide(const hx_ansys_reader *r)
{
    char left[HX_ANSYS_WORD], operation[HX_ANSYS_WORD], word[HX_ANSYS_WORD];
    double a = 0.0, b = 0.0;
    int is_true = 0;
    hx_ansys_word(r, 1, left);
    hx_ansys_word(r, 2, operation);
    const int has_more = *hx_ansys_word(r, 4, word) && strcasecmp(word, "THEN") != 0;
    if (has_more || !hx_ansys_is_session(r, left) || !*hx_ansys_word(r, 3, word) ||
        !hx_ansys_number(r, 1, &a) || !hx_ansys_number(r, 3, &b) ||
        !compare_operands(operation, a, b, &is_true))
        return UNDECIDED;
    return is_true ? RUNS : WAITS;
}

static void push(hx_ansys_reader *r, int state)
{
    /* deeper blocks count as undecided */
    if (r->n_block < HX_ANSYS_BLOCKS) r->block[r->n_block] = (int8_t)state;
    r->n_block++;
}

static void next_branch(hx_ansys_reader *r, int is_last)
{
    if (r->n_block < 1 || r->n_block > HX_ANSYS_BLOCKS) return;
    int8_t *const state = &r->block[r->n_block - 1];
    if (*state == RUNS)
        *state = DONE;
    else if (*state == WAITS)
        *state = (int8_t)(is_last ? RUNS : decide(r));
}

int hx_ansys_is_nested(const hx_ansys_reader *r)
{
    for (int i = 0; i < r->n_block; i++)
        if (i >= HX_ANSYS_BLOCKS || r->block[i] == UNDECIDED) return 1;
    return 0;
}

int hx_ansys_follow_branches(hx_ansys_reader *r)
{
    if (hx_ansys_is_command(r, "*CREATE")) r->in_creation = 1;
    if (hx_ansys_is_command(r, "*END")) r->in_creation = 0;
    /* *IF,VAL1,OPER1,VAL2,THEN, or with two conditions, ...,AND,VAL3,OPER2,VAL4,THEN */
    if (hx_ansys_is_command(r, "*IF") && (hx_ansys_is(r, 4, "THEN") || hx_ansys_is(r, 8, "THEN")))
        push(r, decide(r));
    if (hx_ansys_is_command(r, "*DO") || hx_ansys_is_command(r, "*DOWHILE")) push(r, UNDECIDED);
    if (hx_ansys_is_command(r, "*ELSEIF")) next_branch(r, 0);
    if (hx_ansys_is_command(r, "*ELSE")) next_branch(r, 1);
    if (r->n_block > 0 && (hx_ansys_is_command(r, "*ENDDO") || hx_ansys_is_command(r, "*ENDIF")))
        r->n_block--;
    for (int i = 0; i < r->n_block && i < HX_ANSYS_BLOCKS; i++)
        if (r->block[i] == WAITS || r->block[i] == DONE) return 1;
    return 0;
}
