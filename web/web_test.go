package web

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// most is how many bytes the page may have, before compression.
const most = 150_000

func TestFiles(t *testing.T) {
	paths := map[string]*File{}
	for _, f := range Files() {
		paths[f.Path] = &f
		if f.Media == "" || len(f.Tag) != 34 || len(f.Data) == 0 {
			t.Errorf("%s: media %q, tag %s, %d bytes", f.Path, f.Media, f.Tag, len(f.Data))
		}
	}
	for _, want := range []string{"/", "/app.js", "/app.css", "/licenses.txt"} {
		if paths[want] == nil {
			t.Errorf("no %s", want)
		}
	}
}

func TestSize(t *testing.T) {
	size := 0
	for _, f := range Files() {
		size += len(f.Data)
	}
	if size > most {
		t.Errorf("%d bytes, at most %d", size, most)
	}
	t.Logf("%d bytes", size)
}

// TestPageIsItsOwn looks for content that the policy would refuse: code in markup, and resources of other origins.
func TestPageIsItsOwn(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<script(?:[^>]*[^>\w]src=)?[^>]*>[^<]|<style|\son[a-z]+=|\sstyle=|javascript:`)
	elsewhere := regexp.MustCompile(`(?i)(?:src|href|url\(|import)\s*[=(]?\s*["']?(?:https?:)?//`)
	for _, f := range Files() {
		if strings.HasPrefix(f.Media, "text/plain") {
			continue
		}
		if strings.HasPrefix(f.Media, "text/html") && inline.Match(f.Data) {
			t.Errorf("%s has code or styles in it: %q", f.Path, inline.Find(f.Data))
		}
		if m := elsewhere.Find(f.Data); m != nil {
			t.Errorf("%s asks elsewhere: %q", f.Path, m)
		}
	}
	for _, refused := range []string{"unsafe", "*", "http"} {
		if strings.Contains(Policy, refused) {
			t.Errorf("the policy allows %q", refused)
		}
	}
}

// TestTextsAreNeverMarkup searches our sources for ways in which a text could become markup or code.
func TestTextsAreNeverMarkup(t *testing.T) {
	sinks := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|` +
		`dangerouslySetInnerHTML|createContextualFragment|\beval\(|new Function|srcdoc`)
	seen := 0
	err := filepath.WalkDir("src", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		seen++
		data, err := os.ReadFile(path)
		if m := sinks.Find(data); m != nil {
			t.Errorf("%s has %s", path, m)
		}
		if n := bytes.Count(data, []byte("\n")); n > 600 && !strings.Contains(path, ".gen.") {
			t.Errorf("%s has %d lines, at most 600", path, n)
		}
		return err
	})
	if err != nil || seen < 4 {
		t.Fatalf("%d files, %v", seen, err)
	}
}

// TestBundleMatchesSources builds the page again, if the build tool is on this machine.
func TestBundleMatchesSources(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "build.exe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", tool, ".")
	cmd.Dir = "build"
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("GOPROXY=off")) {
			t.Skip("its module is not on this machine: 'go mod download' in web/build fetches it")
		}
		t.Fatalf("%v: %s", err, out)
	}
	check := exec.CommandContext(t.Context(), tool, "-check")
	check.Dir = "build"
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
