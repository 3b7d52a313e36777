// Package filestate reads and updates small files shared by several processes: settings, trust lists, tokens, and
// the configurations of other programs.
//
//	Read      the bytes of a regular file, bounded; nil if there is none
//	Edit      read, change and replace, one process at a time
//	Create    a new file with all its bytes or none; never replaces one
//	Replace   write a whole file, replacing an existing one
//	Remove    delete, durably; RemoveAll also a directory
//	Lock      exclude other users of this package from a path
//
// A reader sees the file before a change or after it, never a part. Changes are durable when a call returns without
// an error: the file and, if the system supports it, its directory are synced. Symbolic links are followed and
// kept. New files have mode 0600.
//
// # Locks
//
// The lock of a path is a file next to it with the suffix ".mnem-lock", held by a kernel lock: flock, or on Windows
// a file opened without sharing. A crash releases it. The file is removed when the lock is released; one left by a
// crash is unlocked and reused. A waiting process polls every 5 ms, for at most 10 s.
//
// Other programs may change a file without this lock: a change made before the new file replaces the old is
// noticed, and the edit is repeated on it.
package filestate
