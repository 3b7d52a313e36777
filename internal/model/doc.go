// Package model asks models behind HTTP: one POST of JSON at a time, tried again where a failure may
// pass, and bounded in time and size. The packages below it say what is asked and how an answer is
// read; everything else about a request is here, so that it is the same for all:
//
//	embed    texts into vectors
//	rerank   how well texts answer a query
//	rewrite  a query in other words, cues of a text, the text of a digest
//
// Each of them lists its providers in one table, and has a file for each protocol. A new provider
// is a file with its Protocol and a line in that table: configuration keys, environment variables,
// help and error texts follow from the table. Models see texts and vectors, never a repository.
//
// A failure that may pass (408, 425, 429, 5xx without 501, a connection that breaks, a timeout) is
// tried again, by default 4 times, after 0.5 s, 1 s, 2 s, 4 s, or after what Retry-After says if
// that is longer; if it asks for more than a minute, the failure is returned at once. The
// schedule has no chance in it. Redirects are refused, and so is a key over plain http to another
// machine. Keys are in no error and no format verb prints them.
package model
