package capture

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestBear is about what a memory must share with a prompt.
func TestBear(t *testing.T) {
	for _, c := range []struct {
		prompt string
		terms  []string
		bears  bool
	}{
		{"why does libvips fail", []string{"libvip"}, true},        // rare
		{"the prices of the newsletter", []string{"price"}, false}, // known
		{"is the discount in the prices?", []string{"price", "discount"}, true},
		{"what should this do with the file", []string{"file"}, false}, // common
		{"what should this do with the file and the list", []string{"file", "list", "do"}, false},
		{"port 4411 please", []string{"4411"}, true},
		{"in 12 days", []string{"12"}, false},
		{"why does libvips fail", []string{"postgr"}, false}, // not of the prompt
		{"why does libvips fail", nil, false},
		{"", []string{"libvip"}, false},
		{"予約の間隔は", []string{"予約", "間隔"}, true},
		{"\xff\xfe libvips \x00", []string{"libvip"}, true},
	} {
		w := WordsOf(c.prompt)
		must.Equal(t, w.Bear(c.terms), c.bears, c.prompt, " and ", c.terms, ": ", w)
	}
}
