// Command release builds mnem for each platform and packs it: archives, packages for Debian and for RPM, an OCI image,
// wheels and npm packages, bills of materials, checksums, a provenance statement, and manifests for Homebrew and Scoop.
// The same sources, tools and arguments give the same bytes. docs/internals/releases.md says how it is used.
//
//	go run . [-version v0.1.0] [-into DIR] [-host URL] [-typescript DIR] [GOOS/GOARCH …]
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// platforms are built if none is named.
var platforms = []string{
	"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
}

// A maker builds one release.
type maker struct {
	root    string // of the sources
	into    string // where files are written
	host    string // the URL that a version's files are below
	node    string // the sources of the client for TypeScript, with what 'npm install' puts there
	version string // without v
	tagged  bool   // the programs must say this version
	commit  string // of the sources
	time    time.Time
	pages   []file // of the manual
	shells  []file // completions
	skipped []string
}

func main() {
	m := &maker{}
	var version string
	flag.StringVar(&version, "version", "", "release this `TAG`, which must be checked out; default: try that of the clients")
	flag.StringVar(&m.into, "into", "dist", "write into `DIR`")
	flag.StringVar(&m.host, "host", "https://github.com/mnem-project/mnem/releases/download",
		"files of version V are offered below `URL`/V")
	flag.StringVar(&m.node, "typescript", "../clients/typescript", "pack the client for TypeScript in `DIR`, after 'npm install' there")
	flag.Parse()
	if err := m.run(version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (m *maker) run(version string, targets []string) error {
	if len(targets) == 0 {
		targets = platforms
	}
	for _, t := range targets {
		if !slices.Contains(platforms, t) {
			return fmt.Errorf("%s is none of %s", t, strings.Join(platforms, ", "))
		}
	}
	if err := m.prepare(version); err != nil {
		return err
	}
	programs := make(map[string]string)
	for _, t := range targets {
		program, err := m.build(t)
		if err != nil {
			return err
		}
		programs[t] = program
	}
	if err := m.describe(programs); err != nil {
		return err
	}
	if err := m.pack(programs); err != nil {
		return err
	}
	if err := m.seal(programs); err != nil {
		return err
	}
	for _, s := range m.skipped {
		fmt.Println("skipped:", s)
	}
	return nil
}

// release matches a version without its leading v.
const release = `^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`

// prepare empties the directory, and takes version and time from the sources.
func (m *maker) prepare(version string) (err error) {
	if m.root, err = filepath.Abs(".."); err != nil {
		return err
	}
	for _, dir := range []*string{&m.into, &m.node} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	clients, err := m.clientVersions()
	if err != nil {
		return err
	}
	m.tagged, m.version = version != "", clients
	if m.tagged {
		m.version = strings.TrimPrefix(version, "v")
	}
	if !regexp.MustCompile(release).MatchString(m.version) || m.version != clients {
		return fmt.Errorf("release %s, but the clients for Python and TypeScript have version %s", version, clients)
	}
	if m.commit, m.time, err = m.source(); err != nil {
		return err
	}
	if _, err := os.Stat(m.into); err == nil && !m.made() {
		return fmt.Errorf("%s exists and is no earlier release", m.into)
	}
	if err := os.RemoveAll(m.into); err != nil {
		return err
	}
	return os.MkdirAll(m.into, 0o755)
}

// made reports whether the directory is empty or has an earlier release, so that it may be emptied.
func (m *maker) made() bool {
	entries, err := os.ReadDir(m.into)
	return err == nil && (len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "programs" }))
}

// versions are the places that name the version of the clients.
var versions = map[string]string{
	"clients/python/src/mnem/_version.py": `__version__ = "([^"]+)"`,
	"clients/python/pyproject.toml":       `(?m)^version = "([^"]+)"`,
	"clients/typescript/src/version.ts":   `VERSION = "([^"]+)"`,
	"clients/typescript/package.json":     `"(?:version|@mnem/[^"]+)": "([^"]+)"`,
}

// clientVersions returns the version that both clients have in all places.
func (m *maker) clientVersions() (string, error) {
	version := ""
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		data, err := os.ReadFile(filepath.Join(m.root, name))
		if err != nil {
			return "", err
		}
		found := regexp.MustCompile(versions[name]).FindAllSubmatch(data, -1)
		if found == nil {
			return "", fmt.Errorf("%s has no version", name)
		}
		for _, f := range found {
			if version == "" {
				version = string(f[1])
			}
			if string(f[1]) != version {
				return "", fmt.Errorf("%s has version %s, and another place %s", name, f[1], version)
			}
		}
	}
	return version, nil
}

// source returns the commit of the sources and its time, which all files of the release get.
func (m *maker) source() (string, time.Time, error) {
	out, err := m.output("git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return "", time.Time{}, err
	}
	var commit string
	var seconds int64
	if _, err := fmt.Sscan(out, &commit, &seconds); err != nil {
		return "", time.Time{}, fmt.Errorf("time of the commit: %w", err)
	}
	return commit, time.Unix(seconds, 0).UTC(), nil
}

// build compiles the program for a platform and returns its path.
func (m *maker) build(target string) (string, error) {
	system, processor, _ := strings.Cut(target, "/")
	program := filepath.Join(m.into, "programs", system+"-"+processor, "mnem")
	if system == "windows" {
		program += ".exe"
	}
	err := m.command([]string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + processor},
		"go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/mnem")
	return program, err
}

// describe asks a program of this platform for its version and completions, and makes the manual.
func (m *maker) describe(programs map[string]string) error {
	program := programs[runtime.GOOS+"/"+runtime.GOARCH]
	if program == "" {
		temporary, err := m.build(runtime.GOOS + "/" + runtime.GOARCH)
		if err != nil {
			return err
		}
		defer os.RemoveAll(filepath.Dir(temporary))
		program = temporary
	}
	said, err := m.output(program, "--version")
	if err != nil {
		return err
	}
	if m.tagged && !strings.HasSuffix(strings.TrimSpace(said), " v"+m.version) {
		return fmt.Errorf("the program says %q: check out the tag v%s, without changes, in a clone and not a work tree of git",
			strings.TrimSpace(said), m.version)
	}
	for shell, name := range map[string]string{"bash": "mnem.bash", "zsh": "_mnem", "fish": "mnem.fish", "powershell": "mnem.ps1"} {
		script, err := m.output(program, "completion", shell)
		if err != nil {
			return err
		}
		m.shells = append(m.shells, file{name, 0o644, []byte(script)})
	}
	sortFiles(m.shells)
	return m.manual()
}

func (m *maker) manual() error {
	temporary, err := os.MkdirTemp("", "mnem-man-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if err := m.command(nil, "go", "run", "./internal/door/cli/man", temporary); err != nil {
		return err
	}
	entries, err := os.ReadDir(temporary)
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(temporary, e.Name()))
		if err != nil {
			return err
		}
		m.pages = append(m.pages, file{e.Name(), 0o644, data})
	}
	if len(m.pages) == 0 {
		return fmt.Errorf("the manual has no pages")
	}
	return nil
}
