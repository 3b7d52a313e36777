package mcp

import (
	"runtime"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestFolderOf: a root names a folder of this machine, and never another one than it says.
func TestFolderOf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of other systems")
	}
	for uri, want := range map[string]string{
		"file:///home/u/app":           "/home/u/app",
		"file://localhost/home/u/app/": "/home/u/app",
		"file:///home/u/two%20words":   "/home/u/two words",
		"file:///home/u/c%23/app":      "/home/u/c#/app",
		"file:///home/u/c#/app":        "", // not encoded: /home/u/c is another folder
		"file:///home/u/what?/app":     "",
		"file://host/home/u":           "",
		"file:relative":                "",
		"https://host/home":            "",
		"file:///home/%00":             "",
		"%":                            "",
	} {
		must.Equal(t, folderOf(uri), want, uri)
	}
}
