package effort

import (
	"testing"
	"time"
)

func TestPick(t *testing.T) {
	for value, want := range map[string]string{"": "plain", "0": "plain", "1": "long", "2": "all"} {
		t.Setenv(LongVariable, value)
		if got := Pick("plain", "long", "all"); got != want {
			t.Errorf("%s=%q picks the sizes of %s, want %s", LongVariable, value, got, want)
		}
		ran := false
		t.Run("is long", func(t *testing.T) { Long(t); ran = true })
		if ran != (want != "plain") {
			t.Errorf("%s=%q: a long test ran: %t", LongVariable, value, ran)
		}
	}
	t.Setenv(LongVariable, "yes")
	defer func() {
		if recover() == nil {
			t.Error("a value that means nothing was taken")
		}
	}()
	Pick(1, 2, 3)
}

func TestSoak(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 0, "90s": 90 * time.Second} {
		t.Setenv(SoakVariable, value)
		got := time.Duration(0)
		t.Run("soaks", func(t *testing.T) { got = Soak(t) })
		if got != want {
			t.Errorf("%s=%q soaks for %s, want %s", SoakVariable, value, got, want)
		}
	}
}

func TestAlone(t *testing.T) {
	ran := false
	t.Run("alone", func(t *testing.T) { Alone(t); ran = true })
	if ran == Race {
		t.Errorf("a test of one goroutine ran: %t, with the race detector: %t", ran, Race)
	}
}
