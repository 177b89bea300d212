/* The labels are in data/page-labels.txt. */
#include "page/html/choose/labels.h"

#include "tables.h"

enum label_effect label_effect(const char *label, size_t length)
{
    return (enum label_effect)words_match(&page_labels, label, length);
}
