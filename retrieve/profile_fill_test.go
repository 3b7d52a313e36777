package retrieve

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestProfileConsistent(t *testing.T) {
	number, text := ipld.IntValue, ipld.StringValue
	for _, test := range []struct {
		says said
		bad  string
	}{
		{said{}, ""},
		{said{"expansion": text("ppr"), "damping": number(9), "expand": number(64)}, ""},
		{said{"later": number(1)}, ""},
		{said{"expansion": text("decay"), "decay": number(9)}, ""},
		{said{"pack": text("passages"), "passageTokens": number(256)}, ""},
		{said{"decay": number(9)}, "decay"},
		{said{"damping": number(9), "expansion": text("decay")}, "damping"},
		{said{"expand": number(5)}, "expand"},
		{said{"passageTokens": number(9)}, "passageTokens"},
		{said{"fusion": text("rrf"), "weights": ipld.MapValue(weightOf("text", 3))}, "weights"},
	} {
		profile := test.says.profile()
		err := profile.Consistent()
		var re *RequestError
		if errors.As(err, &re) != (test.bad != "") || re != nil && re.Param != test.bad {
			t.Errorf("%v: %v", test.says, err)
		}
		p := &Profiles{Named: map[string]Profile{"p": profile, "q": {}}}
		must.OK(t, p.Validate(), test.says)
		var pe *ProfileError
		err = p.CheckChanged(nil)
		if errors.As(err, &pe) != (test.bad != "") ||
			pe != nil && (pe.Name != "p" || !slices.Equal(pe.Params, []string{test.bad})) {
			t.Errorf("%v: %v", test.says, err)
		}
		must.OK(t, p.CheckChanged(p), test.says, ": as before")
	}
	far := said{"expand": number(9), "decay": number(9), "damping": number(9),
		"passageTokens": number(9)}
	must.Same(t, far.profile().Misfits(), []string{"decay", "expand", "damping",
		"passageTokens"}, "misfits")
	for _, name := range BuiltinProfiles() {
		p, _, _ := BuiltinProfile(name)
		must.OK(t, p.Consistent(), name)
	}
}

// noParams are the fields of a request that are no parameter of clause 8.1.
var noParams = map[string]string{
	"excludeNames": "becomes exclude", "unseen": "becomes exclude and unseenFrom",
	"explicit": "says what is given", "settled": "says that profile defaults have been applied",
	"reranker": "gives reranked", "ranking": "is of the engine", "tuning": "is of measurements alone",
}

// TestEveryParam sees to it that each field of a request is a parameter that a profile may set, or
// one that a request alone has, or else named here with what it is.
func TestEveryParam(t *testing.T) {
	left := slices.Concat(ProfileParams(), OwnParams())
	if slices.Sort(left); len(slices.Compact(slices.Clone(left))) != len(left) {
		t.Errorf("a parameter is in both lists, or twice in one: %v", left)
	}
	var full Request
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Request]()) {
		if f.Anonymous {
			continue
		}
		name := strings.ToLower(f.Name[:1]) + f.Name[1:]
		if noParams[name] != "" {
			continue
		}
		at := slices.Index(left, name)
		if at < 0 {
			t.Errorf("%s: no parameter of the table",
				name)
			continue
		}
		left = slices.Delete(left, at, at+1)
		p := findProfileParam(name)
		may := p != nil
		field := reflect.ValueOf(&full).Elem().FieldByIndex(f.Index)
		must.Check(t, !may || p.at(&full) == field.Addr().Interface(), "%s is another field", name)
		if may == (WhyOwn(name) != "") {
			t.Errorf("%s: a profile may set it %t, and why not: %q", name, may, WhyOwn(name))
		}
	}
	must.Check(t, len(left) <= 0, "no fields of a request: %v", left)
	must.Equal(t, WhyOwn("sorcery"), "", "a reason for what is no parameter")
}
