package capture

import "testing"

func TestDrivePath(t *testing.T) {
	for path, want := range map[string]string{
		"/c:/Users/a b": `c:\Users\a b`, "/D:": `D:`, `c:\x`: `c:\x`, "/x/y": "/x/y", "": "", "/": "/", "//h/s": "//h/s",
	} {
		if got := drivePath(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
