/* json.c: text as a JSON string. */
#include "base/json.h"
#include "base/text.h"

#include <string.h>

json_t *json_utf8(const char *s) {
    Text t = {0};
    for (size_t n = strlen(s), i = 0; i < n;) {
        int len = (unsigned char)s[i] < 0x80 ? 1 : utf8_length(s + i, n - i);
        text_add_n(&t, len ? s + i : "?", len ? (size_t)len : 1);
        i += len ? (size_t)len : 1;
    }
    json_t *j = json_string(text_str(&t));
    text_free(&t);
    return j;
}
