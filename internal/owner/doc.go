// Package owner lets many processes use one repository. The database admits one process at a time,
// readers included: that one is the owner. While it is there it listens on a socket, and the others
// ask it for verbs, whose names, requests and answers are JSON that package peers makes and reads.
//
// The owner listens on .mnem/socket, which only its user may connect to (mode 0600, and the user of
// the other end is asked from the system where it tells). A path that the system has no room for
// goes to a directory of the user's own under the temporary directory. The file .mnem/owner names
// the socket, the process and the protocol. Only the process that holds the lock of the database makes,
// replaces or removes a socket, so that one on which nothing answers is a stale one.
//
// # Protocol
//
// The owner is an HTTP server (net/http, with the bounds of internal/base/httpd, as 'mnem serve'), with these requests:
//
//	GET /             hello: the build and the protocols of the owner, and whether it holds the directory that
//	                  ?identity= or ?value= claims
//	GET /v9/keep      is answered when the owner ends
//	POST /v9/verb     runs a verb; the connection ends with it
//
// The handlers are not those of 'mnem serve', which expose only the fields of requests that a remote caller may set. Here
// the caller is the same user on the same machine: a call has all fields, answers may keep their types, and the caller is
// told when the verb may write.
//
// The number in a path is the protocol. An owner answers 404 to a protocol that it does not speak; a client has read in
// the hello which ones it does, and refuses by itself. Verbs go between all builds that have a protocol in common.
//
// The body of a verb is a form (multipart/form-data): the call, ≤ 64 MiB, and the inputs, whole and in order. The owner
// copies them before the repository is used for the verb. Its answer has status 200 and is a sequence of records:
//
//	offset  size  field
//	0       1     kind
//	1       4     length of the payload, big-endian
//	5       …     payload
//
//	kind  payload     means
//	'O'   ≤ 64 KiB    answers
//	'F'   ≤ 64 KiB    bytes of a file that the verb writes for the client
//	'W'   —           the verb may write from here on
//	'T'   ≤ 64 KiB    how far it is
//	'Z'   ≤ 128 MiB   the verb ended so; the last record
//
// An answer that ends without 'Z' says that the owner ends and broke the verb off, or does not have the repository any
// more: the client looks for the next owner. The owner never passes a call on to another one.
//
// A copy of a repository has the owner file of the original, so the owner must show that it holds the directory which
// the client means, before that asks for anything: device and inode of .mnem are the same, in one name space of mounts;
// or the owner finds in its own .mnem the file proof-VALUE that the client has just made in its, of 128 random bits,
// for which only the client can have made it. A client asks in this order, and goes where the answer is no.
//
// Lengths are checked before anything is read, and memory grows with what arrives. A client that goes away cancels the
// context of its call, which takes back what was not committed. One that is interrupted, or whose printing failed, shuts
// down its half of the connection, which does the same, and still reads how the verb ended. An answer has no time limit,
// since a person may be reading it; a message of progress has, since other writers may be waiting for the verb.
//
// Since 'W' is sent before anything can be written, a connection that breaks without it has changed nothing, and the
// same call can be made to the next owner; after it the outcome is unknown, and the client must say so.
package owner
