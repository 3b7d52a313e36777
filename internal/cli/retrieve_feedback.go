package cli

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// feedbackJSON is a term that feedback added to a query, with its weight in units of 2^-16.
type feedbackJSON struct {
	Term   string `json:"term"`
	Weight int64  `json:"weight"`
}

func jsonFeedback(list []retrieve.FeedbackTerm) []feedbackJSON {
	out := make([]feedbackJSON, len(list))
	for i, t := range list {
		out[i] = feedbackJSON(t)
	}
	return out
}

// printFeedback says which terms were added to a query, if any were. A word of the query weighs 1.
func (a *answerer) printFeedback(ans *retrieve.Answer) error {
	if len(ans.Feedback) == 0 {
		return nil
	}
	parts := make([]string, len(ans.Feedback))
	for i, t := range ans.Feedback {
		parts[i] = fmt.Sprintf("%s %.3f", line(t.Term), float64(t.Weight)/(1<<16))
	}
	return a.c.printf("added terms: %s\n", strings.Join(parts, ", "))
}

// termsText names the terms of a query that an item has, and sums up those that were added.
func termsText(terms []repo.TermScore) string {
	var words []string
	added := int64(0)
	for _, t := range terms {
		switch {
		case t.Added:
			added += t.Score
		case t.ReadAs != "":
			words = append(words, fmt.Sprintf("%s read as %s %d", line(t.Term), line(t.ReadAs), t.Score))
		default:
			words = append(words, fmt.Sprintf("%s %d", line(t.Term), t.Score))
		}
	}
	if added > 0 {
		words = append(words, fmt.Sprintf("added terms %d", added))
	}
	return strings.Join(words, ", ")
}
