// Package regular opens files and directories that a user names, without waiting.
//
//	Open     a regular file, by its path
//	OpenIn   a regular file below a directory that is open
//	OpenDir  a directory, to open what is below it
//	FS       a directory that is open, as a file system of regular files and directories
//
// Opening a named pipe waits until another program opens its other end, and reading a terminal or
// another device waits for input. Any name that a user gives may lead to one. These functions open
// with O_NONBLOCK if the system has it, and return an *Error for everything that is not a regular
// file. A program that has something in a pipe gives it to mnem as standard input.
package regular
