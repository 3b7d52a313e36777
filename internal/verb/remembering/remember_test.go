package remembering

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	rememberpkg "github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb"
)

// TestRememberReadsBeforeItOpens: texts, lines and vectors are there before the repository is opened, and
// what is wrong with them keeps it closed.
func TestRememberReadsBeforeItOpens(t *testing.T) {
	h := verbkit.NewHost(t)
	h.Files = map[string]string{
		"a": "\xef\xbb\xbfThe harbour has nine berths", "v": "[0.5,1]", "-": "Piped in",
		"lines": `{"text":"Two of them are dry","tags":["t"]}` + "\n\n" + `{"text":"Two of them are dry."}`,
		"bad":   `{"text":"x"}` + "\n" + `{"text":"x","foo":1}`, "long": strings.Repeat("x", graph.MaxText+1),
	}
	for _, tt := range []struct {
		values  map[string]string
		want    string // of each memory, what became of it
		refused string
	}{
		{map[string]string{"file": "a", "vector": "m=@v"}, "added", ""},
		{map[string]string{"text": "-"}, "added", ""},
		{map[string]string{"batch": "lines", "embed": "hash"}, "added duplicate", ""},
		{map[string]string{"text": "Two of them are dry"}, "duplicate", ""},
		{map[string]string{"batch": "bad"}, "", "bad:2: foo: no such member"},
		{map[string]string{"file": "long"}, "", "more than 8000 characters"},
		{map[string]string{"file": "none"}, "", "no file none"},
		{map[string]string{}, "", "want a TEXT"},
		{map[string]string{"text": "x", "batch": "lines"}, "", "want a TEXT"},
		{map[string]string{"text": "x", "set": "keep=true"}, "", "in a command of its own"},
		{map[string]string{"text": "x", "importance": "0"}, "", "0, want 1 to 5"},
		{map[string]string{"text": "x", "vector": "m=@v", "embed": "hash"}, "", "exclude each other"},
	} {
		h.Opened = nil
		got, err := verbkit.Asks(t, h, &Remember.Spec, tt.values)
		var became []string
		for _, res := range got {
			became = append(became, string(res.(*Remembered).Action))
		}
		if strings.Join(became, " ") != tt.want || (err == nil) != (tt.refused == "") ||
			err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%v: %v, %v", tt.values, became, err)
		}
		if tt.refused != "" && len(h.Opened) > 0 {
			t.Errorf("%v: the repository was opened", tt.values)
		}
	}
}

// TestRememberRefusesTimes gives the fields for times what is none.
func TestRememberRefusesTimes(t *testing.T) {
	req := new(RememberRequest)
	for _, f := range Remember.Fields() {
		if f.Name != "expires" && f.Name != "valid-from" && f.Name != "valid-to" {
			continue
		}
		if err := f.Set(req, []string{"soon"}); err == nil || !strings.Contains(err.Error(), "--"+f.Name+": ") {
			t.Errorf("%s: soon: %v", f.Name, err)
		}
		if err := f.Set(req, []string{"2026-11-29"}); err != nil {
			t.Error(err)
		}
	}
	if want := graph.At(1795910400000000); req.Expires != want || req.ValidFrom != want || req.ValidTo != want {
		t.Errorf("%v, %v and %v", req.Expires, req.ValidFrom, req.ValidTo)
	}
}

// TestRememberTellsPeople: after the memories people are told what was done, programs are not.
func TestRememberTellsPeople(t *testing.T) {
	h := verbkit.NewHost(t)
	h.People = true
	got, err := verbkit.Asks(t, h, &Remember.Spec, map[string]string{"text": " The pier is closed ", "dry-run": "true"})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d answers, %v", len(got), err)
	}
	one, all := got[0].(*Remembered), got[1].(*RememberedAll)
	if one.Text != " The pier is closed " || one.Commit.Defined() || !all.DryRun ||
		all.Actions[rememberpkg.Added] != 1 || all.NoChange {
		t.Errorf("%+v, %+v", one, all)
	}
}

func TestSetRememberParam(t *testing.T) {
	h := verbkit.NewHost(t)
	got, err := verbkit.Asks(t, h, &Remember.Spec, map[string]string{"set": "similarFrom=0.5"})
	if err != nil || got[0].(*RememberSettings).SimilarFrom != 1<<15 {
		t.Errorf("%v, %v", got, err)
	}
	for _, value := range []string{"keep=perhaps", "similarFrom=2", "duplicateAbove=0", "colour=red", "keep"} {
		var usage verb.UsageError
		if _, err := verbkit.Asks(t, h, &Remember.Spec, map[string]string{"set": value}); !errors.As(err, &usage) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestRememberLeavesFilesHere: remote callers have lines, and name no file or model.
func TestRememberLeavesFilesHere(t *testing.T) {
	for _, o := range Remember.Operations() {
		for _, name := range []string{"file", "batch", "vector", "set", "author", "key", "sign"} {
			if o.Param(name) != nil {
				t.Errorf("%s has %s", o.Name, name)
			}
		}
		if p := o.Param("embed"); p == nil || p.True != verb.Configured {
			t.Errorf("%s: embed is %+v", o.Name, p)
		}
		if (o.Param("lines") != nil) != strings.HasSuffix(o.Name, "_batch") {
			t.Errorf("%s: lines are not of batches alone", o.Name)
		}
	}
}
