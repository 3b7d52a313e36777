package text

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestStands has titles of one term, which must occur in a text exactly, and longer ones.
func TestStands(t *testing.T) {
	a := analyzer(t, "en")
	for _, c := range []struct {
		text, title string
		want        bool
	}{
		{"Who wrote To Love in 1960?", "To Love", true},
		{"They came to love the sea.", "To Love", false},
		{"sung to Love", "To Love", true},
		{"they run", "Run", false},
		{"Runs fast", "Run", false},
		{"Run!", "Run", true},
		{"PreRun, then Run", "Run", true},
		{"fans of the Beatles", "The Beatles (band)", true},
		{"beatles", "The Beatles", false},
		{"best regards", "Regards", false},
		{"kelp forests grow", "Kelp Forest", true}, // two terms
		{"見る夢の本", "夢", true},
		{"é", "e\u0301 ", false},
		{"", "Run", false},
		{"Ru", "Run", false},
	} {
		must.Equal(t, a.Stands(c.text, c.title), c.want, c.title, " in ", c.text)
	}
}
