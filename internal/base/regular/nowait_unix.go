//go:build unix

package regular

import "syscall"

// NoWait is the flag with which opening a named pipe does not wait for its other end.
const NoWait = syscall.O_NONBLOCK
