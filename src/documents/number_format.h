/* Numbers of spreadsheets as they are shown: by a format such as "#,##0.00" or "d mmm yyyy". Pure.
 */
#ifndef FORAGE_DOCUMENTS_NUMBER_FORMAT_H
#define FORAGE_DOCUMENTS_NUMBER_FORMAT_H

#include "core/buf.h"

#include <stdbool.h>

/* The format that a number without a text of its own stands for; "General" where it is unknown. */
const char *number_format_known(long id);
/* Days count from 1904 on in workbooks of old Macs, else from 1900. */
void number_format_write(struct buf *out, const char *format, double value, bool from_1904);

#endif
