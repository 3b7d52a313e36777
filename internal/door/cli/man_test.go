package cli

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestManualHasEveryCommand looks for the page of each command and topic, and for every request in it: a line of text
// must not be one.
func TestManualHasEveryCommand(t *testing.T) {
	pages := make(map[string]string)
	for _, p := range Manual() {
		pages[p.File] = p.Text
	}
	wanted := []string{"mnem.1"}
	eachCommand(func(_ string, cmd *cobra.Command) { wanted = append(wanted, manName(cmd)+".1") })
	for _, topic := range topics() {
		wanted = append(wanted, "mnem-"+topic.Name+".7")
	}
	for _, file := range wanted {
		must.True(t, pages[file] != "", "no page %s", file)
	}
	requests := []string{".TH ", ".nh", ".ad l", ".SH ", ".nf", ".fi", ".TP", ".B "}
	for file, text := range pages {
		for line := range strings.Lines(text) {
			known := false
			for _, r := range requests {
				known = known || strings.HasPrefix(line, r)
			}
			if line[0] == '\'' || line[0] == '.' && !known {
				t.Errorf("%s: formatters obey the line %q", file, line)
			}
		}
	}
}

// TestManualKeepsTexts formats pages as man does, and looks for the texts of the command in what it prints.
func TestManualKeepsTexts(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("no groff")
	}
	hostile := topic{"x", "short", ".SH not a section\n'br not a request\n\\fBnot bold\\fR\n\n  a\\tb -x 'y' `z` ^ ~ \"q\" …"}
	check := func(page, text string) {
		cmd := exec.Command("groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-P-cbou", "-rLL=200n")
		cmd.Stdin = strings.NewReader(page)
		var warned bytes.Buffer
		cmd.Stderr = &warned
		out, err := cmd.Output()
		if err != nil || warned.Len() > 0 {
			t.Fatalf("groff: %v\n%s", err, &warned)
		}
		for line := range strings.Lines(text) {
			must.Contain(t, string(out), strings.TrimRight(line, "\n"), "not printed: ", line, " ", out)
		}
	}
	check(manTopic(hostile), hostile.Long)
	for _, topic := range topics() {
		check(manTopic(topic), topic.Long)
	}
	tried := 0
	eachCommand(func(path string, cmd *cobra.Command) {
		if tried++; tried%8 == 1 {
			check(manCommand(cmd), cmd.Long+"\n"+cmd.Example)
		}
	})
	must.True(t, tried >= 25, "only %d commands", tried)
}
