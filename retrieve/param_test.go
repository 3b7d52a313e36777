package retrieve

import (
	"testing"

	"github.com/mnem-project/mnem/ipld"
)

// TestParams: every parameter can be found by its name and by its member.
func TestParams(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range params {
		if p.read == nil || seen[p.Name] || seen["member "+p.Member] || seen["flag "+p.Flag] {
			t.Errorf("%s, member %s, flag %s: twice, or read from no member", p.Name, p.Member, p.Flag)
		}
		seen[p.Name], seen["member "+p.Member], seen["flag "+p.Flag] = true, true, p.Flag != ""
		if (p.Flag == "") != (p.Doc == "") {
			t.Errorf("%s: flag %q with help %q", p.Name, p.Flag, p.Doc)
		}
		if p.Own == "" && p.at == nil {
			t.Errorf("%s: a profile may set it, and it has no field", p.Name)
		}
		if MemberName(p.Name) != p.Member {
			t.Errorf("%s is %s, want %s", p.Name, MemberName(p.Name), p.Member)
		}
	}
	for name, want := range map[string]string{
		"types": "type", "expandTypes": "expand-type", "unseenFrom": "unseen",
		"passageTokens": "passage-tokens", "nobodysParam": "nobodys-param",
	} {
		if got := MemberName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"text", "rewrites", "unseen", "nobodys"} {
		if err := new(Request).setParam(name, ipld.StringValue("x")); err == nil {
			t.Errorf("a receipt sets %s", name)
		}
	}
}
