package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/mnem-project/mnem/internal/door/settings"
)

// page describes every command. A test holds it to the commands.
const page = "docs/reference/commands.md"

// commandRows counts commands and flags in the page, and settings.
func commandRows() ([]row, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, fmt.Errorf("%w: run it in the root of a checkout", err)
	}
	listed := regexp.MustCompile(`^- \[mnem ([a-z -]+)\]`)
	flag := regexp.MustCompile("^ +(?:-[A-Za-z], )?--([a-z-]+)")
	shown, hidden, recall := 0, 0, 0
	var commands []string
	section, flags := "", map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
		if m := listed.FindStringSubmatch(line); m != nil {
			commands = append(commands, m[1])
			switch {
			case strings.Contains(m[1], " "):
			case section == "Commands":
				shown++
			default:
				hidden++
			}
		}
		if m := flag.FindStringSubmatch(line); m != nil {
			flags[m[1]] = true
			if section == "mnem recall" {
				recall++
			}
		}
	}
	if shown == 0 || recall == 0 {
		return nil, fmt.Errorf("%s lists no commands or no flags of recall", page)
	}
	return []row{
		{"commands at the top (shown + hidden)", fmt.Sprintf("%d + %d", shown, hidden), "50"},
		{"leaf commands", fmt.Sprint(leaves(commands)), "100"},
		{"flags of recall", fmt.Sprint(recall), "18"},
		{"distinct flags", fmt.Sprint(len(flags)), "150"},
		{"settings", fmt.Sprint(len(settings.Keys())), "25"},
	}, nil
}

// leaves counts the commands that hold no others.
func leaves(commands []string) (n int) {
	all := "\n" + strings.Join(commands, "\n") + "\n"
	for _, c := range commands {
		if !strings.Contains(all, "\n"+c+" ") {
			n++
		}
	}
	return n
}
