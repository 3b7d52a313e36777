// Package queue lets processes that want the same lock have it in the order in which they asked.
//
// A lock of the kernel that is taken by trying favours the process that tries at the right moment, so
// that a newcomer overtakes one that has waited long. Here each takes a place before it tries, and
// tries only while no earlier place is taken. A place is a byte of a file that stays empty, locked
// through an open file: the kernel gives it back when the process ends, however that happens, so that
// there is nothing to clean up.
//
//	offset  locked by
//	0       a process that takes a place, for some microseconds
//	1 …     a process that waits, as long as it does
//
// A new place is one beyond the last that is taken. What is locked is found by trying: a shared lock
// on a range is refused where another process has a byte of it, and shared ones do not refuse each
// other.
//
// A process that is stopped does not block the others for ever: one that sees the same place at the
// front for Patience, or as many times longer as it is places behind, tries too.
//
// Where there are no such locks, as on some network file systems, there is no queue, and each tries
// as it likes.
package queue
