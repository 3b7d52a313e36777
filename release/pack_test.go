package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// packed packs a small file as the program of every platform, without those packages that other scripts write, and returns
// all files. What reads a program gets this test.
func packed(t *testing.T) map[string][]byte {
	t.Helper()
	m := &maker{
		root: "..", into: t.TempDir(), host: "https://example.invalid/files", version: "1.2.3-rc.1", commit: "0123", time: time.Unix(1e9, 0),
		pages:  []file{{"mnem.1", 0o644, []byte(".TH MNEM 1\n")}, {"mnem-changes.7", 0o644, []byte(".TH CHANGES 7\n")}},
		shells: []file{{"_mnem", 0o644, []byte("z")}, {"mnem.bash", 0o644, []byte("b")}, {"mnem.fish", 0o644, []byte("f")}},
	}
	small := filepath.Join(t.TempDir(), "mnem")
	mustOK(t, os.WriteFile(small, []byte("program"), 0o755))
	programs, tests := make(map[string]string), make(map[string]string)
	for _, target := range platforms {
		programs[target], tests[target] = small, os.Args[0]
		err := errors.Join(m.archive(target, small), m.materials(target, os.Args[0]))
		if strings.HasPrefix(target, "linux/") {
			err = errors.Join(err, m.deb(target, small), m.rpm(target, small))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	mustOK(t, errors.Join(m.image(programs), m.seal(tests)))
	files := make(map[string][]byte)
	entries := mustGet(os.ReadDir(m.into))(t)
	for _, e := range entries {
		files[e.Name()] = mustGet(os.ReadFile(filepath.Join(m.into, e.Name())))(t)
	}
	return files
}

func TestFilesOfARelease(t *testing.T) {
	files := packed(t)
	for name, again := range packed(t) {
		if !bytes.Equal(files[name], again) {
			t.Errorf("%s differs between two builds of the same", name)
		}
	}
	t.Run("checksums", func(t *testing.T) { checkSums(t, files) })
	t.Run("archives", func(t *testing.T) { checkArchives(t, files) })
	t.Run("deb", func(t *testing.T) { checkDeb(t, files["mnem_1.2.3-rc.1_linux_arm64.deb"]) })
	t.Run("rpm", func(t *testing.T) { checkRPM(t, files["mnem_1.2.3-rc.1_linux_arm64.rpm"]) })
	t.Run("image", func(t *testing.T) { checkImage(t, files["mnem_1.2.3-rc.1_image.tar"]) })
	t.Run("manifests", func(t *testing.T) { checkManifests(t, files) })
	t.Run("materials", func(t *testing.T) { checkMaterials(t, files) })
}

// checkSums looks for every file in the list of checksums and in the provenance, which cannot list itself.
func checkSums(t *testing.T, files map[string][]byte) {
	var statement struct {
		Type    string `json:"_type"`
		Subject []struct {
			Name   string
			Digest map[string]string
		}
	}
	provenance := "mnem_1.2.3-rc.1_provenance.json"
	if err := json.Unmarshal(files[provenance], &statement); err != nil || statement.Type == "" {
		t.Fatal(err)
	}
	subjects := make(map[string]string)
	for _, s := range statement.Subject {
		subjects[s.Name] = s.Digest["sha256"]
	}
	if len(files) != 6+6+2+2+1+2+3 || len(subjects) != len(files)-2 {
		t.Errorf("%d files and %d subjects: %v", len(files), len(subjects), slices.Sorted(maps.Keys(files)))
	}
	for name, data := range files {
		found := fmt.Sprintf("%x", sha256.Sum256(data))
		if name != "checksums.txt" && !strings.Contains(string(files["checksums.txt"]), found+"  "+name+"\n") {
			t.Errorf("%s is in no list", name)
		}
		if name != "checksums.txt" && name != provenance && subjects[name] != found {
			t.Errorf("%s has the hash %s in the provenance", name, subjects[name])
		}
	}
}

// texts lists the files that every archive has besides the program.
var texts = []string{"CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "completions/_mnem", "completions/mnem.bash",
	"completions/mnem.fish", "man/man1/mnem.1", "man/man7/mnem-changes.7"}

func checkArchives(t *testing.T, files map[string][]byte) {
	for _, target := range platforms {
		name := "mnem_1.2.3-rc.1_" + strings.ReplaceAll(target, "/", "_")
		var found map[string]int64
		if strings.HasPrefix(target, "windows/") {
			found = zipModes(t, files[name+".zip"])
		} else {
			found = tarModes(t, unzipped(t, files[name+".tar.gz"]))
		}
		if found["mnem"] != 0o755 || len(found) != len(texts)+1 {
			t.Errorf("%s has %v", target, found)
		}
		for _, text := range texts {
			if found[text] != 0o644 {
				t.Errorf("%s has %s with mode %o", target, text, found[text])
			}
		}
	}
}

func zipModes(t *testing.T, data []byte) map[string]int64 {
	t.Helper()
	z := mustGet(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	modes := make(map[string]int64)
	for _, f := range z.File {
		modes[f.Name] = int64(f.Mode())
	}
	return modes
}

func unzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	z := mustGet(gzip.NewReader(bytes.NewReader(data)))(t)
	out := mustGet(io.ReadAll(z))(t)
	return out
}

// tarModes returns the modes of regular files. Every directory must come before what is in it.
func tarModes(t *testing.T, data []byte) map[string]int64 {
	t.Helper()
	modes, dirs := make(map[string]int64), map[string]bool{"./": true}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return modes
		} else if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			dirs[h.Name] = true
			continue
		}
		if dir := filepath.ToSlash(filepath.Dir(h.Name)) + "/"; !dirs[dir] {
			t.Errorf("%s comes before its directory", h.Name)
		}
		modes[h.Name] = h.Mode
	}
}

// checkDeb reads a package by its format; the dry run installs one.
func checkDeb(t *testing.T, data []byte) {
	rest, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	members := make(map[string][]byte)
	for ok && len(rest) >= 60 {
		var size int
		_, err := fmt.Sscan(string(rest[48:58]), &size)
		if err != nil || string(rest[58:60]) != "`\n" || 60+size > len(rest) {
			t.Fatalf("header %q: %v", rest[:60], err)
		}
		members[strings.TrimSpace(string(rest[:16]))] = rest[60 : 60+size]
		rest = rest[min(len(rest), 60+size+size%2):]
	}
	if len(rest) > 0 || len(members) != 3 || string(members["debian-binary"]) != "2.0\n" {
		t.Fatalf("members %v and %d bytes", slices.Collect(maps.Keys(members)), len(rest))
	}
	control := string(unzipped(t, members["control.tar.gz"]))
	for _, want := range []string{"\nVersion: 1.2.3~rc.1\n", "\nArchitecture: arm64\n", "  usr/share/doc/mnem/copyright\n"} {
		if !strings.Contains(control, want) {
			t.Errorf("control lacks %q", want)
		}
	}
	modes := tarModes(t, unzipped(t, members["data.tar.gz"]))
	if modes["usr/bin/mnem"] != 0o755 || modes["usr/share/man/man7/mnem-changes.7.gz"] != 0o644 || len(modes) != 7 {
		t.Errorf("files %v", modes)
	}
}

// checkRPM asks rpm, if there is one.
func checkRPM(t *testing.T, data []byte) {
	if !bytes.HasPrefix(data, []byte{0xed, 0xab, 0xee, 0xdb, 3, 0}) {
		t.Fatal("no package for RPM")
	}
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("no rpm")
	}
	at := filepath.Join(t.TempDir(), "a.rpm")
	mustOK(t, os.WriteFile(at, data, 0o644))
	out := mustGet(exec.Command("rpm", "--nosignature", "-qp", "--qf", "%{NAME} %{VERSION} %{ARCH} %{LICENSE}\n[%{FILEMODES:perms} %{FILENAMES}\n]", at).Output())(t)
	for _, want := range []string{"mnem 1.2.3~rc.1 aarch64 Apache-2.0\n", "-rwxr-xr-x /usr/bin/mnem\n", "-rw-r--r-- /usr/share/man/man1/mnem.1.gz\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}

// blob is how one part of an image names another.
type blob struct {
	Digest    string
	Size      int
	Platform  struct{ Architecture string }
	Manifests []blob
	Layers    []blob
	Config    *blob
}

// checkImage follows the digests of an image from its index down to the files.
func checkImage(t *testing.T, data []byte) {
	files := make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	read := func(b blob, to any) []byte {
		data := files["blobs/sha256/"+strings.TrimPrefix(b.Digest, "sha256:")]
		if len(data) != b.Size || b.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(data)) {
			t.Fatalf("%s has %d bytes, want %d", b.Digest, len(data), b.Size)
		}
		if to != nil {
			mustOK(t, json.Unmarshal(data, to))
		}
		return data
	}
	var top, index blob
	if err := json.Unmarshal(files["index.json"], &top); err != nil || len(top.Manifests) != 1 {
		t.Fatal(err, top)
	}
	read(top.Manifests[0], &index)
	var found []string
	for _, m := range index.Manifests {
		found = append(found, m.Platform.Architecture)
		var manifest blob
		read(m, &manifest)
		var config struct {
			Architecture string
			Config       struct{ User string }
			Rootfs       struct {
				DiffIDs []string `json:"diff_ids"`
			}
		}
		read(*manifest.Config, &config)
		layer := unzipped(t, read(manifest.Layers[0], nil))
		if want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); config.Rootfs.DiffIDs[0] != want || config.Config.User != "65532:65532" ||
			config.Architecture != m.Platform.Architecture {
			t.Errorf("configuration %+v, want the layer %s", config, want)
		}
		if modes := tarModes(t, layer); modes["usr/bin/mnem"] != 0o755 || modes["etc/ssl/certs/ca-certificates.crt"] != 0o644 {
			t.Errorf("files %v", modes)
		}
		if n := bytes.Count(layer, []byte("BEGIN CERTIFICATE")); n < 50 {
			t.Errorf("%d certificates", n)
		}
	}
	if !slices.Equal(found, []string{"amd64", "arm64"}) {
		t.Errorf("for %q", found)
	}
}

// checkManifests looks for addresses and hashes of archives.
func checkManifests(t *testing.T, files map[string][]byte) {
	for _, target := range platforms {
		manifest, name := "mnem.rb", "mnem_1.2.3-rc.1_"+strings.ReplaceAll(target, "/", "_")+".tar.gz"
		if strings.HasPrefix(target, "windows/") {
			manifest, name = "mnem.json", strings.TrimSuffix(name, ".tar.gz")+".zip"
		}
		for _, want := range []string{"https://example.invalid/files/v1.2.3-rc.1/" + name, fmt.Sprintf("%x", sha256.Sum256(files[name]))} {
			if !strings.Contains(string(files[manifest]), `"`+want+`"`) {
				t.Errorf("%s lacks %s", manifest, want)
			}
		}
	}
	if !json.Valid(files["mnem.json"]) {
		t.Error("the Scoop manifest is no JSON")
	}
	if script := string(files["install.sh"]); strings.Contains(script, "@VERSION@") || !strings.Contains(script, "version=1.2.3-rc.1\n") {
		t.Error("the installer has no version")
	}
}

func checkMaterials(t *testing.T, files map[string][]byte) {
	var bill struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, Purl string }
	}
	mustOK(t, json.Unmarshal(files["mnem_1.2.3-rc.1_linux_amd64.cdx.json"], &bill))
	var names []string
	for _, c := range bill.Components {
		names = append(names, c.Name)
	}
	for _, want := range []string{"std", "sentence-transformers/all-MiniLM-L6-v2", "github.com/google/rpmpack"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q lack %s", names, want)
		}
	}
}

// TestRefusedReleases checks that nothing is built, or removed, for a wrong version, platform or directory.
func TestRefusedReleases(t *testing.T) {
	for _, c := range []struct {
		version, target, want string
	}{
		{"v99.0.0", "linux/amd64", "but the clients"},
		{"v1.0", "linux/amd64", "but the clients"},
		{"", "plan9/386", "is none of"},
		{"", "linux/amd64", "is no earlier release"},
	} {
		into := t.TempDir()
		mustOK(t, os.WriteFile(filepath.Join(into, "diary"), []byte("x"), 0o644))
		m := &maker{into: into, node: into}
		if err := m.run(c.version, []string{c.target}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		if entries, err := os.ReadDir(into); err != nil || len(entries) != 1 {
			t.Errorf("%+v: left %v, %v", c, entries, err)
		}
	}
}

func mustOK(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustGet takes the results of a call, and returns a function that returns the value: mustGet(f())(t).
func mustGet[V any](v V, err error) func(t *testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		mustOK(t, err)
		return v
	}
}
