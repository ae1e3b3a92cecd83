"""Store-and-forward of records: a sender with a spool, a receiver with a journal."""
