package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// workers is how many files are packed at once: each holds a program of some 60 MB.
const workers = 2

// pack writes what holds the programs of platforms.
func (m *maker) pack(programs map[string]string) error {
	var steps []func() error
	for _, target := range platforms {
		if program := programs[target]; program != "" {
			steps = append(steps, m.steps(target, program)...)
		}
	}
	steps = append(steps, func() error { return m.image(programs) })
	steps = append(steps, m.clients(programs)...)
	errs := make([]error, len(steps))
	var group sync.WaitGroup
	turns := make(chan struct{}, workers)
	for i, step := range steps {
		turns <- struct{}{}
		group.Go(func() {
			errs[i] = step()
			<-turns
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// steps are those for one platform.
func (m *maker) steps(target, program string) []func() error {
	list := []func() error{
		func() error { return m.archive(target, program) },
		func() error { return m.materials(target, program) },
	}
	if strings.HasPrefix(target, "linux/") {
		list = append(list, func() error { return m.deb(target, program) }, func() error { return m.rpm(target, program) })
	}
	return list
}

// base is the name of a file of a platform, without its ending.
func (m *maker) base(target string) string {
	return "mnem_" + m.version + "_" + strings.ReplaceAll(target, "/", "_")
}

// archive writes the program with its texts: a zip for Windows, else a tar.
func (m *maker) archive(target, program string) error {
	files, err := m.program(program, filepath.Base(program))
	if err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(m.root, name))
		if err != nil {
			return err
		}
		files = append(files, file{name, 0o644, data})
	}
	for _, f := range m.shells {
		files = append(files, file{"completions/" + f.name, f.mode, f.data})
	}
	for _, f := range m.pages {
		files = append(files, file{"man/man" + f.name[len(f.name)-1:] + "/" + f.name, f.mode, f.data})
	}
	if strings.HasPrefix(target, "windows/") {
		return m.write(m.base(target)+".zip", func(w io.Writer) error { return writeZip(w, files, m.time) })
	}
	return m.write(m.base(target)+".tar.gz", func(w io.Writer) error { return writeTarGz(w, files, m.time) })
}

// program reads a program and returns it under a name.
func (m *maker) program(path, name string) ([]file, error) {
	data, err := os.ReadFile(path)
	return []file{{name, 0o755, data}}, err
}

// clients writes the wheels and npm packages, by the scripts of the clients.
func (m *maker) clients(programs map[string]string) []func() error {
	python := func() error {
		for _, target := range platforms {
			if programs[target] == "" {
				continue
			}
			err := m.command([]string{"PYTHONDONTWRITEBYTECODE=1"}, "python3", "clients/python/build_wheels.py", m.into, target,
				"--program", programs[target])
			if err != nil {
				return err
			}
		}
		return nil
	}
	node := func() error {
		args := []string{filepath.Join(m.node, "pack.mjs"), m.into}
		for _, target := range platforms {
			if programs[target] != "" {
				args = append(args, npmName(target)+"="+programs[target])
			}
		}
		return m.command(nil, "node", args...)
	}
	var steps []func() error
	if _, err := exec.LookPath("python3"); err != nil {
		m.skipped = append(m.skipped, "wheels: no Python")
	} else {
		steps = append(steps, python)
	}
	switch _, err := exec.LookPath("npm"); {
	case err != nil:
		m.skipped = append(m.skipped, "npm packages: no npm")
	case !m.hasCompiler():
		m.skipped = append(m.skipped, "npm packages: no TypeScript: run 'npm install' in clients/typescript")
	default:
		steps = append(steps, node)
	}
	return steps
}

func (m *maker) hasCompiler() bool {
	_, err := os.Stat(filepath.Join(m.node, "node_modules/typescript"))
	return err == nil
}

// npmName is a platform as Node names it.
func npmName(target string) string {
	return strings.NewReplacer("windows", "win32", "amd64", "x64", "/", "-").Replace(target)
}

// command runs a program in the root of the sources, with variables besides the environment.
func (m *maker) command(variables []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = m.root, append(os.Environ(), variables...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// output runs a program in the root of the sources and returns what it prints.
func (m *maker) output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = m.root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
		}
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(out), nil
}

func sortFiles(files []file) {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
}
