//go:build !unix

package regular

// NoWait is the flag with which opening a named pipe does not wait for its other end: the file
// systems of these systems hold no pipes.
const NoWait = 0
