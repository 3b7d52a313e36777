package retrieve

import (
	"errors"
	"strings"
	"testing"
)

func TestExpansionBounds(t *testing.T) {
	for _, tt := range []struct {
		param     string
		good, bad Request
		reason    string
	}{
		{"expansion", withExpansion(ExpansionOptions{Expansion: PPR}),
			withExpansion(ExpansionOptions{Expansion: "PPR"}), "not lend, decay or ppr"},
		{"expand", Request{ExpansionOptions: ExpansionOptions{Expand: new(4)}},
			Request{ExpansionOptions: ExpansionOptions{Expand: new(5)}}, "0 to 4"},
		{"expand", Request{ExpansionOptions: ExpansionOptions{Expand: new(64), Expansion: PPR}},
			Request{ExpansionOptions: ExpansionOptions{Expand: new(65), Expansion: PPR}}, "0 to 64"},
		{"maxExpand", withExpansion(ExpansionOptions{MaxExpand: new(1000)}),
			withExpansion(ExpansionOptions{MaxExpand: new(1001)}), "1 to 1000"},
		{"maxExpand", withExpansion(ExpansionOptions{MaxExpand: new(1)}),
			withExpansion(ExpansionOptions{MaxExpand: new(0)}), "1 to 1000"},
		{"decay", withExpansion(ExpansionOptions{Expansion: Decay, Decay: new(65_536)}),
			withExpansion(ExpansionOptions{Expansion: Decay, Decay: new(65_537)}), "at most 1"},
		{"decay", withExpansion(ExpansionOptions{Expansion: Decay, Decay: new(1)}),
			withExpansion(ExpansionOptions{Expansion: Decay, Decay: new(0)}), "more than 0"},
		{"decay", Request{}, withExpansion(ExpansionOptions{Decay: new(5)}), "choose"},
		{"damping", withExpansion(ExpansionOptions{Expansion: PPR, Damping: new(65_535)}),
			withExpansion(ExpansionOptions{Expansion: PPR, Damping: new(65_536)}), "less than 1"},
		{"damping", Request{}, withExpansion(ExpansionOptions{Expansion: Decay, Damping: new(5)}),
			"choose"},
	} {
		if err := tt.good.Validate(); err != nil {
			t.Errorf("%s at its bound: %v", tt.param, err)
		}
		var re *RequestError
		if err := tt.bad.Validate(); !errors.As(err, &re) || re.Param != tt.param ||
			!strings.Contains(re.Reason, tt.reason) {
			t.Errorf("%s: error %v, want %q", tt.param, err, tt.reason)
		}
	}
}

func withExpansion(o ExpansionOptions) Request { return Request{ExpansionOptions: o} }
