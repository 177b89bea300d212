/* The words that HTTP gives to its statuses. */
#ifndef FORAGE_TEXT_HTTP_STATUS_H
#define FORAGE_TEXT_HTTP_STATUS_H

/* "Not Found" for 404; NULL for a status that has no words here. */
const char *http_status_words(int status);

#endif
