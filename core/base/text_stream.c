#include "text_stream.h"

#include <stdlib.h>
#include <string.h>

static int refuse_stream(const char *what)
{
    return HX_RAISE(HX_ENOMEM, "%s: out of memory; end other programs and try again", what);
}

int hx_text_stream_open(hx_text_stream *s, const char *what)
{
    memset(s, 0, sizeof *s);
    s->what = what;
    s->stream = open_memstream(&s->text, &s->n);
    return s->stream ? HX_OK : refuse_stream(what);
}

int hx_text_stream_close(hx_text_stream *s, char **text, size_t *n)
{
    const int failed = ferror(s->stream);
    const int lost = fclose(s->stream) != 0 || failed || !s->text;
    s->stream = NULL;
    *text = NULL;
    if (n) *n = s->n;
    if (lost) {
        hx_text_stream_free(s);
        return refuse_stream(s->what ? s->what : "text");
    }
    *text = s->text;
    s->text = NULL;
    return HX_OK;
}

void hx_text_stream_free(hx_text_stream *s)
{
    if (s->stream) fclose(s->stream);
    s->stream = NULL;
    free(s->text);
    s->text = NULL;
}
