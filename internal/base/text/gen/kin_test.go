package main

import (
	"os"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestKinCommitted: the committed table is made from the list.
func TestKinCommitted(t *testing.T) {
	list, err := os.ReadFile("../kin.txt")
	must.OK(t, err)
	want, err := kinTable(string(list))
	must.OK(t, err)
	got, err := os.ReadFile("../kin.tab")
	must.OK(t, err)
	must.Equal(t, string(got), want, "kin.tab is not what kin.txt makes: run go generate")
}

func TestKinTable(t *testing.T) {
	got, err := kinTable("# said\n\npets: dog cats\nrun running ran\nRan sprint\n")
	const want = "cat pet\ndog pet\npet cat dog\nran run sprint\nrun ran\nsprint ran\n"
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"one", "the pet", "pet:", "pet dog: cat", ": cat", "the: cat", "pet dog-house", "pet: the"} {
		if got, err := kinTable(bad); err == nil {
			t.Errorf("%q was read: %q", bad, got)
		}
	}
}
