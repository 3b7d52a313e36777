package spec_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/memory/extract"
)

// runEntities finds what a text names.
func runEntities(t *testing.T, v vector) {
	var in struct {
		Text  string
		Known []string
	}
	parse(t, v.Input, &in)
	type entity struct {
		Kind, Key  string
		Start, End int
	}
	var want struct{ Entities []entity }
	parse(t, v.Expect, &want)
	got := []entity{}
	for _, e := range extract.Entities(in.Text, in.Known) {
		got = append(got, entity{string(e.Kind), e.Key, e.Start, e.End})
	}
	same(t, "entities", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want.Entities))
}

// runSignals finds what a text says of causes.
func runSignals(t *testing.T, v vector) {
	var in struct{ Text string }
	parse(t, v.Input, &in)
	type signal struct {
		Relation, Phrase string
		Start            int
		Cause, Effect    string
	}
	var want struct{ Signals []signal }
	parse(t, v.Expect, &want)
	got := []signal{}
	for _, g := range extract.Signals(in.Text) {
		got = append(got, signal{string(g.Relation), g.Phrase, g.Start, g.Cause, g.Effect})
	}
	same(t, "signals", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want.Signals))
}
