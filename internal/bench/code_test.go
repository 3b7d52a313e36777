package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// codeQuestion asks about the code of this repository; one of the files answers it.
type codeQuestion struct {
	Text  string
	Files []string
}

// TestQuestionsAboutCode ingests this repository and asks where things are: how many questions have a right file
// among the first three items. The questions in held.jsonl were written before any was asked. What was tried was
// chosen by the others, but these were counted too each time. Those in third.jsonl were written
// later, and before any was asked; with them the files that .mnemignore names were chosen. Those in fourth.jsonl were
// asked once, after all that was tried with the others.
func TestQuestionsAboutCode(t *testing.T) {
	effort.Long(t)
	effort.Alone(t)
	root := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	w := newWorld(t)
	w.run(0, "init")
	w.run(0, "ingest", root, "--project", "mnem", "--quiet")
	paths := pathsOf(w)
	for _, set := range []struct {
		file  string
		floor int
	}{{"dev", 8}, {"held", 6}, {"third", 5}, {"fourth", 5}} {
		questions := codeQuestions(t, filepath.Join("testdata", "code", set.file+".jsonl"), root)
		for _, verb := range []string{"recall", "retrieve"} {
			found := 0
			for _, q := range questions {
				if files := firstFiles(w, paths, verb, q.Text); slices.ContainsFunc(files, func(f string) bool {
					return slices.Contains(q.Files, f)
				}) {
					found++
				} else {
					t.Logf("%s %q: %q", verb, q.Text, files)
				}
			}
			t.Logf("%s, %s: %d of %d", set.file, verb, found, len(questions))
			if found < set.floor {
				t.Errorf("%s, %s: %d of %d questions, want %d", set.file, verb, found, len(questions), set.floor)
			}
		}
	}
}

// codeQuestions reads questions, and checks that the files which answer them are still there.
func codeQuestions(t *testing.T, file, root string) (out []codeQuestion) {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var q codeQuestion
		must.OK(t, json.Unmarshal(lines.Bytes(), &q))
		q.Files = slices.DeleteFunc(q.Files, func(name string) bool {
			_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
			return err != nil
		})
		must.Require(t, len(q.Files) > 0, "%s: %q: none of its files is there any more", file, q.Text)
		out = append(out, q)
	}
	must.Require(t, len(out) >= 9, "%s: %d questions", file, len(out))
	return out
}

// firstFiles returns the files of the first three items.
func firstFiles(w *world, paths map[string]string, verb, text string) (files []string) {
	out, _ := w.run(0, verb, text, "--limit", "3", "--json")
	var answer struct{ Items []struct{ ID string } }
	must.OK(w.t, json.Unmarshal([]byte(out), &answer))
	for _, item := range answer.Items {
		files = append(files, paths[item.ID])
	}
	return files
}

// pathsOf returns the files that the nodes of the newest commit come from, by ids.
func pathsOf(w *world) map[string]string {
	out, _ := w.run(0, "ls", "--sources", "--all", "--json", "--limit", "0")
	var list struct {
		Nodes []struct {
			ID      string
			Sources []string
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Nodes) == 0 {
		w.t.Fatalf("%d sources, %v", len(list.Nodes), err)
	}
	paths := map[string]string{}
	for _, n := range list.Nodes {
		source := must.Get(sources.Parse(n.Sources[0]))(w.t)
		paths[n.ID] = source.Path
	}
	return paths
}
