package branching

import (
	"testing"
)

// TestWatchAnswered follows what is left of a watch.
func TestWatchAnswered(t *testing.T) {
	q := &WatchRequest{Limit: 2}
	if more := q.Answered(&WatchBegun{Begin: "x"}); !more || q.Since != "x" || q.Limit != 2 {
		t.Errorf("%t, %+v", more, q)
	}
	for _, left := range []int{1, 0} {
		if more := q.Answered(&Watched{}); more != (left > 0) || q.Limit != left || q.Since == "x" {
			t.Errorf("%t, %+v", more, q)
		}
	}
	if endless := (&WatchRequest{}); !endless.Answered(&Watched{}) {
		t.Error("a watch without a limit ends")
	}
}
