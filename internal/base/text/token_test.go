package text

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestCased(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "a": 1, "boat": 4, "лодка": 5, "βαρκα": 5, "grosse": 6,
		"don't": 0, "v1": 0, "東京": 0, "שלום": 0, "สวัส": 0, "\xff": 0, "Boat": 0,
	} {
		must.Equal(t, Cased(s), want, s)
	}
}

func TestNearStopWord(t *testing.T) {
	for s, want := range map[string]bool{
		"becuase": true, "becaus": true, "whta": true, "thsi": true, "wheree": true, "hav": true,
		"dont": true, "whжre": true, "жhere": false, "itselff": true, "yourselvesss": false,
		"tuna": false, "harbour": false, "": false, "ecause": false, "xhe": false,
	} {
		must.Equal(t, NearStopWord(s), want, s)
	}
	// All that one edit behind the first letter makes of a stop word is near it.
	for _, stop := range []string{"about", "yourselves", "they'd", "was"} {
		for i := 1; i <= len(stop); i++ {
			near := []string{stop[:i] + "q" + stop[i:]}
			if i < len(stop) {
				near = append(near, stop[:i]+stop[i+1:], stop[:i]+"q"+stop[i+1:])
			}
			if i+1 < len(stop) {
				near = append(near, fmt.Sprint(stop[:i], stop[i+1:i+2], stop[i:i+1], stop[i+2:]))
			}
			for _, s := range near {
				must.Check(t, NearStopWord(s), "%q is one edit from %q", s, stop)
			}
		}
	}
}
