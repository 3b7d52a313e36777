package journeys

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPictures takes a picture of every page on a desk and on a phone, light and dark, if SHOTS names a directory.
func TestPictures(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no directory")
	}
	m := everywhere(t)
	m.mnem("session", "start", "night")
	m.mnem("recall", "--session", "night", "who leads infra")
	m.mnem("recall", "--session", "night", "--limit", "3", "what does a berth of Kestrel Marina cost")
	b := inside(t, m, "--write")
	for _, screen := range []struct {
		name          string
		width, height int64
	}{{"desk", 1440, 900}, {"phone", 390, 844}} {
		b.do(chromedp.EmulateViewport(screen.width, screen.height))
		for _, scheme := range []string{"light", "dark"} {
			_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, at := range []string{
				"#/", "#/search?q=who+leads+infra", "#/search?q=who+repairs+windows", "#/browse", "#/node/alice", "#/node/guide",
				"#/graph/alice", "#/map", "#/history", "#/commit/HEAD", "#/diff?a=HEAD~1&b=HEAD", "#/review", "#/sessions",
				"#/session/night", "#/operations",
			} {
				b.at(at)
				b.wait("document.querySelector('#main h1, #main .card, #main form, #main li, #main table')")
				b.wait("!document.querySelector('[aria-busy=true]')")
				b.shot(fmt.Sprintf("%02d-%s-%s", i, screen.name, scheme))
			}
		}
	}
}
