/* Base64, both ways, between bytes and text in an arena. */
#include "text/base64.h"

#include <string.h>

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(struct arena *arena, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    char *text = arena_alloc(arena, (length + 2) / 3 * 4 + 1);
    if (!text) {
        return NULL;
    }
    char *out = text;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        unsigned group = (unsigned)bytes[i] << 16;
        group |= left > 1 ? (unsigned)bytes[i + 1] << 8 : 0;
        group |= left > 2 ? (unsigned)bytes[i + 2] : 0;
        *out++ = ALPHABET[group >> 18];
        *out++ = ALPHABET[group >> 12 & 63];
        *out++ = left > 1 ? ALPHABET[group >> 6 & 63] : '=';
        *out++ = left > 2 ? ALPHABET[group & 63] : '=';
    }
    *out = '\0';
    return text;
}

/* The value of a digit, or -1. */
static int digit(char c)
{
    const char *place = c ? strchr(ALPHABET, c) : NULL;
    return place ? (int)(place - ALPHABET) : -1;
}

char *base64_decode(struct arena *arena, const char *text, size_t length, size_t *decoded_length)
{
    if (length % 4) {
        return NULL;
    }
    size_t padding = 0;
    while (padding < 2 && padding < length && text[length - 1 - padding] == '=') {
        padding++;
    }
    size_t digits = length - padding;
    char *bytes = arena_alloc(arena, length / 4 * 3 + 1);
    if (!bytes) {
        return NULL;
    }
    size_t count = 0;
    unsigned group = 0;
    for (size_t i = 0; i < digits; i++) {
        int value = digit(text[i]);
        if (value < 0) {
            return NULL;
        }
        group = group << 6 | (unsigned)value;
        if (i % 4 != 0) {
            unsigned shift = 6 - 2 * (unsigned)(i % 4);
            bytes[count++] = (char)(group >> shift & 255);
        }
    }
    bytes[count] = '\0';
    *decoded_length = count;
    return bytes;
}
