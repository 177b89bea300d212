"""Fakes of the services that loaders ask, on loopback: their real shapes, errors, rate limits and paging. Each field
cites the vendor's document that describes it."""
