// Package owner lets many processes use one repository. The database admits one process at a time,
// readers included: that one is the owner. While it is there it listens on a socket, and the others
// hand it their whole command lines and pass on what these print.
//
// The owner listens on .mnem/socket, which only its user may connect to (mode 0600, and the user of
// the other end is asked from the system where it tells). A path that the system has no room for
// goes to a directory of the user's own under the temporary directory. The file .mnem/owner names
// the socket, the process and the protocol. Only who holds the lock of the database makes, replaces
// or removes a socket, so that one that nobody answers on is a stale one.
//
// # Protocol
//
// A connection carries one command line. Both ends send frames:
//
//	offset  size  field
//	0       1     kind
//	1       4     length of the payload, big-endian
//	5       …     payload
//
//	kind  from    payload                               means
//	'H'   both    protocol (2 bytes), build (≤ 128)     hello: the first frame of each end
//	'D'   client  device and inode, 8 bytes each, or    do you hold this directory?
//	              32 hexadecimal digits
//	'D'   owner   1 for yes, 0 for no; 1 byte           the answer
//	'R'   client  a Request, ≤ 4 MiB                    run this command line
//	'K'   client  —                                     only tell me when you end
//	'C'   client  —                                     interrupt the command
//	'I'   client  ≤ 64 KiB; empty for the end           standard input that was asked for
//	'X'   client  a message, ≤ 1 KiB                    reading standard input failed
//	'P'   client  a message, ≤ 1 KiB; "" for a closed   writing standard output failed
//	              pipe
//	'N'   owner   —                                     more of standard input is wanted
//	'O'   owner   ≤ 64 KiB                              standard output
//	'E'   owner   ≤ 64 KiB                              standard error
//	'W'   owner   —                                     the command may write from here on
//	'Q'   owner   exit code (4 bytes)                   the command ended; the last frame
//	'G'   owner   —                                     the owner ends and broke the command off
//
// A copy of a repository has the owner file of the original, so the owner must show that it holds the
// directory which the client means, before that asks for anything: device and inode of .mnem are the
// same, in one name space of mounts; or the owner finds in its own .mnem the file proof-VALUE that
// the client has just made in its, of 128 random bits, for which only the client can have made it.
// A client asks in this order, at most twice, and goes where the answer is no.
//
// The owner never hands on a command line that was handed to it. One about a directory that it does
// not hold any more it breaks off with 'G', and the client looks for the next owner.
//
// Lengths are checked before anything is read, and memory grows with what arrives. Standard input
// is read only when the command reads it, one piece at a time. A client that goes away, or says
// 'C', cancels the context of its command, which takes back what was not committed.
//
// Since 'W' is sent before a command can write, a connection that breaks without it has changed
// nothing, and the same command can be given to the next owner; after it nobody knows, and the
// client must say so.
package owner
