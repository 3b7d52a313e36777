// Package filestate keeps small files that several processes read, change and write: settings,
// trust lists, tokens, and the configurations of other programs.
//
//	Read      the bytes of a regular file, bounded; nil where there is none
//	Edit      read, change and replace, one process at a time
//	Create    a new file with all its bytes or none; never replaces one
//	Replace   a file that is written as a whole, whatever was there before
//	Remove    delete, durably; RemoveAll also a directory
//	Lock      keep other users of this package away from a path
//
// A reader sees the file before a change or after it, never a part. What is returned without an
// error is on the medium: the file and, where the system can, its directory are synced. Symbolic
// links stay: what they lead to is read and replaced. New files have mode 0600.
//
// # Locks
//
// The lock of a path is the file beside it with ".mnem-lock" after its name, held by a lock of the
// kernel: flock, and on Windows an open file that is shared with nobody. A crash lets go of it. The
// file is removed when the lock is given back; one that a crash left behind holds nothing and is
// used again. A process that waits looks every 5 ms, for 10 s at most.
//
// Programs that do not know this lock may change a file, too: what they wrote before the new file
// takes its place is seen, and the change is made again upon it.
package filestate
