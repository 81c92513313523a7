/* json.h: text as a JSON string. */
#ifndef TILEC_BASE_JSON_H
#define TILEC_BASE_JSON_H

#include <jansson.h>

json_t *json_utf8(const char *); /* jansson refuses text that is not UTF-8: its bytes become '?' */

#endif
