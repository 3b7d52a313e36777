package cli

import (
	"fmt"

	"github.com/mnem-project/mnem/retrieve"
)

// membershipJSON says which community raised an item, or brought it in.
type membershipJSON struct {
	Number int    `json:"number"`
	Size   int    `json:"size"`
	Seed   string `json:"seed"`
}

func jsonMembership(m *retrieve.Membership) *membershipJSON {
	if m == nil {
		return nil
	}
	return &membershipJSON{m.Number + 1, m.Size, m.Seed.String()}
}

// membershipText is a community and what led to it, as in "community 3 of 12 nodes, that of alice".
func (a *answerer) membershipText(m *retrieve.Membership) string {
	return fmt.Sprintf("community %d of %s, that of %s", m.Number+1, plural(m.Size, "node"),
		a.nameOf(m.Seed))
}

// summaryJSON is the summary of an answer.
type summaryJSON struct {
	Sentences []sentenceJSON `json:"sentences"`
	Tokens    int            `json:"tokens"`
}

type sentenceJSON struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func jsonSummary(s *retrieve.Summary) summaryJSON {
	out := summaryJSON{Sentences: make([]sentenceJSON, len(s.Sentences)), Tokens: s.Tokens}
	for i, one := range s.Sentences {
		out.Sentences[i] = sentenceJSON{one.ID.String(), one.Text}
	}
	return out
}

// printSummary prints the summary behind the items and an empty line.
func (a *answerer) printSummary(s *retrieve.Summary) error {
	if s == nil || s.Rendered == "" {
		return nil
	}
	return a.c.printf("\n%s", s.Rendered)
}
