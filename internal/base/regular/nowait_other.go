//go:build !unix

package regular

// NoWait is the flag that opens a named pipe without waiting for its other end: the file systems of these systems
// have no pipes.
const NoWait = 0
