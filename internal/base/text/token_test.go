package text

import (
	"fmt"
	"strings"
	"testing"
)

func TestEachToken(t *testing.T) {
	a, err := New("en")
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]string{
		"":                      "",
		"The boats are running": "boats/boat running/run",
		"東京港 Boats":             "東京/東京 京港/京港 boats/boat",
		"harbourMasters":        "harbourmasters/harbourmast harbour/harbour masters/master",
		"Größe's":               "grosse's/gross",
		"v1.25 \xff":            "v1.25/v1.25",
	} {
		var got []string
		a.EachToken(s, func(token, term string) bool {
			got = append(got, token+"/"+term)
			return true
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	for stop := range 3 {
		n := 0
		a.EachToken("one 東京港 two", func(string, string) bool { n++; return n <= stop })
		if n != stop+1 {
			t.Errorf("%d tokens after being stopped at %d", n, stop+1)
		}
	}
}

func TestEachOfField(t *testing.T) {
	a, err := New("en")
	if err != nil {
		t.Fatal(err)
	}
	fields := func(s string, most int) string {
		var got []string
		a.EachOfField(s, func(term string, unit bool) bool {
			if unit {
				term += "*"
			}
			got = append(got, term)
			return len(got) < most
		})
		return strings.Join(got, " ")
	}
	for s, want := range map[string]string{
		"":               "",
		"水":              "水",
		"the boats 水":    "boat 水",
		"三楼":             "三* 三楼 楼*",
		"会议室 x":          "会* 会议 议* 议室 室* x",
		"東京オフィス":         "東* 東京 京* オフ フィ ィス",
		"ชั้น":           "ชั ั้ ้น",
		"会\u200d议":       "会* 会议 议*",
		"a 猫 b 黒猫":       "猫 b 黒* 黒猫 猫*",
		"\xff三\xff楼\xff": "三 楼",
	} {
		if got := fields(s, 100); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	for stop := 1; stop < 7; stop++ {
		if n := len(strings.Fields(fields("会议室 x", stop))); n != min(stop, 6) {
			t.Errorf("%d terms after being stopped at %d", n, stop)
		}
	}
	if got := strings.Join(a.Terms("会议室"), " "); got != "会议 议室" {
		t.Errorf("a question has %s", got)
	}
}

func TestCased(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "a": 1, "boat": 4, "лодка": 5, "βαρκα": 5, "grosse": 6,
		"don't": 0, "v1": 0, "東京": 0, "שלום": 0, "สวัส": 0, "\xff": 0, "Boat": 0,
	} {
		if got := Cased(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

func TestNearStopWord(t *testing.T) {
	for s, want := range map[string]bool{
		"becuase": true, "becaus": true, "whta": true, "thsi": true, "wheree": true, "hav": true,
		"dont": true, "whжre": true, "жhere": false, "itselff": true, "yourselvesss": false,
		"tuna": false, "harbour": false, "": false, "ecause": false, "xhe": false,
	} {
		if got := NearStopWord(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
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
				if !NearStopWord(s) {
					t.Errorf("%q is one edit from %q", s, stop)
				}
			}
		}
	}
}
