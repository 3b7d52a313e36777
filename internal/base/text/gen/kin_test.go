package main

import (
	"os"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestKinCommitted: the committed table is made from the list.
func TestKinCommitted(t *testing.T) {
	list := must.Get(os.ReadFile("../kin.txt"))(t)
	want := must.Get(kinTable(string(list)))(t)
	got := must.Get(os.ReadFile("../kin.tab"))(t)
	must.Equal(t, string(got), want, "kin.tab is not what kin.txt makes: run go generate")
}

func TestKinTable(t *testing.T) {
	got, err := kinTable("# said\n\npets: dog cats\nrun running ran\nRan sprint\n")
	const want = "cat pet\ndog pet\npet cat dog\nran run sprint\nrun ran\nsprint ran\n"
	must.OK(t, err)
	must.Equal(t, got, want)
	for _, bad := range []string{"one", "the pet", "pet:", "pet dog: cat", ": cat", "the: cat", "pet dog-house", "pet: the"} {
		if got, err := kinTable(bad); err == nil {
			t.Errorf("%q was read: %q", bad, got)
		}
	}
}
