package remembering

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/verbkit"
)

func TestConsolidate(t *testing.T) {
	h := verbkit.NewHost(t)
	for _, text := range []string{"Deploys are allowed on Friday", "Deploys are not allowed on Friday."} {
		if _, err := verbkit.Asks(t, h, &Remember.Spec, map[string]string{"text": text, "without": "diff"}); err != nil {
			t.Fatal(err)
		}
	}
	h.Opened, h.Stamps = nil, 0
	got, err := verbkit.Asks(t, h, &Consolidate.Spec, map[string]string{"kind": "contradiction"})
	if err != nil {
		t.Fatal(err)
	}
	found := got[0].(*Proposals)
	if len(found.Proposals) != 1 || len(found.Proposals[0].Nodes) != 2 || found.Memories == 0 ||
		slices.Contains(h.Opened, true) || h.Stamps != 0 {
		t.Fatalf("%+v, opened %v, %d stamps", found, h.Opened, h.Stamps)
	}
	id := found.Proposals[0].ID
	for _, tt := range []struct {
		values map[string]string
		want   string
	}{
		{map[string]string{"picks": id}, "give --accept or --reject"},
		{map[string]string{"accept": "true", "picks": "0000"}, "no proposal"},
		{map[string]string{"accept": "true", "at": "HEAD"}, "is for looking"},
		{map[string]string{"reject": "true"}, "name proposals"},
		{map[string]string{"message": "m"}, "go with"},
		{map[string]string{"now": "soon"}, "--now: "},
	} {
		if _, err := verbkit.Asks(t, h, &Consolidate.Spec, tt.values); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.values, err, tt.want)
		}
	}
	got, err = verbkit.Asks(t, h, &Consolidate.Spec, map[string]string{"accept": "true", "picks": id, "dry-run": "true"})
	if err != nil || got[0].(*Consolidated).Commit.Defined() || len(got[0].(*Consolidated).Marked) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = verbkit.Asks(t, h, &Consolidate.Spec, map[string]string{"reject": "true", "picks": id[:6]})
	if err != nil || !got[0].(*Consolidated).Commit.Defined() {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = verbkit.Asks(t, h, &Consolidate.Spec, map[string]string{"kind": "contradiction"})
	if err != nil || got[0].(*Proposals).Declined != 1 || len(got[0].(*Proposals).Proposals) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
