// Package program lets tests use the whole program: its command line in this process, as another process, and as a
// server. A test binary whose TestMain is [Main] also acts as the program, so that commands can start it.
package program
