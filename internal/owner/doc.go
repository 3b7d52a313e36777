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
// A connection carries one verb. Both ends send frames:
//
//	offset  size  field
//	0       1     kind
//	1       4     length of the payload, big-endian
//	5       …     payload
//
//	kind  from    payload                               means
//	'H'   both    newest and oldest protocol (2 bytes   hello: the first frame of each end
//	              each), hash of the table of verbs (8;
//	              0 for not told), build (≤ 128)
//	'D'   client  device and inode, 8 bytes each, or    do you hold this directory?
//	              32 hexadecimal digits
//	'D'   owner   1 for yes, 0 for no; 1 byte           the answer
//	'K'   client  —                                     only tell me when you end
//	'V'   client  a call, ≤ 64 MiB                      run this verb
//	'C'   client  —                                     interrupt it
//	'I'   client  ≤ 64 KiB; empty for the end           input that was asked for
//	'X'   client  a message, ≤ 1 KiB                    reading the input failed
//	'P'   client  a message, ≤ 1 KiB; "" for a closed   writing the answers or the file failed
//	              pipe
//	'N'   owner   number of an input (2 bytes)          more of the input is wanted
//	'O'   owner   ≤ 64 KiB                              answers
//	'F'   owner   ≤ 64 KiB                              of a file that the verb writes for the client
//	'W'   owner   —                                     it may write from here on
//	'T'   owner   ≤ 64 KiB                              how far it is
//	'Z'   owner   ≤ 128 MiB                             the verb ended so; the last frame
//	'G'   owner   —                                     the owner ends and broke it off
//
// The protocol that is spoken is the newest that both ends know. Verbs go between all builds that have
// one in common. Before protocol 3 a hello was the protocol and the build.
//
// A copy of a repository has the owner file of the original, so the owner must show that it holds the
// directory which the client means, before that asks for anything: device and inode of .mnem are the
// same, in one name space of mounts; or the owner finds in its own .mnem the file proof-VALUE that
// the client has just made in its, of 128 random bits, for which only the client can have made it.
// A client asks in this order, at most twice, and goes where the answer is no.
//
// The owner never hands on what was handed to it. A call about a directory that it does not hold any
// more it breaks off with 'G', and the client looks for the next owner.
//
// Lengths are checked before anything is read, and memory grows with what arrives. An input is read
// only when it is wanted, one piece at a time. A client that goes away, or says 'C', cancels the
// context of its call, which takes back what was not committed.
//
// Since 'W' is sent before anything can be written, a connection that breaks without it has changed
// nothing, and the same call can be made to the next owner; after it the outcome is unknown, and the
// client must say so.
package owner
