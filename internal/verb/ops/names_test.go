package ops

import (
	"slices"
	"testing"
)

// TestCompletionsAreNames looks that what completes a field is a kind of name that the verb names knows.
func TestCompletionsAreNames(t *testing.T) {
	fields := Names.Fields()
	kinds := fields[slices.IndexFunc(fields, func(f Field) bool { return f.Name == "kind" })].Enum
	seen := 0
	for _, s := range Table() {
		tags := []string{s.Complete}
		for _, f := range s.Fields() {
			tags = append(tags, f.Complete)
		}
		for _, tag := range tags {
			if tag != "" && tag != "key" && tag != "rule" {
				if seen++; !slices.Contains(kinds, tag) {
					t.Errorf("%s: nothing completes %q", s.Name(), tag)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d", seen)
	}
}

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
