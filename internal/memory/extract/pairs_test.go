package extract

import (
	"strings"
	"testing"
)

// TestPairs: no phrase is missed, wherever it stands and whatever stands around it, and most phrases are known not to
// be in an ordinary text.
func TestPairs(t *testing.T) {
	all := allLists().signals
	if len(all) < 20 {
		t.Fatalf("%d phrases", len(all))
	}
	const around = "the cache of the billing service moved to another host"
	var plain pairs
	plain.add(around)
	spared := 0
	for i := range all {
		if !plain.has(all[i].pairs) {
			spared++
		} else if !strings.Contains(around, all[i].parts[0]) {
			t.Logf("%q is looked for in vain", all[i].text)
		}
		for _, s := range []string{all[i].parts[0], "x" + all[i].parts[0], around + " " + all[i].parts[0] + "y"} {
			var p pairs
			p.add(s)
			if !p.has(all[i].pairs) {
				t.Errorf("%q is not looked for in %q", all[i].text, s)
			}
		}
	}
	if 10*spared < 9*len(all) {
		t.Errorf("%d of %d phrases are not looked for", spared, len(all))
	}
}
