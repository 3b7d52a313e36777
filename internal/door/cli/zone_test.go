package cli

import (
	"strings"
	"testing"
)

// TestZoneOnServer asks a server about days: the zone of the caller decides, then that of the server.
func TestZoneOnServer(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.write("alice.jsonl", aliceLine)
	w.run(0, "commit", "-m", "x", "alice.jsonl")
	w.run(0, "config", "set", "zone", "+03:00")
	app := *w.App
	app.Getenv = func(name string) string {
		if name == "TZ" {
			return ""
		}
		return w.App.Getenv(name)
	}
	said, _ := startOwn(t, &world{t: t, App: &app}, "--addr", "127.0.0.1:0")
	const question = "Alice on 12 October 2026"
	for _, c := range []struct {
		zone, begin string
		args        []string
	}{
		{"Asia/Tokyo", "2026-10-11T15:00:00", nil},
		{"", "2026-10-11T21:00:00", nil},
		{"Mars", "2026-10-11T21:00:00", nil}, // unknown here: the server decides
		{"Asia/Tokyo", "2026-10-11T22:00:00", []string{"--set", "zone=Europe/Berlin"}},
	} {
		w.env["TZ"] = c.zone
		out, _ := w.run(0, append([]string{"-R", said.URL, "retrieve", question, "--explain", "--json"}, c.args...)...)
		if want := `"dates":[{"from":"` + c.begin; !strings.Contains(out, want) {
			t.Errorf("%s %v: no %s in %s", c.zone, c.args, want, out)
		}
	}
	w.env["TZ"] = ""
	s := &servedWorld{w, said.URL}
	body := `{"query":"` + question + `","explain":true,"zone":"Asia/Tokyo"}`
	if status, text := s.ask("POST", "/v1/retrieve", body); status != 200 || !strings.Contains(text, "2026-10-11T15:00:00") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := s.ask("POST", "/v1/retrieve", `{"query":"x","zone":"Mars"}`); status != 400 {
		t.Errorf("an unknown zone: %d %s", status, text)
	}
}
