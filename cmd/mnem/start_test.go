package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// What packages may allocate before main runs, in number: ours are tables and the declarations of verbs, those of
// others mostly Pebble's: its errors, metrics and their protocols.
const (
	mostOursAtStart = 1550
	mostAllAtStart  = 6450
)

// TestStart bounds what a process does before main runs, which hooks pay for at every prompt.
func TestStart(t *testing.T) {
	cmd, stderr := mnem(t, t.TempDir(), "version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	must.OK(t, cmd.Run())
	packages, ours, all := 0, 0, 0
	for lines := bufio.NewScanner(bytes.NewReader(stderr.Bytes())); lines.Scan(); {
		var name string
		var at, took float64
		var size, allocs int
		_, err := fmt.Sscanf(lines.Text(), "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &took, &size, &allocs)
		if err != nil {
			continue // what the program says itself
		}
		packages++
		all += allocs
		if strings.HasPrefix(name, "github.com/mnem-project/mnem/") {
			ours += allocs
			t.Logf("%s: %d allocations, %d bytes", name, allocs, size)
		}
	}
	t.Logf("%d packages, %d allocations, %d of them ours", packages, all, ours)
	must.Require(t, packages >= 50, "only %d packages: is the form of GODEBUG=inittrace another one?", packages)
	if ours > mostOursAtStart || all > mostAllAtStart {
		t.Errorf("%d allocations before main, %d of them ours; at most %d and %d", all, ours, mostAllAtStart,
			mostOursAtStart)
	}
}
