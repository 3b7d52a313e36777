package upkeep

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestPurgeWantsToBeConfirmed: without a confirmation what would be erased is told, the repository is opened
// for reading alone, and the answer is a refusal.
func TestPurgeWantsToBeConfirmed(t *testing.T) {
	h := verbkit.NewHost(t)
	got, err := verbkit.Asks(t, h, &Purge.Spec, map[string]string{"node": "bob"})
	if len(got) != 1 || !got[0].(*Purged).DryRun || len(got[0].(*Purged).Erased) == 0 ||
		verb.OutcomeOf(t.Context(), err) != operation.Refused || slices.Contains(h.Opened, true) {
		t.Errorf("%v, %v, opened %v", got, err, h.Opened)
	}
	if local, remote := verb.HintOf(err, false), verb.HintOf(err, true); local != "give --yes to erase it" ||
		strings.Contains(remote, "--") {
		t.Errorf("hints %q and %q", local, remote)
	}
	got, err = verbkit.Asks(t, h, &Purge.Spec, map[string]string{"node": "bob", "dry-run": "true"})
	if len(got) != 1 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err = verbkit.Asks(t, h, &branching.Show.Spec, map[string]string{"name": "bob"}); err != nil {
		t.Errorf("bob is gone: %v", err)
	}
	got, err = verbkit.Asks(t, h, &Purge.Spec, map[string]string{"node": "bob", "yes": "true"})
	if err != nil || !got[0].(*Purged).Operation.Defined() || len(got[0].(*Purged).Branches) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err = verbkit.Asks(t, h, &branching.Show.Spec, map[string]string{"name": "bob"}); err == nil {
		t.Error("bob is there")
	}
}

func TestPurgeReadsTheText(t *testing.T) {
	h := verbkit.NewHost(t)
	for text, want := range map[string]string{
		"alice leads INFRA\r\n": "", "short": "has 5 bytes", "nobody says this\n": "not found",
	} {
		h.Files = map[string]string{"-": text}
		got, err := verbkit.Asks(t, h, &Purge.Spec, map[string]string{"node": "-", "dry-run": "true"})
		if (err == nil) != (want == "") || err == nil && len(got[0].(*Purged).Erased) == 0 {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, q := range []*PurgeRequest{
		{Node: "x", Yes: true, DryRun: true},
	} {
		if q.Check() == nil || q.Prompt([]string{"-"}) != "" {
			t.Errorf("%+v is not refused, or asks", q)
		}
	}
	if q := (&PurgeRequest{}); q.Prompt([]string{"-"}) == "" || q.Prompt([]string{"x"}) != "" {
		t.Error("a terminal is not asked")
	}
}
