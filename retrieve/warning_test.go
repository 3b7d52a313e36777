package retrieve

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestWarningInfos(t *testing.T) {
	want := []Code{NoTerms, NothingPasses, BudgetTooSmall, ExpansionTruncated, LinksCut,
		NothingLinked, Redacted, UnseenCut, NoVectors, Dimension, StaleVectors, Respelled,
		EdgeWeightsUnused, NoCommunity, NotReranked, NotRewritten, RewritesInVain, NoNow,
		NoneThen, NoType, NoEffect, NoSparse}
	infos := WarningInfos()
	must.Require(t, len(infos) == len(want), "%d infos, want %d", len(infos), len(want))
	for i, info := range infos {
		w := Warning{Code: info.Code}
		if info.Param != "" {
			w.Params = []ipld.Entry{{Key: info.Param, Value: ipld.IntValue(7)}}
		}
		text := w.Message() + w.Remedy()
		if info.Code != want[i] || info.When == "" || strings.Contains(text, "%!") {
			t.Errorf("%+v: %s; %s", info, w.Message(), w.Remedy())
		}
		must.Check(t, strings.Contains(info.Remedy, "--"),
			"%s: remedy %q names no flag", info.Code, info.Remedy)
		must.Check(t, info.Param == "" || strings.Contains(text, "7"),
			"%s: %q does not say the parameter", info.Code, text)
	}
	later := Warning{Code: "of_a_later_version"}
	if later.Message() != "of_a_later_version" || later.Remedy() == "" {
		t.Errorf("%q, %q", later.Message(), later.Remedy())
	}
	infos[0].Code = "changed"
	must.Equal(t, WarningInfos()[0].Code, NoTerms, "the table can be changed from outside")
}
