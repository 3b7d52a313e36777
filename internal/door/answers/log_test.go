package answers

import (
	"testing"

	"github.com/mnem-project/mnem/internal/verb/branching"
)

// TestMessageOrTitle: a title takes the place of messages that verbs write, never of what a person wrote.
func TestMessageOrTitle(t *testing.T) {
	const id = "0a7d5925-a919-ba3a-eec5-d6dc9aa03564"
	title := "TITLE"
	for message, titled := range map[string]bool{
		"": true, "forget " + id: true, "remember fact " + id: true, "remember " + id + " in place of " + id: true,
		"retire " + id + ", " + id + " and 3 more": true, "supersede " + id + " by " + id: true,
		"stale by their sources: " + id: true, "undo the mess made of " + id + ", see ticket 7": false,
		"forget " + id + ": it was wrong": false, "about " + id: false, "words": false,
	} {
		got := messageOrTitle(&branching.Commit{Message: message, Title: &title})
		if (got == title) != titled || !titled && got != message {
			t.Errorf("%q: %q", message, got)
		}
	}
}
