// Package queue makes processes take a lock in the order in which they asked.
//
// A kernel lock taken by polling favours the process that polls at the right moment, so that a newcomer can
// overtake one that has waited long. Here each process takes a place before it polls, and polls only while no
// earlier place is taken. A place is a locked byte of a file that stays empty: the kernel releases it when the
// process ends in any way, so that there is nothing to clean up.
//
//	offset  locked by
//	0       a process while it takes a place, for some microseconds
//	1 …     a process while it waits
//
// A new place is one beyond the last one taken. Taken places are found by trying: a shared lock on a range fails if
// another process holds a byte of it, and shared locks do not conflict.
//
// A suspended process does not block the others forever: one that sees the same place at the front for Patience,
// multiplied by its distance from the front, polls too.
//
// Without such locks, as on some network file systems, there is no queue, and each process polls at will.
package queue
