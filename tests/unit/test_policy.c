/* The address policy: the table of what is public, and the list of what an operator opened. */
#include "core/status.h"
#include "guard/policy.h"
#include "text/url.h"

#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct sockaddr_storage address_of(const char *text, int port)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)&address;
    if (strchr(text, ':')) {
        ipv6->sin6_family = AF_INET6;
        ipv6->sin6_port = htons((uint16_t)port);
        assert_int_equal(inet_pton(AF_INET6, text, &ipv6->sin6_addr), 1);
    } else {
        ipv4->sin_family = AF_INET;
        ipv4->sin_port = htons((uint16_t)port);
        assert_int_equal(inet_pton(AF_INET, text, &ipv4->sin_addr), 1);
    }
    return address;
}

static void judges_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        const char *what; /* NULL: public */
    } CASES[] = {
        {"0.0.0.0", "unspecified"},
        {"0.255.255.255", "unspecified"},
        {"1.0.0.0", NULL},
        {"1.1.1.1", NULL},
        {"8.8.8.8", NULL},
        {"9.255.255.255", NULL},
        {"10.0.0.0", "private"},
        {"10.255.255.255", "private"},
        {"11.0.0.0", NULL},
        {"93.184.216.34", NULL},
        {"100.63.255.255", NULL},
        {"100.64.0.0", "shared by a carrier"},
        {"100.100.100.200", "shared by a carrier"},
        {"100.127.255.255", "shared by a carrier"},
        {"100.128.0.0", NULL},
        {"126.255.255.255", NULL},
        {"127.0.0.1", "loopback"},
        {"127.255.255.254", "loopback"},
        {"128.0.0.1", NULL},
        {"168.63.129.15", NULL},
        {"168.63.129.16", "cloud metadata"},
        {"169.253.255.255", NULL},
        {"169.254.0.1", "link-local"},
        {"169.254.169.254", "cloud metadata"},
        {"169.255.0.0", NULL},
        {"172.15.255.255", NULL},
        {"172.16.0.1", "private"},
        {"172.31.255.255", "private"},
        {"172.32.0.0", NULL},
        {"191.255.255.255", NULL},
        {"192.0.0.1", "reserved"},
        {"192.0.0.192", "reserved"},
        {"192.0.1.0", NULL},
        {"192.0.2.1", "documentation"},
        {"192.88.99.1", "reserved"},
        {"192.167.255.255", NULL},
        {"192.168.0.1", "private"},
        {"192.168.255.255", "private"},
        {"192.169.0.0", NULL},
        {"198.17.255.255", NULL},
        {"198.18.0.1", "benchmarking"},
        {"198.19.255.255", "benchmarking"},
        {"198.20.0.0", NULL},
        {"198.51.100.7", "documentation"},
        {"203.0.113.7", "documentation"},
        {"203.0.114.0", NULL},
        {"223.255.255.255", NULL},
        {"224.0.0.1", "multicast"},
        {"239.255.255.250", "multicast"},
        {"240.0.0.1", "reserved"},
        {"255.255.255.254", "reserved"},
        {"255.255.255.255", "broadcast"},
        {"::", "unspecified"},
        {"::1", "loopback"},
        {"::2", "reserved"},
        {"::7f00:1", "reserved"},
        {"::8.8.8.8", "reserved"},
        {"::ffff:127.0.0.1", "loopback"},
        {"::ffff:10.1.2.3", "private"},
        {"::ffff:169.254.169.254", "cloud metadata"},
        {"::ffff:8.8.8.8", NULL},
        {"::fffe:8.8.8.8", "reserved"},
        {"64:ff9b::7f00:1", "loopback"},
        {"64:ff9b::a9fe:a9fe", "cloud metadata"},
        {"64:ff9b::808:808", NULL},
        {"64:ff9b:0:0:0:1:808:808", "reserved"},
        {"64:ff9b:1::808:808", "local translation"},
        {"100::1", "discard"},
        {"2001::1", "a Teredo tunnel"},
        {"2001:0:4136:e378:8000:63bf:3fff:fdd2", "a Teredo tunnel"},
        {"2001:2::1", "benchmarking"},
        {"2001:10::1", "reserved"},
        {"2001:20::1", "reserved"},
        {"2001:1ff:ffff::1", "reserved"},
        {"2001:200::1", NULL},
        {"2001:4860:4860::8888", NULL},
        {"2001:db7::1", NULL},
        {"2001:db8::1", "documentation"},
        {"2001:db9::1", NULL},
        {"2002:7f00:1::1", "loopback"},
        {"2002:a00:1::1", "private"},
        {"2002:a9fe:a9fe::", "cloud metadata"},
        {"2002:a00:808:808:808:808:808:808", "private"},
        {"2002:808:808::1", NULL},
        {"2002:808:a00:a00:a00:a00:a00:a00", NULL},
        {"2606:2800:220:1::1", NULL},
        {"2a00:1450:4001::200e", NULL},
        {"3ffe::1", NULL},
        {"3fff::1", "documentation"},
        {"3fff:fff::1", "documentation"},
        {"3fff:1000::1", NULL},
        {"4000::1", "reserved"},
        {"5f00::1", "reserved"},
        {"fbff::1", "reserved"},
        {"fc00::1", "private"},
        {"fd00:ec2::254", "private"},
        {"fdff:ffff::1", "private"},
        {"fe00::1", "reserved"},
        {"fe80::1", "link-local"},
        {"febf::1", "link-local"},
        {"fec0::1", "private"},
        {"ff02::1", "multicast"},
        {"ffff::1", "multicast"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct sockaddr_storage address = address_of(CASES[i].address, 80);
        int status = policy_allow(NULL, "x", (struct sockaddr *)&address);
        if (status != (CASES[i].what ? ERR_INVALID : OK)) {
            fail_msg("%s is %s", CASES[i].address, CASES[i].what ? CASES[i].what : "public");
        }
    }
}

static void refuses_other_families(void **state)
{
    (void)state;
    struct sockaddr_storage address = {.ss_family = AF_UNIX};
    char problem[200];
    struct policy *policy = policy_new("0.0.0.0/0,::/0", problem, sizeof problem);
    assert_non_null(policy);
    assert_int_equal(policy_allow(NULL, "x", (struct sockaddr *)&address), ERR_INVALID);
    assert_int_equal(policy_allow(policy, "x", (struct sockaddr *)&address), ERR_INVALID);
    policy_free(policy);
}

static void opens_what_is_listed(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        const char *host;
        const char *address;
        int port;
        bool allowed;
    } CASES[] = {
        {"", "wiki.internal", "10.0.0.7", 80, false},
        {NULL, "wiki.internal", "10.0.0.7", 80, false},
        {" , ,", "wiki.internal", "10.0.0.7", 80, false},
        {"", "example.com", "8.8.8.8", 80, true},
        {"wiki.internal", "wiki.internal", "10.0.0.7", 80, true},
        {"wiki.internal", "wiki.internal", "::1", 8080, true},
        {"Wiki.Internal.", "wiki.internal", "10.0.0.7", 80, true},
        {"wiki.internal", "other.internal", "10.0.0.7", 80, false},
        {"wiki.internal", "x.wiki.internal", "10.0.0.7", 80, false},
        {"internal", "wiki.internal", "10.0.0.7", 80, false},
        {"wiki.internal:8080", "wiki.internal", "10.0.0.7", 8080, true},
        {"wiki.internal:8080", "wiki.internal", "10.0.0.7", 80, false},
        {" a.internal , wiki.internal\t", "wiki.internal", "10.0.0.7", 80, true},
        {"b\xc3\xbc"
         "cher.internal",
         "xn--bcher-kva.internal", "10.0.0.7", 80, true},
        {"10.0.0.7", "anything", "10.0.0.7", 80, true},
        {"10.0.0.7", "anything", "::ffff:10.0.0.7", 80, true},
        {"10.0.0.7", "anything", "10.0.0.8", 80, false},
        {"10.0.0.7:80", "anything", "10.0.0.7", 80, true},
        {"10.0.0.7:80", "anything", "10.0.0.7", 81, false},
        {"0x0a.7", "anything", "10.0.0.7", 80, true},
        {"10.0.0.0/8", "anything", "10.200.0.1", 80, true},
        {"10.0.0.0/8", "anything", "11.0.0.1", 80, true}, /* public */
        {"10.0.0.0/8", "anything", "192.168.0.1", 80, false},
        {"10.0.0.0/8:8080", "anything", "10.200.0.1", 8080, true},
        {"10.0.0.0/8:8080", "anything", "10.200.0.1", 80, false},
        {"192.168.4.0/22", "anything", "192.168.7.255", 80, true},
        {"192.168.4.0/22", "anything", "192.168.8.0", 80, false},
        {"0.0.0.0/0", "anything", "127.0.0.1", 80, true},
        {"0.0.0.0/0", "anything", "::1", 80, false},
        {"::1", "anything", "::1", 80, true},
        {"[::1]", "anything", "::1", 80, true},
        {"[::1]:8080", "anything", "::1", 8080, true},
        {"[::1]:8080", "anything", "::1", 80, false},
        {"::1", "anything", "127.0.0.1", 80, false},
        {"fd00::/8", "anything", "fd12::1", 80, true},
        {"fd00::/8", "anything", "fc12::1", 80, false},
        {"127.0.0.1", "localhost", "127.0.0.1", 3000, true},
        {"localhost", "127.0.0.1", "127.0.0.1", 3000, false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[200] = "";
        struct policy *policy = policy_new(CASES[i].list, problem, sizeof problem);
        if (!policy) {
            fail_msg("the list %s", problem);
        }
        struct sockaddr_storage address = address_of(CASES[i].address, CASES[i].port);
        int status = policy_allow(policy, CASES[i].host, (struct sockaddr *)&address);
        if ((status == OK) != CASES[i].allowed) {
            fail_msg("\"%s\": %s at %s:%d is %s", CASES[i].list, CASES[i].host, CASES[i].address,
                     CASES[i].port, status_name(status));
        }
        policy_free(policy);
    }
}

static void refuses_wrong_lists(void **state)
{
    (void)state;
    static const char *const CASES[] = {
        "a b",       "host:0",      "host:65536", "host:x",      "host:",  "10.0.0.0/33",
        "10.0.0/8",  "::1/129",     "10.0.0.0/",  "10.0.0.0/-1", "host/8", "http://host",
        "256.0.0.1", "[::1",        "[::1]x",     ":80",         "1:2:3",  "good,a..b",
        "host:80x",  "10.0.0.0/8x", "user@host",  "*.internal",
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[200] = "";
        struct policy *policy = policy_new(CASES[i], problem, sizeof problem);
        if (policy || !problem[0]) {
            fail_msg("\"%s\" was accepted", CASES[i]);
        }
    }
    char *many = calloc(1, 2000);
    assert_non_null(many);
    for (size_t i = 0; i < 999; i++) {
        memcpy(many + 2 * i, "a,", 2);
    }
    char problem[200] = "";
    assert_null(policy_new(many, problem, sizeof problem));
    assert_string_equal(problem, "has more than 256 entries");
    free(many);
}

UNIT_TEST(policy)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_addresses),
        cmocka_unit_test(refuses_other_families),
        cmocka_unit_test(opens_what_is_listed),
        cmocka_unit_test(refuses_wrong_lists),
    };
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
