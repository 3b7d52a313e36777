package retrieve

import (
	"testing"

	"github.com/mnem-project/mnem/ipld"
)

// TestParams: every parameter can be found by its name and by its member.
func TestParams(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range params {
		if p.read == nil || seen[p.name] || seen["member "+p.member] {
			t.Errorf("%s, member %s: twice, or read from no member", p.name, p.member)
		}
		seen[p.name], seen["member "+p.member] = true, true
		if FlagName(p.name) != p.member {
			t.Errorf("%s is %s, want %s", p.name, FlagName(p.name), p.member)
		}
	}
	for name, want := range map[string]string{
		"types": "type", "expandTypes": "expand-type", "unseenFrom": "unseen",
		"passageTokens": "passage-tokens", "nobodysParam": "nobodys-param",
	} {
		if got := FlagName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"text", "rewrites", "unseen", "nobodys"} {
		if err := new(Request).setParam(name, ipld.StringValue("x")); err == nil {
			t.Errorf("a receipt sets %s", name)
		}
	}
}
