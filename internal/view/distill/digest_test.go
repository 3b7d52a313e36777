package distill_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/distill"
)

// FuzzDecodeDigest: what is decoded encodes to the same bytes, and the rest is refused by one error.
func FuzzDecodeDigest(f *testing.F) {
	d := distill.Digest{
		Label: "31", At: "312", Members: 1, Text: []distill.Sentence{{Fact: idOf(1), Text: "It rains."}},
		Entries: []distill.Entry{{Totals: distill.Totals{Size: 3, Facts: 1, Tokens: 3, Until: graph.At(5)}}},
	}
	f.Add(d.Encode())
	f.Add([]byte{0xa0})
	f.Add([]byte("\xa1dkindfdigest"))
	f.Fuzz(func(t *testing.T, block []byte) {
		got, err := distill.DecodeDigest(block)
		switch {
		case err != nil && !errors.Is(err, distill.ErrInvalid):
			t.Errorf("error %v", err)
		case err == nil && !bytes.Equal(got.Encode(), block):
			t.Error("encodes to other bytes")
		}
	})
}

// TestSummarize: the order of sentences does not matter, the budget holds, and equal ones come once.
func TestSummarize(t *testing.T) {
	var list []distill.Sentence
	for i, s := range []string{"The refund failed on 3 May.", "The refund of invoice 9 was paid.", "It rains.",
		"The refund failed on 3 May.", "Invoice 9 is not paid."} {
		list = append(list, distill.Sentence{Fact: idOf(i), Created: graph.Time(i), Text: s})
	}
	want := distill.DefaultWeights().Summarize(list, 18)
	must.Require(t, len(want) >= 2, "%v", want)
	if n := distill.Tokens(distill.JoinText(want)); n > 18+len(want) || strings.Count(distill.JoinText(want), "3 May") != 1 {
		t.Errorf("%d tokens: %q", n, distill.JoinText(want))
	}
	slices.Reverse(list)
	must.Same(t, distill.DefaultWeights().Summarize(list, 18), want, "in another order")
}

func TestParseID(t *testing.T) {
	for _, id := range []string{"root", "root/0123", idOf(1).String(), idOf(1).String() + "/3"} {
		scope, label, ok := distill.ParseID(id)
		must.Check(t, ok && distill.DigestID(scope, label) == id, "%s: %s %q %v", id, scope, label, ok)
	}
	for _, id := range []string{"", "root/", "root/4", "root/3/1", "x", graph.ID{}.String(), "root/" + strings.Repeat("0", 97)} {
		_, _, ok := distill.ParseID(id)
		must.Check(t, !ok, "%q is taken for a digest", id)
	}
}
