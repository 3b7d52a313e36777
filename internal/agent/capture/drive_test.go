package capture

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestDrivePath(t *testing.T) {
	for path, want := range map[string]string{
		"/c:/Users/a b": `c:\Users\a b`, "/D:": `D:`, `c:\x`: `c:\x`, "/x/y": "/x/y", "": "", "/": "/", "//h/s": "//h/s",
	} {
		must.Equal(t, drivePath(path), want, path)
	}
}
