//go:build !windows

package gitdir

import "syscall"

// errNotDir is how the system says that a part of a path is a file.
const errNotDir = syscall.ENOTDIR
