//go:build unix

package regular

import "syscall"

// NoWait is the flag that opens a named pipe without waiting for its other end.
const NoWait = syscall.O_NONBLOCK
