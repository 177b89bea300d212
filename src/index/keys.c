/* Parts of keys are told apart by what people write between words. */
#include "index/keys.h"

#include <string.h>

#define LONGEST_NUMBER 4u /* bytes */

static bool has_digit(const char *word, size_t length)
{
    return strcspn(word, "0123456789") < length;
}

bool keys_word(const char *word, size_t length, bool speaks)
{
    return !has_digit(word, length) || (speaks && length <= LONGEST_NUMBER);
}

size_t keys_part(const char *key)
{
    return strcspn(key, " -_./:,;()[]{}#@+=&?!'\"\\");
}

bool keys_speak(const char *key)
{
    size_t length = strlen(key);
    size_t in_words = 0;
    for (size_t at = 0; at < length;) {
        size_t size = keys_part(key + at);
        in_words += size > 1 && !has_digit(key + at, size) ? size : 0;
        at += size + 1;
    }
    return 2 * in_words >= length;
}
