package operation

import "testing"

func TestRenamed(t *testing.T) {
	for name, want := range map[string]string{"check": "recall", "supersede": "mark superseded", "recall": "", "": ""} {
		if got := Renamed(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
