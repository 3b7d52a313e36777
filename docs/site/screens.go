package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A step is one command of a page: of a screen, which also shows its output, or a block that must succeed.
type step struct {
	command     string
	output      string
	screen      bool
	first, last int // the lines of the output, from 0; last is not one of them
}

// steps returns the commands of a page: every block of sh or console that no "not run" comment precedes, and every
// comment that begins with "run:". A block after a comment "file: NAME" is written to that file.
func steps(lines []string) ([]step, error) {
	var all []step
	for i := 0; i < len(lines); i++ {
		if text, ok := strings.CutPrefix(lines[i], "<!-- run: "); ok {
			all = append(all, step{command: strings.TrimSuffix(text, " -->")})
			continue
		}
		kind, fence := strings.CutPrefix(lines[i], "```")
		if !fence {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: the block has no end", i+1)
		}
		before, body := "", strings.Join(lines[i+1:end], "\n")
		if i > 0 {
			before = lines[i-1]
		}
		name, file := strings.CutPrefix(before, "<!-- file: ")
		switch {
		case file:
			all = append(all, step{command: "cat >" + strings.TrimSuffix(name, " -->") + " <<'END'\n" + body + "\nEND"})
		case strings.HasPrefix(before, "<!-- not run: "):
		case kind == "sh":
			all = append(all, step{command: body})
		case kind == "console":
			shown, err := screen(lines, i+1, end)
			if err != nil {
				return nil, err
			}
			all = append(all, shown...)
		}
		i = end
	}
	return all, nil
}

// screen reads a block of "$ COMMAND" lines, continued by "> " lines, each with its output.
func screen(lines []string, from, to int) ([]step, error) {
	var all []step
	for i := from; i < to; {
		command, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			return nil, fmt.Errorf("line %d: a screen begins with a command", i+1)
		}
		for i++; i < to && strings.HasPrefix(lines[i], "> "); i++ {
			command += "\n" + lines[i][2:]
		}
		first := i
		for i < to && !strings.HasPrefix(lines[i], "$ ") {
			i++
		}
		all = append(all, step{command, strings.Join(lines[first:i], "\n"), true, first, i})
	}
	return all, nil
}

// surroundings describes a machine. Pages run with git, the README also without it and within a work tree. In a work tree
// only failures count, since outputs have hints about git.
type surroundings struct {
	name          string
	git, worktree bool
}

// clients are programs that 'mnem integrate' looks for; no surroundings have one.
var clients = []string{"claude", "cursor", "cursor-agent", "code", "codex", "gemini", "opencode", "cn", "zed", "copilot", "mnem"}

// programs makes a directory of links to the system's programs, without clients.
func programs(dir string, git bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, from := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		found, _ := os.ReadDir(from)
		for _, f := range found {
			if slices.Contains(clients, f.Name()) || !git && strings.HasPrefix(f.Name(), "git") {
				continue
			}
			err := os.Symlink(filepath.Join(from, f.Name()), filepath.Join(dir, f.Name()))
			if err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
	}
	return nil
}

// install puts the program into a home.
func install(mnem, home string) error {
	data, err := os.ReadFile(mnem)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Join(home, "bin"), 0o755), os.WriteFile(filepath.Join(home, "bin", "mnem"), data, 0o755))
}

const mark = "\x01"

// run gives the commands of a page to one shell in a new home and returns the output of each.
func (s surroundings) run(mnem string, all []step) (outputs []string, failed []bool, err error) {
	tmp, err := os.MkdirTemp("", "pages")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(tmp)
	home := filepath.Join(tmp, "ada")
	project := filepath.Join(home, "project")
	if err := errors.Join(os.MkdirAll(project, 0o755), install(mnem, home), programs(filepath.Join(tmp, "bin"), s.git)); err != nil {
		return nil, nil, err
	}
	var script strings.Builder
	if s.worktree {
		script.WriteString("git init -q -b main\n")
	}
	for _, step := range all {
		fmt.Fprintf(&script, "{\n%s\n} 2>&1\nprintf '%s%%d%s' $?\n", step.command, mark, mark)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", script.String())
	shell.Dir = project
	shell.WaitDelay = time.Second
	shell.Env = []string{"HOME=" + home, "USER=ada", "LOGNAME=ada", "MNEM_AUTHOR=ada",
		"TMPDIR=" + tmp, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore", "PYTHONPATH=" + filepath.Join(top, "clients", "python", "src"), "TOP=" + top, "XDG_RUNTIME_DIR=" + tmp, "LANG=C.UTF-8", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org"}
	tools, err := exec.Command("go", "env", "GOROOT", "GOCACHE", "GOMODCACHE", "GOPROXY").Output() // for the page of Go
	if err != nil {
		return nil, nil, err
	}
	values := strings.Split(string(tools), "\n")
	shell.Env = append(shell.Env, "GOCACHE="+values[1], "GOMODCACHE="+values[2], "GOPROXY="+values[3],
		"PATH="+strings.Join([]string{filepath.Join(home, "bin"), filepath.Join(tmp, "bin"), filepath.Join(values[0], "bin")}, ":"))
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	if err := shell.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, nil, fmt.Errorf("%w\n%s", err, out.String())
	}
	parts := strings.Split(strings.ReplaceAll(out.String(), tmp+"/ada", "/home/ada"), mark)
	if len(parts) != 2*len(all)+1 {
		return nil, nil, fmt.Errorf("%d commands gave %d outputs: %s", len(all), len(parts)/2, out.String())
	}
	for i := range all {
		outputs = append(outputs, strings.TrimRight(parts[2*i], "\n"))
		failed = append(failed, parts[2*i+1] != "0")
	}
	return outputs, failed, nil
}

// varying matches parts of outputs that differ from run to run.
const varying = `mnem_\w+|mnem-ed25519-\w+|ssh-ed25519 \S+|(age1|bafy|SHA256:)[\w+/=-]+…?|\b[a-z2-7]{4}(-[a-z2-7]{4}){3}\b` +
	`|\b[a-z2-7]{8}\b|\b[0-9a-f]{8}(-[0-9a-f-]{27})?\b|\b[0-9a-f]{7,64}\b|\b[a-z2-7]{12}\b` +
	`|\b\d{4}-\d\d-\d\d(T[\d:.]+Z?)?|\b[\d.]+ ?(B|KiB|MiB|ms|µs|s)\b|127\.0\.0\.1:\d+`

// same tells whether a page shows an output. A shown line "…" matches any lines.
func same(shown, got string) bool {
	parts := regexp.MustCompile(varying)
	plain := func(s string) string { return parts.ReplaceAllString(s, "~") }
	pattern := regexp.QuoteMeta(plain(shown) + "\n")
	pattern = strings.ReplaceAll(pattern, "…\n", "(?:[^\n]*\n)*")
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(plain(got) + "\n")
}

// screens runs the commands of a page, compares the outputs and, if rewrite is set, writes those that differ.
func screens(page, mnem string, s surroundings, rewrite bool) (int, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return 0, err
	}
	lines := strings.Split(string(text), "\n")
	all, err := steps(lines)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	outputs, failed, err := s.run(mnem, all)
	if err != nil {
		return 0, err
	}
	var problems []error
	differ := false
	for i, step := range all {
		switch {
		case failed[i] && (!step.screen || s.worktree):
			problems = append(problems, fmt.Errorf("this fails %s:\n%s\n%s", s.name, step.command, outputs[i]))
		case !step.screen || s.worktree || same(step.output, outputs[i]):
		case rewrite:
			differ = true
		default:
			problems = append(problems, fmt.Errorf("$ %s\nprints %s:\n%s\nand the page shows:\n%s", step.command, s.name, outputs[i], step.output))
		}
	}
	if differ {
		for i := len(all) - 1; i >= 0; i-- {
			if step := all[i]; step.screen {
				lines = slices.Replace(lines, step.first, step.last, shortened(step.output, outputs[i])...)
			}
		}
		problems = append(problems, os.WriteFile(page, []byte(strings.Join(lines, "\n")), 0o644))
	}
	return len(all), errors.Join(problems...)
}

// shortened returns the lines of an output, without those for which the page shows "…".
func shortened(shown, got string) []string {
	if got == "" {
		return nil
	}
	lines, before := strings.Split(got, "\n"), strings.Split(shown, "\n")
	if at := slices.Index(before, "…"); at >= 0 && same(shown, got) {
		return slices.Concat(lines[:at], []string{"…"}, lines[len(lines)-(len(before)-at-1):])
	}
	return lines
}
