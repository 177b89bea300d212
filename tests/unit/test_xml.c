/* The XML reader: a table of texts and the events that they give. */
#include "core/status.h"
#include "html/xml.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All events, written so that a table can hold them. */
static char *describe(const char *xml, size_t length)
{
    struct xml_reader reader;
    struct buf out;
    buf_init(&out, MIB(1));
    xml_begin(&reader, xml, length);
    for (;;) {
        switch (xml_next(&reader)) {
        case XML_START:
            buf_printf(&out, "<%.*s", (int)reader.name.length, reader.name.data);
            for (size_t i = 0; i < reader.attribute_count; i++) {
                buf_printf(&out, " %.*s=", (int)reader.attributes[i].name.length,
                           reader.attributes[i].name.data);
                xml_append(&out, reader.attributes[i].value);
            }
            buf_puts(&out, ">");
            continue;
        case XML_END:
            buf_printf(&out, "</%.*s>", (int)reader.name.length, reader.name.data);
            continue;
        case XML_TEXT:
            buf_puts(&out, reader.literal ? "{" : "[");
            if (reader.literal) {
                buf_append(&out, reader.text.data, reader.text.length);
            } else {
                xml_append(&out, reader.text);
            }
            buf_puts(&out, reader.literal ? "}" : "]");
            continue;
        case XML_DONE:
            buf_puts(&out, "$");
            break;
        case XML_BROKEN:
            assert_non_null(reader.problem);
            assert_int_equal(xml_next(&reader), XML_BROKEN);
            buf_puts(&out, "!");
            break;
        }
        break;
    }
    assert_int_equal(buf_error(&out), OK);
    return out.data;
}

static void gives_events(void **state)
{
    static const struct {
        const char *xml, *events;
    } CASES[] = {
        {"<a/>", "<a></a>$"},
        {"<a></a>", "<a></a>$"},
        {"\xEF\xBB\xBF<a/>", "<a></a>$"},
        {"<?xml version=\"1.0\"?><a/>", "<a></a>$"},
        {"<!DOCTYPE a><a/>", "<a></a>$"},
        {"<!DOCTYPE a [<!ENTITY x \"]>\">]><a>&x;</a>", "<a>[&x;]</a>$"},
        {"<!DOCTYPE html PUBLIC \"-//X//>\" 'y'><a/>", "<a></a>$"},
        {"<!-- <b> --><a><!-- - -- --></a>", "<a></a>$"},
        {"<a x='1' y=\"2\" />", "<a x=1 y=2></a>$"},
        {"<a x = '1'\n\ty='>' />", "<a x=1 y=>></a>$"},
        {"<a x='&lt;&quot;&#39;'/>", "<a x=<\"'></a>$"},
        {"<n:a n:x='1'><n:b/></n:a>", "<n:a n:x=1><n:b></n:b></n:a>$"},
        {"<a>1<b>2</b>3</a>", "<a>[1]<b>[2]</b>[3]</a>$"},
        {"<a>&amp;&lt;&gt;&quot;&apos;</a>", "<a>[&<>\"']</a>$"},
        {"<a>&#65;&#x41;&#x1F600;&#xe9;</a>", "<a>[AA\xF0\x9F\x98\x80\xC3\xA9]</a>$"},
        {"<a>&nbsp;&#0;&#xD800;&#x110000;&#;&#x;&</a>",
         "<a>[&nbsp;&#0;&#xD800;&#x110000;&#;&#x;&]</a>$"},
        {"<a>&#99999999999;</a>", "<a>[&#99999999999;]</a>$"},
        {"<a><![CDATA[<b>&amp;]]]]></a>", "<a>{<b>&amp;]]}</a>$"},
        {"<a></a >", "<a></a>$"},
        {"<a/> \n", "<a></a>[ \n]$"},
        {"<a/><!-- end -->", "<a></a>$"},
        /* Broken: what was whole before comes first. */
        {"", "!"},
        {"text", "[text]!"},
        {"<", "!"},
        {"<a", "!"},
        {"<a>", "<a>!"},
        {"<a><b></a>", "<a><b>!"},
        {"<a></b>", "<a>!"},
        {"</a>", "!"},
        {"<a/><b/>", "<a></a>!"},
        {"<a x>", "!"},
        {"<a x=1/>", "!"},
        {"<a x='1/>", "!"},
        {"<a><![CDATA[x</a>", "<a>!"},
        {"<a><!-- x</a>", "<a>!"},
        {"<!DOCTYPE a", "!"},
        {"<?xml", "!"},
        {"< a/>", "!"},
        {"<a></a", "<a>!"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char *events = describe(CASES[i].xml, strlen(CASES[i].xml));
        if (strcmp(events, CASES[i].events) != 0) {
            fail_msg("%s: %s, not %s", CASES[i].xml, events, CASES[i].events);
        }
        free(events);
    }
}

/* So many elements inside each other. */
static char *nested(size_t levels)
{
    struct buf xml;
    buf_init(&xml, MIB(1));
    for (size_t i = 0; i < levels; i++) {
        buf_puts(&xml, "<a>");
    }
    for (size_t i = 0; i < levels; i++) {
        buf_puts(&xml, "</a>");
    }
    assert_int_equal(buf_error(&xml), OK);
    return xml.data;
}

static void bounds_nesting(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        char *xml = nested(LIMIT_XML_DEPTH + more);
        struct xml_reader reader;
        enum xml_event event;
        size_t deepest = 0;
        xml_begin(&reader, xml, strlen(xml));
        do {
            event = xml_next(&reader);
            deepest = reader.depth > deepest ? reader.depth : deepest;
        } while (event != XML_DONE && event != XML_BROKEN);
        assert_int_equal(event, more ? XML_BROKEN : XML_DONE);
        assert_int_equal(deepest, LIMIT_XML_DEPTH);
        if (more) {
            assert_string_equal(reader.problem, "too many levels of elements");
        }
        free(xml);
    }
}

static void keeps_the_first_attributes(void **state)
{
    struct buf xml;
    struct xml_reader reader;
    struct slice value;
    (void)state;
    buf_init(&xml, MIB(1));
    buf_puts(&xml, "<a");
    for (int i = 0; i < 1000; i++) {
        buf_printf(&xml, " x%d='%d'", i, i);
    }
    buf_puts(&xml, "/>");
    xml_begin(&reader, xml.data, xml.length);
    assert_int_equal(xml_next(&reader), XML_START);
    assert_int_equal(reader.attribute_count, LIMIT_XML_ATTRIBUTES);
    assert_true(xml_attribute(&reader, "x1", &value));
    assert_true(slice_is(value, "1"));
    assert_false(xml_attribute(&reader, "x999", &value));
    assert_int_equal(xml_next(&reader), XML_END);
    assert_int_equal(xml_next(&reader), XML_DONE);
    buf_done(&xml);
}

static void takes_an_element(void **state)
{
    static const char XML[] = "<a><b>1<i>&amp;</i><![CDATA[<2>]]></b><c/>3</a>";
    struct xml_reader reader;
    struct slice inside;
    struct buf text;
    (void)state;
    buf_init(&text, MIB(1));
    xml_begin(&reader, XML, strlen(XML));
    assert_int_equal(xml_next(&reader), XML_START);
    assert_int_equal(xml_next(&reader), XML_START);
    assert_true(xml_take(&reader, &text, &inside));
    assert_string_equal(text.data, "1&<2>");
    assert_true(slice_is(inside, "1<i>&amp;</i><![CDATA[<2>]]>"));
    assert_int_equal(xml_next(&reader), XML_START);
    assert_true(slice_is(reader.name, "c"));
    assert_true(xml_take(&reader, NULL, &inside));
    assert_int_equal(inside.length, 0);
    assert_int_equal(xml_next(&reader), XML_TEXT);
    buf_done(&text);
}

UNIT_TEST(xml)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_events),
        cmocka_unit_test(bounds_nesting),
        cmocka_unit_test(keeps_the_first_attributes),
        cmocka_unit_test(takes_an_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
