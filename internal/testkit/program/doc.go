// Package program lets tests use the whole program: its command line in this process, as another process, and as a
// server. A test binary whose TestMain is [Main] is the program too, so that commands can start it anew.
package program
