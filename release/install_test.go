package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestInstaller runs the installer against a server that offers right, wrong and missing files. It must install the
// program only if the list has its checksum, and leave an earlier program alone otherwise.
func TestInstaller(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("a script for Linux and macOS")
	}
	name := "/v1.2.3/mnem_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	archive := programArchive(t, "new")
	list := func(data []byte, name string) []byte {
		return fmt.Appendf(nil, "%064d  other.tar.gz\n%x  %s\n", 0, sha256.Sum256(data), filepath.Base(name))
	}
	const sums = "/v1.2.3/checksums.txt"
	for _, c := range []struct {
		what  string
		files map[string][]byte
		fails string // part of the error; "" if it installs
	}{
		{"right", map[string][]byte{sums: list(archive, name), name: archive}, ""},
		{"wrong checksum", map[string][]byte{sums: list([]byte("x"), name), name: archive}, "nothing is installed"},
		{"another program", map[string][]byte{sums: list(archive, name), name: programArchive(t, "other")}, "nothing is installed"},
		{"cut archive", map[string][]byte{sums: list(archive, name), name: archive[:len(archive)/2]}, "nothing is installed"},
		{"no checksum", map[string][]byte{sums: list(archive, "mnem_1.2.3_plan9_386.tar.gz"), name: archive}, "does not list"},
		{"empty list", map[string][]byte{sums: {}, name: archive}, "does not list"},
		{"short checksum", map[string][]byte{sums: []byte("abc  " + filepath.Base(name) + "\n"), name: archive}, "does not list"},
		{"no list", map[string][]byte{name: archive}, "cannot download"},
		{"no archive", map[string][]byte{sums: list(archive, name)}, "cannot download"},
		{"no program", map[string][]byte{sums: list([]byte("x"), name), name: []byte("x")}, "cannot unpack"},
	} {
		t.Run(c.what, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				data, ok := c.files[r.URL.Path]
				if !ok {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write(data)
			}))
			defer server.Close()
			tryInstaller(t, server.URL, c.fails)
		})
	}
	t.Run("without TLS", func(t *testing.T) { tryInstaller(t, "http://example.invalid", "is no https URL") })
}

// tryInstaller installs over a program that says "old".
func tryInstaller(t *testing.T, host, fails string) {
	t.Helper()
	home := t.TempDir()
	into := filepath.Join(home, "a directory", "bin")
	mustOK(t, os.MkdirAll(into, 0o755))
	mustOK(t, os.WriteFile(filepath.Join(into, "mnem"), []byte("#!/bin/sh\necho old\n"), 0o755))
	script := strings.NewReplacer("@VERSION@", "1.2.3", "@HOST@", "https://example.invalid").Replace(installer)
	cmd := exec.Command("sh", "-s", into)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "MNEM_HOST=" + host, "TMPDIR=" + home}
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	said, _ := exec.Command(filepath.Join(into, "mnem")).Output()
	switch {
	case fails == "" && (err != nil || string(said) != "new\n" || !strings.Contains(string(out), "Add "+into)):
		t.Errorf("%v, the program says %q\n%s", err, said, out)
	case fails != "" && (err == nil || string(said) != "old\n" || !strings.Contains(string(out), fails)):
		t.Errorf("%v, the program says %q, want an error with %q\n%s", err, said, fails, out)
	}
	for dir, want := range map[string]int{into: 1, home: 1} { // and no temporary file
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
			t.Errorf("%s has %v, %v", dir, entries, err)
		}
	}
}

// programArchive is an archive whose program says a word.
func programArchive(t *testing.T, word string) []byte {
	t.Helper()
	var b bytes.Buffer
	files := []file{{"mnem", 0o755, []byte("#!/bin/sh\necho " + word + "\n")}, {"LICENSE", 0o644, []byte("text")}}
	mustOK(t, writeTarGz(&b, files, time.Unix(0, 0)))
	return b.Bytes()
}
