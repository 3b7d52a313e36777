// Package ramdir puts temporary directories of tests into memory.
package ramdir

import "os"

// Use puts temporary files into a directory in memory, if the system has a file system for that and TMPDIR is not set,
// and returns a function that removes it. It is for TestMain of tests that open hundreds of repositories on disk and do
// not check the effects of a power cut: half of their time goes to the disk.
func Use() (remove func(), err error) {
	at := mounted()
	if at == "" {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp(at, "mnem-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // some tests run programs as another user
	}
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	return func() { _ = os.RemoveAll(dir) }, err
}

// Run runs tests with temporary files in memory, and returns what their process ends with.
func Run(m interface{ Run() int }) int {
	remove, err := Use()
	if err != nil {
		panic(err)
	}
	defer remove()
	return m.Run()
}
