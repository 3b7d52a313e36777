// Package regular opens files and directories named by a user, without blocking.
//
//	Open     a regular file, by its path
//	OpenIn   a regular file below an open directory
//	OpenDir  a directory, to open files below it
//	FS       an open directory, as a file system of regular files and directories
//
// Opening a named pipe blocks until another program opens its other end, and reading a terminal or another device
// blocks for input. Any name that a user gives may lead to one. These functions open with O_NONBLOCK if the system
// has it, and return an *Error for everything that is not a regular file. To pass data from a pipe, use mnem's
// standard input.
package regular
