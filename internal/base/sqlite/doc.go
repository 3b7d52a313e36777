// Package sqlite reads tables of SQLite databases: rows in the order of their numbers, and columns of them. It knows
// no SQL but the names in CREATE TABLE, uses no index, and writes nothing. Changes that are still in the write-ahead
// log are read from there. Any bytes may come: every page, length and chain is checked before it is followed.
//
// A file consists of pages, numbered from 1. The first begins with 100 bytes about the file:
//
//	0   16  "SQLite format 3" and a zero byte
//	16   2  size of a page, 1 for 65,536
//	20   1  bytes at the end of each page that are not used
//	56   4  encoding of texts, 1 for UTF-8
//
// A table is a tree of pages: inner ones (5) of the numbers of pages and the largest row in them, and leaves (13) of
// rows. A row has the length of its record, its number, the record's first bytes and the page with the next ones, which
// begins with the number of the page after it. A record begins with the length of its head and the types of its
// columns. The first tree has a row for each table: type, name, table, first page, and the text that made it.
//
// The log has 32 bytes about itself and then frames of 24 bytes and a page. A frame counts if it has the two salts of the
// log and the checksum of everything before it, and if it ends a commit or comes before the end of one.
package sqlite
