package stage

import (
	"errors"
	"testing"

	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

func TestExpansionMembers(t *testing.T) {
	text := `{"text":"x","expansion":"ppr","damping":0.5,"max-expand":7,"expand":64}`
	q, err := complete.ParseRequestJSON(parsed(t, text), retrieve.Request{})
	must.OK(t, err)
	want := retrieve.Request{Text: "x", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(64),
		Expansion: retrieve.PPR, MaxExpand: new(7), Damping: new(32_768),
	}}
	must.Equal(t, diff(want, q.Request), "")
	for text, param := range map[string]string{
		`{"expansion":"pagerank"}`:           "expansion",
		`{"expansion":1}`:                    "expansion",
		`{"max-expand":0}`:                   "max-expand",
		`{"max-expand":"3"}`:                 "max-expand",
		`{"decay":0.5,"expansion":"ppr"}`:    "decay",
		`{"decay":1.5,"expansion":"decay"}`:  "decay",
		`{"damping":1,"expansion":"ppr"}`:    "damping",
		`{"damping":null,"expansion":"ppr"}`: "damping",
		`{"expand":65,"expansion":"ppr"}`:    "expand",
	} {
		_, err := complete.ParseRequestJSON(parsed(t, text), retrieve.Request{})
		var re *retrieve.RequestError
		if !errors.As(err, &re) || re.Param != param {
			t.Errorf("%s: error %v, want one of %s", text, err, param)
		}
	}
}
