/* URLs: tables of spellings and their normal form, of references and what they resolve to, and of
 * texts that are no URL for us. */
#include "core/limits.h"
#include "core/status.h"
#include "text/url.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int make_arena(void **state)
{
    *state = arena_new(MIB(16));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static void parses_to_normal_form(void **state)
{
    static const struct {
        const char *text;
        const char *normal;
    } CASES[] = {
        {"http://example.com", "http://example.com/"},
        {"http://example.com/", "http://example.com/"},
        {"HTTP://EXAMPLE.COM/Path", "http://example.com/Path"},
        {"https://example.com:443/", "https://example.com/"},
        {"http://example.com:80/", "http://example.com/"},
        {"http://example.com:443/", "http://example.com:443/"},
        {"https://example.com:80/", "https://example.com:80/"},
        {"http://example.com:/", "http://example.com/"},
        {"http://example.com:00080/", "http://example.com/"},
        {"http://example.com:65535/", "http://example.com:65535/"},
        {"http://example.com.", "http://example.com/"},
        {"http://example.com.:8080/", "http://example.com:8080/"},
        {"http://a_b.example/", "http://a_b.example/"},
        {"http://-x-.example/", "http://-x-.example/"},
        {"http://example.com?q=1", "http://example.com/?q=1"},
        {"http://example.com#top", "http://example.com/#top"},
        {"http://example.com?#", "http://example.com/?#"},
        {"http://example.com/?", "http://example.com/?"},
        {"http://example.com/#", "http://example.com/#"},
        {"http://example.com/a?b#c?d#e", "http://example.com/a?b#c?d#e"},
        /* what browsers forgive */
        {"  http://example.com/ \n", "http://example.com/"},
        {"\x01http://example.com/\x1f", "http://example.com/"},
        {"ht\ntp://exam\tple.com/a\rb", "http://example.com/ab"},
        {"http:example.com/a", "http://example.com/a"},
        {"http:/example.com/a", "http://example.com/a"},
        {"http:////example.com/a", "http://example.com/a"},
        {"http:\\\\example.com\\a\\b", "http://example.com/a/b"},
        {"http:/\\example.com/a", "http://example.com/a"},
        /* dot segments */
        {"http://example.com/a/./b", "http://example.com/a/b"},
        {"http://example.com/a/../b", "http://example.com/b"},
        {"http://example.com/a/..", "http://example.com/"},
        {"http://example.com/a/.", "http://example.com/a/"},
        {"http://example.com/a/b/..", "http://example.com/a/"},
        {"http://example.com/../../a", "http://example.com/a"},
        {"http://example.com/..", "http://example.com/"},
        {"http://example.com/%2e%2E/a/%2e/b", "http://example.com/a/b"},
        {"http://example.com/a/.%2e/b", "http://example.com/b"},
        {"http://example.com/a/%2e./b", "http://example.com/b"},
        {"http://example.com/a/...", "http://example.com/a/..."},
        {"http://example.com/a/..b/c.", "http://example.com/a/..b/c."},
        {"http://example.com//a//b", "http://example.com//a//b"},
        {"http://example.com/a//../b", "http://example.com/a/b"},
        {"http://example.com/a\\..\\b", "http://example.com/b"},
        {"http://example.com/a?x/../y", "http://example.com/a?x/../y"},
        {"http://example.com/a#x/../y", "http://example.com/a#x/../y"},
        /* percent-encoding */
        {"http://example.com/a b", "http://example.com/a%20b"},
        {"http://example.com/\xc3\xa9", "http://example.com/%C3%A9"},
        {"http://example.com/%c3%a9", "http://example.com/%c3%a9"},
        {"http://example.com/%", "http://example.com/%"},
        {"http://example.com/%zz", "http://example.com/%zz"},
        {"http://example.com/\"<>`{}^", "http://example.com/%22%3C%3E%60%7B%7D%5E"},
        {"http://example.com/[]|'~!$&()*+,;=:@", "http://example.com/[]|'~!$&()*+,;=:@"},
        {"http://example.com/?\"<>' {}", "http://example.com/?%22%3C%3E%27%20{}"},
        {"http://example.com/?\\a\xff", "http://example.com/?\\a%FF"},
        {"http://example.com/#\"<>`'{}", "http://example.com/#%22%3C%3E%60'{}"},
        {"http://example.com/\x7f", "http://example.com/%7F"},
        /* hosts */
        {"http://EX%41MPLE.com/", "http://example.com/"},
        {"http://b\xc3\xbc"
         "cher.example/",
         "http://xn--bcher-kva.example/"},
        {"http://B\xc3\x9c"
         "CHER.example/",
         "http://xn--bcher-kva.example/"},
        {"http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"},
        {"http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"},
        {"http://fa\xc3\x9f.example/", "http://xn--fa-hia.example/"},
        {"http://\xe4\xbe\x8b\xe3\x81\x88.\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88/",
         "http://xn--r8jz45g.xn--zckzah/"},
        {"http://\xd0\x9f\xd0\xa0\xd0\x98\xd0\x9c\xd0\x95\xd0\xa0.\xd0\xa0\xd0\xa4/",
         "http://xn--e1afmkfd.xn--p1ai/"},
        {"http://\xce\x94\xce\x9f\xce\x9a\xce\x99\xce\x9c\xce\x89.example/",
         "http://xn--jxalpdlp.example/"},
        {"http://\xef\xbd\x85\xef\xbd\x98.com/", "http://ex.com/"},
        {"http://a\xe3\x80\x82"
         "com/",
         "http://a.com/"},
        {"http://ex\xc2\xad"
         "ample.com/",
         "http://example.com/"},
        /* IPv4 in every spelling that has been used to hide one */
        {"http://127.0.0.1/", "http://127.0.0.1/"},
        {"http://127.0.0.1./", "http://127.0.0.1/"},
        {"http://127.1/", "http://127.0.0.1/"},
        {"http://127.0.1/", "http://127.0.0.1/"},
        {"http://0x7f.1/", "http://127.0.0.1/"},
        {"http://0X7F.0.0.0x1/", "http://127.0.0.1/"},
        {"http://2130706433/", "http://127.0.0.1/"},
        {"http://0x7f000001/", "http://127.0.0.1/"},
        {"http://017700000001/", "http://127.0.0.1/"},
        {"http://0177.0.0.1/", "http://127.0.0.1/"},
        {"http://0x7f.0x0.0x0.0x1/", "http://127.0.0.1/"},
        {"http://%31%32%37.0.0.1/", "http://127.0.0.1/"},
        {"http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", "http://127.0.0.1/"},
        {"http://127\xe3\x80\x82"
         "0.0.1/",
         "http://127.0.0.1/"},
        {"http://0/", "http://0.0.0.0/"},
        {"http://0x/", "http://0.0.0.0/"},
        {"http://00000000000/", "http://0.0.0.0/"},
        {"http://4294967295/", "http://255.255.255.255/"},
        {"http://169.16689662/", "http://169.254.169.254/"},
        {"http://1.2.3.4.example/", "http://1.2.3.4.example/"},
        {"http://1e2/", "http://1e2/"},
        /* IPv6 */
        {"http://[::1]/", "http://[::1]/"},
        {"http://[::1]:8080/", "http://[::1]:8080/"},
        {"http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"},
        {"http://[2001:DB8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/"},
        {"http://[2001:db8:0:1:0:0:0:1]/", "http://[2001:db8:0:1::1]/"},
        {"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"},
        {"http://[::]/", "http://[::]/"},
        {"http://[fe80::]/", "http://[fe80::]/"},
        {"http://[1:0:2:3:4:5:6:7]/", "http://[1:0:2:3:4:5:6:7]/"},
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url url;
        const char *problem;
        int status = url_parse(arena, CASES[i].text, &url, &problem);
        if (status != OK) {
            fail_msg("%s: %s", CASES[i].text, problem);
        }
        assert_string_equal(url.text, CASES[i].normal);
        struct url again;
        assert_int_equal(url_parse(arena, url.text, &again, NULL), OK);
        assert_string_equal(again.text, url.text);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *text;
        const char *word; /* in the problem */
    } CASES[] = {
        {"", "http://"},
        {"   ", "http://"},
        {"example.com", "http://"},
        {"//example.com/", "http://"},
        {"/path", "http://"},
        {"ftp://example.com/", "http://"},
        {"file:///etc/passwd", "http://"},
        {"javascript:alert(1)", "http://"},
        {"httpx://example.com/", "http://"},
        {"http//example.com/", "http://"},
        {"1http://example.com/", "http://"},
        {"data:text/plain,x", "http://"},
        {"http://", "no host"},
        {"http:///", "no host"},
        {"https:", "no host"},
        {"http://?q", "no host"},
        {"http://#f", "no host"},
        {"http://:80/", "no host"},
        {"http://user@example.com/", "user name"},
        {"http://user:secret@example.com/", "user name"},
        {"http://@example.com/", "user name"},
        {"http://a@b@example.com/", "user name"},
        {"http://example.com:80@127.0.0.1/", "user name"},
        {"http://example.com:x/", "port"},
        {"http://example.com:-1/", "port"},
        {"http://example.com:80:80/", "port"},
        {"http://example.com:65536/", "65535"},
        {"http://example.com:99999999999999999999/", "65535"},
        {"http://example.com:0/", "port 0"},
        {"http://[::1]x/", "IPv6"},
        {"http://[::1/", "IPv6"},
        {"http://[]/", "IPv6"},
        {"http://[1::2::3]/", "IPv6"},
        {"http://[fe80::1%25eth0]/", "IPv6"},
        {"http://[1:2:3:4:5:6:7:8:9]/", "IPv6"},
        {"http://[127.0.0.1]/", "IPv6"},
        {"http://1.2.3.4.5/", "IPv4"},
        {"http://256.1.1.1/", "IPv4"},
        {"http://1.256.1.1/", "IPv4"},
        {"http://1.1.65536/", "IPv4"},
        {"http://4294967296/", "IPv4"},
        {"http://0x100000000/", "IPv4"},
        {"http://09.1.1.1/", "IPv4"},
        {"http://1.2.3.08/", "IPv4"},
        {"http://x.1/", "IPv4"},
        {"http://1.x.3.4/", "IPv4"},
        {"http://x.0xf/", "IPv4"},
        {"http://1..1/", "valid name"},
        {"http://a..b/", "valid name"},
        {"http://.example.com/", "valid name"},
        {"http://example.com../", "valid name"},
        {"http://./", "valid name"},
        {"http://a b/", "valid name"},
        {"http://a%20b/", "valid name"},
        {"http://a%00b/", "valid name"},
        {"http://a%2fb/", "valid name"},
        {"http://a%3a80/", "valid name"},
        {"http://a%40b/", "valid name"},
        {"http://a%/", "valid name"},
        {"http://a%25/", "valid name"},
        {"http://a<b/", "valid name"},
        {"http://a|b/", "valid name"},
        {"http://a^b/", "valid name"},
        {"http://a]b/", "valid name"},
        {"http://\xff/", "valid name"},
        {"http://\xc3/", "valid name"},
        {"http://\xc0\xaf/", "valid name"},
        {"http://\xed\xa0\x80/", "valid name"},
        {"http://\xf4\x90\x80\x80/", "valid name"},
        {"http://\xe2\x80\xae/", "valid name"},
        {"http://a\xe3\x80\x80z/", "valid name"},
        {"http://\xc2\xad/", "valid name"},
        {"http://\xef\xbc\x8f/", "valid name"}, /* a full-width slash */
        {"http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example/",
         "valid name"},
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url url;
        const char *problem = NULL;
        int status = url_parse(arena, CASES[i].text, &url, &problem);
        if (status != ERR_INVALID || !problem || !strstr(problem, CASES[i].word)) {
            fail_msg("%s: %s (%s)", CASES[i].text, status_name(status), problem ? problem : "");
        }
    }
}

static void resolves_references(void **state)
{
    /* RFC 3986, sections 5.4.1 and 5.4.2, with the base's scheme ours; then what browsers add. */
    static const struct {
        const char *reference;
        const char *result;
    } CASES[] = {
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g/"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g#s/../x", "http://a/b/c/g#s/../x"},
        {"http:g", "http://a/b/c/g"},
        {"http:/g", "http://g/"},
        {"https:g", "https://g/"},
        {"https://h/i", "https://h/i"},
        {"\\g", "http://a/g"},
        {"\\\\g\\h", "http://g/h"},
        {"/\\g", "http://g/"},
        {"///g", "http://g/"},
        {"//g:81/h", "http://g:81/h"},
        {" g ", "http://a/b/c/g"},
        {"g h", "http://a/b/c/g%20h"},
        {"?", "http://a/b/c/d;p?"},
        {"#", "http://a/b/c/d;p?q#"},
        {"g:h/i", NULL}, /* another scheme */
        {"mailto:x@y.example", NULL},
        {"//", NULL},
        {"//user@g/", NULL},
    };
    struct arena *arena = *state;
    struct url base;
    assert_int_equal(url_parse(arena, "http://a/b/c/d;p?q#f", &base, NULL), OK);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url url;
        int status = url_resolve(arena, &base, CASES[i].reference, &url, NULL);
        if (!CASES[i].result) {
            assert_int_equal(status, ERR_INVALID);
            continue;
        }
        assert_int_equal(status, OK);
        assert_string_equal(url.text, CASES[i].result);
    }
}

static void resolves_against_a_port(void **state)
{
    struct arena *arena = *state;
    struct url base;
    struct url url;
    assert_int_equal(url_parse(arena, "https://[::1]:8443/a/b?c", &base, NULL), OK);
    assert_int_equal(url_resolve(arena, &base, "../d", &url, NULL), OK);
    assert_string_equal(url.text, "https://[::1]:8443/d");
    assert_int_equal(url_resolve(arena, &base, "//h", &url, NULL), OK);
    assert_string_equal(url.text, "https://h/");
    assert_int_equal(url.port, 443);
}

static void names_the_parts(void **state)
{
    struct arena *arena = *state;
    struct url url;
    assert_int_equal(url_parse(arena, "https://[::1]:8443/a/b?c=d#e", &url, NULL), OK);
    assert_string_equal(url.scheme, "https");
    assert_string_equal(url.host, "::1");
    assert_int_equal(url.port, 8443);
    assert_string_equal(url.path, "/a/b");
    assert_string_equal(url.query, "c=d");
    assert_string_equal(url.fragment, "e");
    assert_int_equal(url_parse(arena, "http://x", &url, NULL), OK);
    assert_int_equal(url.port, 80);
    assert_string_equal(url.path, "/");
    assert_null(url.query);
    assert_null(url.fragment);
    assert_int_equal(url_parse(arena, "http://x#?", &url, NULL), OK);
    assert_null(url.query);
    assert_string_equal(url.fragment, "?");
}

static void compares_origins(void **state)
{
    static const struct {
        const char *first;
        const char *second;
        bool same;
    } CASES[] = {
        {"http://a/x", "http://a:80/y?z", true},
        {"http://a/", "http://A./", true},
        {"http://127.0.0.1/", "http://0x7f.1/", true},
        {"http://a/", "https://a/", false},
        {"http://a/", "https://a:80/", false},
        {"http://a/", "http://a:81/", false},
        {"http://a/", "http://b/", false},
        {"http://a/", "http://www.a/", false},
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url first;
        struct url second;
        assert_int_equal(url_parse(arena, CASES[i].first, &first, NULL), OK);
        assert_int_equal(url_parse(arena, CASES[i].second, &second, NULL), OK);
        assert_int_equal(url_same_origin(&first, &second), CASES[i].same);
    }
}

static char *repeated(struct arena *arena, const char *start, char c, size_t length)
{
    size_t used = strlen(start);
    char *text = arena_alloc(arena, length + 1);
    assert_non_null(text);
    memcpy(text, start, used);
    memset(text + used, c, length - used);
    text[length] = '\0';
    return text;
}

static void bounds_the_length(void **state)
{
    struct arena *arena = *state;
    struct url url;
    const char *problem;
    const char *front = "http://a/";
    char *longest = repeated(arena, front, 'x', LIMIT_URL_BYTES);
    assert_int_equal(url_parse(arena, longest, &url, &problem), OK);
    assert_int_equal(strlen(url.text), LIMIT_URL_BYTES);
    char *longer = repeated(arena, front, 'x', LIMIT_URL_BYTES + 1);
    assert_int_equal(url_parse(arena, longer, &url, &problem), ERR_LIMIT);
    assert_string_equal(problem, "is too long");
    char *grows = repeated(arena, front, '{', LIMIT_URL_BYTES / 2);
    assert_int_equal(url_parse(arena, grows, &url, &problem), ERR_LIMIT);
    char *long_host = repeated(arena, "http://", 'x', LIMIT_URL_BYTES);
    assert_int_equal(url_parse(arena, long_host, &url, &problem), ERR_INVALID);
    struct arena *tiny = arena_new(8);
    assert_int_equal(url_parse(tiny, "http://example.com/", &url, &problem), ERR_NOMEM);
    arena_free(tiny);
}

/* The longest name that the domain name system can hold, and one character more. */
static void bounds_the_host(void **state)
{
    (void)state;
    char name[256];
    char out[URL_HOST_SIZE];
    for (size_t i = 0; i < sizeof name; i++) {
        name[i] = i % 64 == 63 ? '.' : 'a';
    }
    assert_int_equal(url_host(name, 253, out, NULL), OK);
    assert_int_equal(strlen(out), 253);
    assert_int_equal(url_host(name, 254, out, NULL), ERR_INVALID);
}

static void encodes_and_decodes(void **state)
{
    static const struct {
        const char *plain;
        const char *encoded;
    } CASES[] = {
        {"", ""},
        {"aZ09-._~", "aZ09-._~"},
        {"a b+c/d?e&f=g", "a%20b%2Bc%2Fd%3Fe%26f%3Dg"},
        {"\xe4\xbe\x8b%", "%E4%BE%8B%25"},
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct buf out;
        buf_init(&out, KIB(1));
        buf_append(&out, "", 0);
        assert_int_equal(url_encode(&out, CASES[i].plain, strlen(CASES[i].plain)), OK);
        assert_string_equal(out.data, CASES[i].encoded);
        size_t length;
        char *plain = url_decode(arena, out.data, out.length, &length);
        assert_string_equal(plain, CASES[i].plain);
        assert_int_equal(length, strlen(CASES[i].plain));
        buf_done(&out);
    }
    assert_string_equal(url_decode(arena, "%4", 2, NULL), "%4");
    assert_string_equal(url_decode(arena, "%zz%41%", 7, NULL), "%zzA%");
    size_t length;
    assert_memory_equal(url_decode(arena, "a%00b", 5, &length), "a\0b", 4);
    assert_int_equal(length, 3);
}

static void bounds_punycode(void **state)
{
    (void)state;
    char host[URL_HOST_SIZE];
    assert_int_equal(url_host("\u4f8b\u3048", 6, host, NULL), OK);
    assert_string_equal(host, "xn--r8jz45g");
    /* 57 times the same letter is a label of 63 characters in ASCII; one more does not fit. */
    char name[2 * (57 + 1)];
    for (size_t i = 0; i < sizeof name; i += 2) {
        memcpy(name + i, "\u00fc", 2);
    }
    assert_int_equal(url_host(name, sizeof name - 2, host, NULL), OK);
    assert_int_equal(strlen(host), 63);
    assert_int_equal(url_host(name, sizeof name, host, NULL), ERR_INVALID);
}

UNIT_TEST(url)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parses_to_normal_form, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(refuses, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(resolves_references, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(resolves_against_a_port, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(names_the_parts, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(compares_origins, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(bounds_the_length, make_arena, free_arena),
        cmocka_unit_test(bounds_the_host),
        cmocka_unit_test_setup_teardown(encodes_and_decodes, make_arena, free_arena),
        cmocka_unit_test(bounds_punycode),
    };
    return cmocka_run_group_tests_name("url", tests, NULL, NULL);
}
