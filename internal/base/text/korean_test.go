package text

import (
	"slices"
	"testing"
)

// TestKorean finds a word by its forms: with another particle, or with another ending of the verb made of it.
func TestKorean(t *testing.T) {
	a, err := New("en")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"배송팀을 배송팀의 배송팀", []string{"배송팀", "배송팀", "배송팀"}},
		{"수거합니다 수거하는", []string{"수거", "수거"}},
		{"집은 집", []string{"집은", "집"}}, // two syllables stay
		{"송골매에는 a송골매에는", []string{"송골매", "a송골매에는"}},
	} {
		if got := a.Terms(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
