package retrieve

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestParams: every parameter can be found by its name and by its member.
func TestParams(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range params {
		must.Check(t, p.read != nil && !seen[p.Name] && !seen["member "+p.Member] && !seen["flag "+p.Flag],
			"%s, member %s, flag %s: twice, or read from no member", p.Name, p.Member, p.Flag)
		seen[p.Name], seen["member "+p.Member], seen["flag "+p.Flag] = true, true, p.Flag != ""
		must.Equal(t, p.Flag == "", p.Doc == "", p.Name, ": flag ", p.Flag, " with help ", p.Doc)
		must.Check(t, p.Own != "" || p.at != nil, "%s: a profile may set it, and it has no field", p.Name)
		must.Equal(t, MemberName(p.Name), p.Member, p.Name)
	}
	for name, want := range map[string]string{
		"types": "type", "expandTypes": "expand-type", "unseenFrom": "unseen",
		"passageTokens": "passage-tokens", "nobodysParam": "nobodys-param",
	} {
		must.Equal(t, MemberName(name), want, name)
	}
	for _, name := range []string{"text", "rewrites", "unseen", "nobodys"} {
		must.Check(t, new(Request).setParam(name, ipld.StringValue("x")) != nil, "a receipt sets %s", name)
	}
}
