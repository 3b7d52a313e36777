package text

import (
	_ "embed"
	"strings"
)

// kinTable has a line for each English term that has kin, in the order of bytes: the term and its kin with
// spaces between them. Package gen makes it of kin.txt.
//
//go:embed kin.tab
var kinTable string

// Kin returns the terms that may replace an analysed term if a question uses other words than the text, in byte
// order: none for most.
func (a *Analyzer) Kin(term string) []string {
	if !a.english {
		return nil
	}
	for low, high := 0, len(kinTable); low < high; { // bounds of lines
		at := strings.LastIndexByte(kinTable[low:(low+high)/2], '\n') + 1 + low
		line, _, _ := strings.Cut(kinTable[at:high], "\n")
		head, kin, _ := strings.Cut(line, " ")
		switch c := strings.Compare(term, head); {
		case c == 0:
			return strings.Fields(kin)
		case c < 0:
			high = at
		default:
			low = at + len(line) + 1
		}
	}
	return nil
}
